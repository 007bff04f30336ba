import { getHeapStatistics } from 'node:v8';
import { workerData } from 'node:worker_threads';
import { serveTasks } from '../../../src/platform/lib/threads/thread-worker.ts';

/** A task for the thread of the thread pool's tests. */
export type TestTask = {
  echo?: unknown;
  spin?: true;
  fail?: string;
  exit?: true;
  call?: string;
  waste?: number;
  heapBytes?: true;
};

/** The time that this thread takes to start. */
const startMs = Number((workerData as { startMs?: number } | null)?.startMs ?? 0);
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, startMs);

serveTasks(({ echo, spin, fail, exit, call, waste = 0, heapBytes }: TestTask, callOwner) => {
  for (let turn = 0; turn < (spin ? Infinity : 0); turn += 1) Math.sqrt(turn);
  if (fail !== undefined) throw new Error(fail);
  if (exit) process.exit(3);
  if (heapBytes) return getHeapStatistics().total_heap_size;
  if (waste > 0) return Array.from({ length: waste / 16 }, (_, n) => ({ n })).length;
  return call === undefined ? echo : callOwner(call);
});
