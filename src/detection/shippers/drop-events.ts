import { join } from 'node:path';
import { createSegmentWriter, readSegmentLines, type WrittenFile } from '../log-store/files/segment-file.ts';

/**
 * Writes a copy of a segment file without the events of some IDs, as `path`. Returns undefined and writes nothing if no event is left. Both
 * paths are relative to `folder`.
 */
export async function copyWithoutEvents(
  folder: string,
  { file, path, ids }: { file: WrittenFile; path: string; ids: ReadonlySet<string> },
): Promise<WrittenFile | undefined> {
  const writer = createSegmentWriter(folder, path);
  let isEmpty = true;
  try {
    for await (const { id, timeMicros, text } of readSegmentLines(join(folder, file.path))) {
      if (ids.has(id)) continue;
      isEmpty = false;
      await writer.add(id, timeMicros, text);
    }
    return isEmpty ? undefined : await writer.finish();
  } catch (error) {
    await writer.discard();
    throw error;
  }
}
