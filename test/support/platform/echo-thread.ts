import { answerTasks } from '../../../src/platform/lib/threads/thread-worker.ts';

/** What the tests of threads.ts ask of a thread. */
export type TestTask = { echo?: unknown; spin?: true; fail?: string; exit?: true };

answerTasks(({ echo, spin, fail, exit }: TestTask) => {
  for (let turn = 0; turn < (spin ? Infinity : 0); turn += 1) Math.sqrt(turn);
  if (fail !== undefined) throw new Error(fail);
  if (exit) process.exit(3);
  return echo;
});
