import { expect, test } from 'vitest';
import { createSharedCalls, rememberResults } from './shared-calls.ts';

test('calls share the next one if they come during a call or in the same turn, and none gets the result of earlier work', async () => {
  const share = createSharedCalls<number>();
  const ends: ((fails: boolean) => void)[] = [];
  const work = (): Promise<number> => {
    const nth = ends.length;
    return new Promise((resolve, reject) =>
      ends.push((fails) => (fails ? reject(new Error(`call ${nth}`)) : resolve(nth))),
    );
  };
  const first = [share('a', work), share('a', work)];
  await expect.poll(() => ends.length).toBe(1);
  const waiting = [share('a', work), share('a', work)];
  const other = share('b', work);
  await expect.poll(() => ends.length).toBe(2);
  ends[0]!(true);
  for (const call of first) await expect(call).rejects.toThrow('call 0');
  await expect.poll(() => ends.length).toBe(3);
  const later = share('a', work);
  ends[2]!(false);
  expect(await Promise.all(waiting)).toEqual([2, 2]);
  await expect.poll(() => ends.length).toBe(4);
  ends[3]!(false);
  ends[1]!(false);
  expect([await later, await other]).toEqual([3, 1]);
  const last = share('a', work);
  await expect.poll(() => ends.length).toBe(5);
  ends[4]!(false);
  expect(await last).toBe(4);
});

test('computes a result once, also an undefined one', () => {
  const computed: string[] = [];
  const find = rememberResults((text) => {
    computed.push(text);
    return text === 'a' ? 1 : undefined;
  }, 10);
  expect(['a', 'b', 'a', 'b'].map(find)).toEqual([1, undefined, 1, undefined]);
  expect(computed).toEqual(['a', 'b']);
});

test('never remembers more than the given number of texts', () => {
  const computed: string[] = [];
  const find = rememberResults((text) => {
    computed.push(text);
    return text;
  }, 2);
  expect(['a', 'b', 'c', 'c', 'a'].map(find)).toEqual(['a', 'b', 'c', 'c', 'a']);
  expect(computed).toEqual(['a', 'b', 'c', 'a']);
});

test('does not remember long texts, which could take any amount of memory', () => {
  let computed = 0;
  const measure = rememberResults((text) => {
    computed += 1;
    return text.length;
  }, 10);
  expect(['x'.repeat(512), 'x'.repeat(512), 'x'.repeat(513), 'x'.repeat(513)].map(measure)).toEqual([
    512, 512, 513, 513,
  ]);
  expect(computed).toBe(3);
});
