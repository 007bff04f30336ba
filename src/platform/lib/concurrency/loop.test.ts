import { expect, test } from 'vitest';
import { runLoop } from './loop.ts';
import type { Logger } from '../logging/logger.ts';

function startLoop(step: (signal: AbortSignal, call: number) => Promise<boolean>) {
  const stop = new AbortController();
  const errors: unknown[] = [];
  const log = { error: ({ err }: { err: unknown }) => errors.push(err) } as unknown as Logger;
  let calls = 0;
  const ended = runLoop({ name: 'test', idleMs: 1, signal: stop.signal, log }, () => step(stop.signal, (calls += 1)));
  return { stop, errors, ended };
}

test('logs a step that fails and goes on', async () => {
  const { stop, errors, ended } = startLoop(async (_signal, call) => {
    if (call === 1) throw new Error('broken');
    stop.abort();
    return false;
  });
  await ended;
  expect(errors).toEqual([new Error('broken')]);
});

test('ends without an error when it is stopped within a step', async () => {
  const { stop, errors, ended } = startLoop(
    (signal) => new Promise((_done, fail) => signal.addEventListener('abort', () => fail(new Error('stopped')))),
  );
  stop.abort();
  await ended;
  expect(errors).toEqual([]);
});

test('waits before the first step if it starts idle', async () => {
  const stop = new AbortController();
  let steps = 0;
  const options = { name: 'test', idleMs: 600_000, signal: stop.signal, log: {} as Logger, startsIdle: true };
  const ended = runLoop(options, () => Promise.resolve((steps += 1) > 0));
  stop.abort();
  await ended;
  expect(steps).toBe(0);
});
