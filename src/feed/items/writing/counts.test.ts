import { expect, test } from 'vitest';
import { reportSource } from '../../../../test/support/feed/report-source.ts';
import { startApp } from '../../../../test/support/harness.ts';
import { selectIn } from '../../../../test/support/select-rows.ts';

const app = await startApp();

test('counts the items and the roots of a feed by the filter columns', async () => {
  const org = await app.newOrg();
  const [one, two] = [await reportSource(app, org), await reportSource(app, org, { publisher: 'Birch' })];
  await one.write({ 1: {}, 2: {}, 3: { words: 'critical' } });
  await two.write({ 1: {}, 2: {}, 4: {} });
  const counted = await selectIn(app.deps.db)<{ n: number; roots: number }>`
    select publisher, severity, status, n, roots from feed_counts where n > 0 order by 1, 2, 3`;
  expect(counted.reduce((sum, { n, roots }) => sum + n - roots, 0)).toBe(2);
  expect(counted).toEqual(
    await selectIn(app.deps.db)`
      select publisher, severity, status, count(*)::int as n, (count(*) filter (where duplicate_of is null))::int as roots
      from items group by 1, 2, 3 order by 1, 2, 3`,
  );
});
