import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { reportSource } from '../../../../test/support/feed/report-source.ts';
import { startApp } from '../../../../test/support/harness.ts';
import { acrossOrgs, queryRow } from '../../../platform/db/db.ts';

const app = await startApp();

test('samples the words that items have now', async () => {
  const org = await app.newOrg();
  const source = await reportSource(app, org);
  const numbers = Array.from({ length: 90 }, (_, index) => index + 1);
  await source.write(Object.fromEntries(numbers.map((number) => [number, { words: 'storm' }])));
  await source.write(Object.fromEntries(numbers.slice(0, 60).map((number) => [number, { words: 'calm' }])));
  const sampled = (oneIn: number, word: string) =>
    acrossOrgs(app.deps.db, async (tx) => {
      const pools = sql`array(select id from feed_pools)`;
      return (await queryRow<{ sample: string[]; all: string[] }>(tx)`
        select array(select id from unnest(tocsin_sample_words(${pools}, ${word}, ${oneIn})) id order by id)::text[] as sample,
          array(select item_id from item_search where words @@ ${word}::tsquery and uuid_hash(item_id) & ${oneIn - 1} = 0 order by item_id)::text[] as all`)!;
    });
  for (const word of ['storm', 'calm'])
    for (const oneIn of [2, 16, 32, 64, 128, 256, 512, 1024, 2048]) {
      const { sample, all } = await sampled(oneIn, word);
      expect(sample, `${word}, one in ${oneIn}`).toEqual(all);
    }
  expect((await sampled(2, 'calm')).sample.length).toBeGreaterThan(0);
});
