import { expect, test } from 'vitest';
import type { ItemAction } from '../../../ingestion/pull-plan.ts';
import type { StoredItem } from '../../../ingestion/stored-items.store.ts';
import { toBatches } from './apply-batches.ts';

const actions = (count: number): ItemAction[] =>
  Array.from({ length: count }, (_, n) => ({ kind: 'vanish', stored: { id: `item ${n}` } as StoredItem }));

test.each<{ lists: number[]; batches: number[] }>([
  { lists: [], batches: [] },
  { lists: [0, 8, 0, 2], batches: [10] },
  { lists: [99, 1], batches: [100] },
  { lists: [250, 250, 250, 250], batches: [100, 200, 400, 300] },
  { lists: [60, 60, 600, 20], batches: [100, 200, 400, 40] },
  { lists: [2_200], batches: [100, 200, 400, 500, 500, 500] },
])('lists of $lists actions make batches of $batches', async ({ lists, batches }) => {
  const made = await Array.fromAsync(toBatches(lists.map(actions)));
  expect(made.map((batch) => batch.length)).toEqual(batches);
  expect(made.flat()).toEqual(lists.flatMap(actions));
});
