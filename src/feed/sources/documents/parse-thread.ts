import { workerData } from 'node:worker_threads';
import { lowerThreadPriority, serveTasks, type CallOwner } from '../../../platform/lib/threads/thread-worker.ts';
import { applyInstalledLists } from '../../ingestion/installed-lists.ts';
import type { DigestTask, ParseTask } from './parser.ts';
import { sourceFormats } from '../../formats/registry.ts';
import { parseInChunks, type ParsedSource } from './record-chunks.ts';
import { withinLimits } from '../../../platform/lib/external-error.ts';

const lists = applyInstalledLists(String(workerData));

/** Restores the Buffer, because the message carries it as a plain Uint8Array. */
const withBuffer = <T extends { bytes: Uint8Array }>(part: T): T => ({
  ...part,
  bytes: Buffer.from(part.bytes.buffer, part.bytes.byteOffset, part.bytes.byteLength),
});

lowerThreadPriority();
serveTasks((task: ParseTask | DigestTask, callOwner) => {
  const format = sourceFormats[task.kind];
  if ('documents' in task) return withinLimits(() => format.digest?.(task.documents.map(withBuffer)));
  const parts = task.parts.map(withBuffer);
  const context = { ...task.context, lists };
  return task.inChunks
    ? sendChunks(parseInChunks({ ...task, parts, context }), callOwner)
    : withinLimits(() => format.parse(parts, context));
});

/** Sends the head and then each chunk. Builds a chunk while the owner works on the previous one. */
async function sendChunks({ head, chunks }: ParsedSource, callOwner: CallOwner): Promise<void> {
  let accepted = callOwner(head);
  for await (const chunk of chunks) {
    await accepted;
    accepted = callOwner(chunk);
  }
  await accepted;
}
