import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { searchSlices } from './search-slices.ts';

const window = { from: new Date(0), to: new Date(1024) };
const given = (timeoutMs: number) => ({
  limits: { rowsMax: 1000, groupsMax: 10, timeoutMs },
  aggregate: false,
  timeField: 't',
});

test('what cannot be read in time is covered in part, from its beginning on', async () => {
  const found = await searchSlices(window, given(500), async ({ from, to }) => {
    await setTimeout(10);
    const cut = to.getTime() - from.getTime() > (from.getTime() === 0 ? 512 : 4);
    return { rows: cut ? [] : [{ t: from.toISOString() }], cut };
  });
  expect(found).toMatchObject({ truncated: true });
  expect(found.rows[0]).toEqual({ t: new Date(0).toISOString() });
  expect(found.rows.length).toBeLessThan(100);
});

test('a window of which nothing can be read in time is its author’s', async () => {
  const asked = searchSlices(window, given(60), async () => {
    await setTimeout(25);
    return { rows: [], cut: true };
  });
  await expect(asked).rejects.toMatchObject({ failure: { kind: 'query_timeout', blame: 'author' } });
});
