import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFairQueue } from './pool-threads.ts';

const anyone = (): boolean => true;

test('lets owners take turns and keeps the order of each', () => {
  const queue = createFairQueue<string>();
  for (const job of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.push(job[0]!, job);
  const taken = Array.from({ length: 6 }, () => queue.take(anyone));
  expect(taken).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  expect([queue.take(anyone), queue.size()]).toEqual([undefined, 0]);
});

test('skips owners that may not run a job, and removes jobs', () => {
  const queue = createFairQueue<string>();
  for (const job of ['a1', 'a2', 'b1']) queue.push(job[0]!, job);
  expect(queue.take((owner) => owner !== 'a')).toBe('b1');
  expect(queue.take((owner) => owner !== 'a')).toBeUndefined();
  expect([queue.remove('a', 'a1'), queue.remove('a', 'a1'), queue.size()]).toEqual([true, false, 1]);
  expect([queue.drain(), queue.size()]).toEqual([['a2'], 0]);
});

test('an owner waits at most for one job of each other owner', () => {
  const owners = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 40 });
  fc.assert(
    fc.property(owners, (pushed) => {
      const queue = createFairQueue<string>();
      for (const owner of pushed) queue.push(owner, owner);
      queue.push('last', 'last');
      const before = new Set(pushed).size;
      const position = Array.from({ length: pushed.length + 1 }, () => queue.take(anyone)).indexOf('last');
      expect(position).toBeLessThanOrEqual(before);
      expect(queue.size()).toBe(0);
    }),
  );
});
