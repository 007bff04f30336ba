import { expect, test } from 'vitest';
import { createSharedCalls } from './shared-calls.ts';

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
