import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createSegmentWriter, type WrittenFile } from '../ingestion/segment-file.ts';

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
    for await (const line of readLines(join(folder, file.path))) {
      const [id = '', time = ''] = line.split('\t', 2);
      if (ids.has(id)) continue;
      isEmpty = false;
      await writer.add(id, Number(time), line.slice(id.length + time.length + 2));
    }
    return isEmpty ? undefined : await writer.finish();
  } catch (error) {
    await writer.discard();
    throw error;
  }
}

/** Returns the lines of a file. Node's readline does not fit, because it also ends a line at U+2028. */
async function* readLines(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(path, 'utf8')) {
    const lines = `${rest}${chunk as string}`.split('\n');
    rest = lines.pop()!;
    yield* lines;
  }
}
