import { expect, test } from 'vitest';
import { keepExamples } from './keep-examples.ts';

const example = (id: string, name: string, ms: number) => ({ response: { id, name, ms, at: '2026-01-05T09:00:00Z' } });
const [one, two] = ['01a21402-2d52-704a-948b-5c2da30259e0', '01a21402-2d52-7049-8b3c-b1c260c790b3'] as const;

test('keeps an example that differs only in IDs, times and numbers, whichever recorded one it resembles', () => {
  const former = { getHit: example(one, 'a', 12) };
  expect(keepExamples(former, { getHit: [example(two, 'b', 3), example(two, 'a', 3)] })).toEqual(former);
});

test('replaces an example whose text or fields changed, adds new operations and removes former ones', () => {
  const former = { getHit: example(one, 'a', 12), gone: example(one, 'a', 1) };
  const recorded = { newHit: [example(two, 'n', 1)], getHit: [example(two, 'b', 3)] };
  expect(keepExamples(former, recorded)).toEqual({ getHit: recorded.getHit[0], newHit: recorded.newHit[0] });
  const more = { response: { ...example(two, 'a', 12).response, more: null } };
  expect(keepExamples(former, { getHit: [more] })).toEqual({ getHit: more });
});
