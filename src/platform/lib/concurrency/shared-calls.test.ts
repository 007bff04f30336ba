import { expect, test } from 'vitest';
import { createSharedCalls } from './shared-calls.ts';

test('calls that come during one share the next, and no call gets the result of earlier work', async () => {
  const share = createSharedCalls<number>();
  const ends: ((fails: boolean) => void)[] = [];
  const work = (): Promise<number> => {
    const nth = ends.length;
    return new Promise((resolve, reject) =>
      ends.push((fails) => (fails ? reject(new Error(`call ${nth}`)) : resolve(nth))),
    );
  };
  const first = share('a', work);
  const waiting = [share('a', work), share('a', work)];
  const other = share('b', work);
  expect(ends).toHaveLength(2);
  ends[0]!(true);
  await expect(first).rejects.toThrow('call 0');
  const later = share('a', work);
  await Promise.resolve();
  expect(ends).toHaveLength(3);
  ends[2]!(false);
  expect(await Promise.all(waiting)).toEqual([2, 2]);
  await expect.poll(() => ends.length).toBe(4);
  ends[3]!(false);
  ends[1]!(false);
  expect([await later, await other]).toEqual([3, 1]);
  const last = share('a', work);
  expect(ends).toHaveLength(5);
  ends[4]!(false);
  expect(await last).toBe(4);
});
