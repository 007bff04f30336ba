import { afterEach, expect, test } from 'vitest';
import type { TestTask } from '../../../../test/support/platform/echo-thread.ts';
import { createThreadPool, type ThreadPool, type ThreadPoolOptions } from './thread-pool.ts';

const open: ThreadPool<TestTask, unknown>[] = [];
afterEach(() => Promise.all(open.splice(0).map((threads) => threads.close())));

function start(more: Partial<ThreadPoolOptions> = {}): ThreadPool<TestTask, unknown> {
  const file = new URL('../../../../test/support/platform/echo-thread.ts', import.meta.url);
  const threads = createThreadPool<TestTask, unknown>({ file, threadsMax: 1, waitingMax: 2, memoryMb: 64, ...more });
  open.push(threads);
  return threads;
}
const patient = { timeoutMs: 120_000 };

test('returns results in order and fails only the task that throws', async () => {
  const threads = start({ waitingMax: 20 });
  const many = Array.from({ length: 10 }, (_, echo) => threads.run({ echo }, patient));
  expect(await Promise.all(many)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await expect(threads.run({ fail: 'no such thing' }, patient)).rejects.toThrow('no such thing');
  expect(await threads.run({ echo: 'still here' }, patient)).toBe('still here');
});

test('terminates a task that times out and runs the tasks behind it', async () => {
  const threads = start();
  const endless = threads.run({ spin: true }, { timeoutMs: 300 });
  const behind = threads.run({ echo: 1 }, patient);
  await expect(endless).rejects.toMatchObject({ reason: 'timeout', message: 'the task took longer than 0.3 seconds' });
  expect(await behind).toBe(1);
});

test('counts the time of a task from when its thread is ready', async () => {
  const threads = start({ workerData: { startMs: 1_500 } });
  const [first, second] = [threads.run({ echo: 1 }, { timeoutMs: 1_000 }), threads.run({ echo: 2 }, patient)];
  expect(await Promise.all([first, second])).toEqual([1, 2]);
  await expect(threads.run({ spin: true }, { timeoutMs: 300 })).rejects.toMatchObject({ reason: 'timeout' });
});

test('fails only the task whose thread dies', async () => {
  const threads = start();
  const dead = threads.run({ exit: true }, patient);
  const behind = threads.run({ echo: 1 }, patient);
  await expect(dead).rejects.toMatchObject({ reason: 'crashed' });
  expect(await behind).toBe(1);
});

test('bounds the queue and aborts running and waiting tasks by signal', async () => {
  const threads = start();
  const stop = [new AbortController(), new AbortController()];
  const running = threads.run({ spin: true }, { ...patient, signal: stop[0]!.signal });
  const waiting = threads.run({ spin: true }, { ...patient, signal: stop[1]!.signal });
  const last = threads.run({ echo: 'last' }, patient);
  await expect(threads.run({ echo: 'too many' }, patient)).rejects.toMatchObject({ reason: 'full' });
  for (const one of stop) one.abort();
  await expect(running).rejects.toMatchObject({ reason: 'stopped' });
  await expect(waiting).rejects.toMatchObject({ reason: 'stopped' });
  expect(await last).toBe('last');
});

test('keeps room in the queue for an owner while another has filled its own', async () => {
  const threads = start({ waitingMax: 2, runningPerOwnerMax: 1 });
  const stop = new AbortController();
  const hung = [1, 2, 3].map(() => threads.run({ spin: true }, { ...patient, owner: 'a', signal: stop.signal }));
  const ended = Promise.allSettled(hung);
  await expect(threads.run({ echo: 1 }, { ...patient, owner: 'a' })).rejects.toMatchObject({ reason: 'full' });
  const other = threads.run({ echo: 'of b' }, { ...patient, owner: 'b' });
  stop.abort();
  expect(await other).toBe('of b');
  await ended;
});

test('rejects running and waiting tasks on close', async () => {
  const threads = start();
  const tasks = [threads.run({ spin: true }, patient), threads.run({ echo: 1 }, patient)];
  const ended = Promise.allSettled(tasks);
  await threads.close();
  expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect(threads.run({ echo: 1 }, patient)).rejects.toMatchObject({ reason: 'stopped' });
});

test('returns the memory of a large task before the next tasks, and keeps its thread', async () => {
  const threads = start();
  const readHeapBytes = async (): Promise<number> => Number(await threads.run({ heapBytes: true }, patient));
  const bytes = 8 * 1024 * 1024;
  await threads.run({ waste: bytes }, patient);
  const wasted = await readHeapBytes();
  await threads.run({ waste: bytes }, { ...patient, isLarge: true });
  // Node.js takes up to 1,000 messages of a port before it runs the collection. Without one, V8 returns the memory after eight seconds.
  let after = await readHeapBytes();
  for (let n = 0; n < 2000 && after >= wasted - bytes / 2; n += 1) after = await readHeapBytes();
  expect(after).toBeLessThan(wasted - bytes / 2);
});

test('answers the calls of a task with the function of its run', async () => {
  const threads = start({ answerCall: async () => 'the pool' });
  const answerCall = async (request: unknown) => `the run of ${String(request)}`;
  expect(await threads.run({ call: 'a' }, { ...patient, answerCall })).toBe('the run of a');
  expect(await threads.run({ call: 'b' }, patient)).toBe('the pool');
});

test('interleaves tasks in one thread, limits those of one owner, and answers their calls', async () => {
  const asked: unknown[] = [];
  const answers: (() => void)[] = [];
  const threads = start({
    waitingMax: 20,
    tasksPerThread: 3,
    runningPerOwnerMax: 2,
    answerCall: async (request) => {
      asked.push(request);
      await new Promise<void>((done) => answers.push(done));
      if (request === 'a2') throw new Error('no answer');
      return `answer to ${String(request)}`;
    },
  });
  const ask = (owner: string, call: string) => threads.run({ call }, { ...patient, owner });
  const [a1, a2, a3, b1] = [ask('a', 'a1'), ask('a', 'a2'), ask('a', 'a3'), ask('b', 'b1')];
  await expect.poll(() => asked).toEqual(['a1', 'a2', 'b1']);
  for (const answer of answers.splice(0)) answer();
  await expect(a2).rejects.toThrow('no answer');
  expect([await a1, await b1]).toEqual(['answer to a1', 'answer to b1']);
  await expect.poll(() => asked.at(-1)).toBe('a3');
  answers[0]!();
  expect(await a3).toBe('answer to a3');
});
