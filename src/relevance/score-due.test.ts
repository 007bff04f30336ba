import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../test/harness.ts';
import { inOrg, rows } from '../db/db.ts';
import { scoreDue } from './score-due.ts';

const { deps, newOrg } = await startApp();

async function scoreAll(): Promise<void> {
  for (let step = 0; step < 100 && (await scoreDue(deps)); step += 1);
}

const post = async (org: TestOrg, title: string, text: string): Promise<string> => {
  const answer = await org.call('POST', '/api/feed/items', { title, text });
  expect(answer.status).toBe(200);
  return answer.body.id;
};

const stored = (org: TestOrg): Promise<{ item_id: string; version: number; score: number }[]> =>
  inOrg(deps.db, org.id, (tx) =>
    rows(tx, sql`select item_id, version, score from feed_relevance where ended_at is null order by item_id`),
  ) as never;

test('items that come before and after a profile are scored under it, for its organization alone', async () => {
  const [org, other] = [await newOrg(), await newOrg()];
  const first = await post(
    org,
    'Payments',
    'A skimmer was found on the payment pages of several Adyen merchants this week.',
  );
  await post(org, 'Weather', 'The storm closed roads and schools in the north for two days.');
  await org.call('PUT', '/api/feed/profile', { keywords: ['Adyen'] });
  await other.call('PUT', '/api/feed/profile', { keywords: ['Adyen'] });
  expect((await org.call('GET', '/api/feed/profile')).body.rebuilding).toBe(true);
  await scoreAll();
  expect((await org.call('GET', '/api/feed/profile')).body.rebuilding).toBe(false);
  expect(await stored(org)).toEqual([{ item_id: first, version: 1, score: 0.6 }]);
  const later = await post(org, 'Again', 'Merchants of Adyen are told to rotate their keys after the theft.');
  await scoreAll();
  expect((await stored(org)).map(({ item_id }) => item_id)).toEqual([first, later]);
  expect(await stored(other)).toEqual([]);
});

test('a changed profile is built anew and then replaces the one before', async () => {
  const org = await newOrg();
  const bank = await post(org, 'Bank', 'A bank in Spain lost data of its customers to a ransomware gang.');
  const hospital = await post(org, 'Hospital', 'A hospital in Norway moved to paper after an attack on its systems.');
  await org.call('PUT', '/api/feed/profile', { sectors: ['bank'], regions: ['Spain'] });
  await scoreAll();
  expect(await stored(org)).toEqual([{ item_id: bank, version: 1, score: 0.58 }]);
  await org.call('PUT', '/api/feed/profile', { sectors: ['hospital'], threshold: 0.4 });
  await scoreAll();
  expect(await stored(org)).toEqual([{ item_id: hospital, version: 2, score: 0.4 }]);
  await org.call('PUT', '/api/feed/profile', {});
  await scoreAll();
  expect(await stored(org)).toEqual([]);
});
