import { threadId } from 'node:worker_threads';
import { serveTasks } from '../../../src/platform/lib/threads/thread-worker.ts';

/** A task for the thread of the thread pool's tests. */
export type TestTask = { echo?: unknown; spin?: true; fail?: string; exit?: true; call?: string; thread?: true };

serveTasks(({ echo, spin, fail, exit, call, thread }: TestTask, callOwner) => {
  for (let turn = 0; turn < (spin ? Infinity : 0); turn += 1) Math.sqrt(turn);
  if (fail !== undefined) throw new Error(fail);
  if (exit) process.exit(3);
  if (thread) return threadId;
  return call === undefined ? echo : callOwner(call);
});
