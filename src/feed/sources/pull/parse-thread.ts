import { workerData } from 'node:worker_threads';
import { lowerThreadPriority, serveTasks } from '../../../platform/lib/threads/thread-worker.ts';
import { applyInstalledLists } from '../../ingestion/installed-lists.ts';
import type { DigestTask, ParseTask } from './parser.ts';
import { sourceFormats } from '../../formats/registry.ts';

const lists = applyInstalledLists(String(workerData));

/** Restores the Buffer, because the message carries it as a plain Uint8Array. */
const withBuffer = <T extends { bytes: Uint8Array }>(part: T): T => ({
  ...part,
  bytes: Buffer.from(part.bytes.buffer, part.bytes.byteOffset, part.bytes.byteLength),
});

lowerThreadPriority();
serveTasks((task: ParseTask | DigestTask) => {
  const format = sourceFormats[task.kind];
  return 'documents' in task
    ? format.digest?.(task.documents.map(withBuffer))
    : format.parse(task.parts.map(withBuffer), { ...task.context, lists });
});
