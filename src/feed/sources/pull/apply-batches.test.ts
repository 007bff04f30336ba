import { expect, test } from 'vitest';
import type { ItemAction } from '../../ingestion/pull-plan.ts';
import type { StoredItem } from '../../ingestion/stored-items.store.ts';
import { toBatches } from './apply-batches.ts';
import { fileSource, kevCatalogue, kevRow, kevRows } from '../../../../test/support/feed/kev-source.ts';
import { mispEvent, mispId } from '../../../../test/support/feed/misp-documents.ts';
import { serverOfTests } from '../../../../test/support/feed/source-server.ts';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { callOk } from '../../../../test/support/detection/detection-factory.ts';
import { changeQuotas } from '../../../platform/orgs/limits/quotas.ts';

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

const server = await serverOfTests();
const app = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
const limitItems = (org: TestOrg, feedItems: number | null) =>
  changeQuotas(app.deps, { id: org.id }, { changes: { feedItems }, operator: 'test' });
const usedItems = async (org: TestOrg) => (await callOk(org, 'GET', '/api/quotas')).states[0];
const countItems = async (org: TestOrg) => (await callOk(org, 'GET', '/items?perPage=1')).total;
const dated = (number: number) => kevRow(number, { dateAdded: `2024-01-${String(number).padStart(2, '0')}` });

test('a pull stores the newest records up to the quota, says so, and keeps changing what it has', async () => {
  const org = await app.newOrg();
  await limitItems(org, 4);
  const source = await fileSource(app, org, { kind: 'kev' });
  const rows = Array.from({ length: 10 }, (_, n) => dated(n + 1));
  const reason = 'the quota of 4 feed items is reached: 6 new records were not stored';
  const first = await source.pull(kevCatalogue(1, rows));
  expect(first).toMatchObject({ added: 4, unchanged: 0, skipped: [{ entry: 'test source', reason }] });
  const { items } = await callOk(org, 'GET', '/items');
  expect(items.map(({ externalId }: { externalId: string }) => externalId).toSorted()).toEqual(
    [7, 8, 9, 10].map((number) => `CVE-2024-${String(number).padStart(4, '0')}`),
  );
  expect(await usedItems(org)).toMatchObject({ quota: 'feedItems', limit: 4, used: 4, level: 'reached' });
  expect((await callOk(org, 'GET', `/api/feed/sources/${source.source.id}`)).lastResult.skipped).toHaveLength(1);

  const changed = rows.with(9, kevRow(10, { dateAdded: '2024-01-10', knownRansomwareCampaignUse: 'Known' }));
  expect(await source.pull(kevCatalogue(2, changed))).toMatchObject({ added: 0, corrected: 1, unchanged: 3 });
  // While the quota is used up, an unchanged document is not read again.
  expect(await source.pull(kevCatalogue(2, changed))).toMatchObject({ added: 0, unchanged: 4, skipped: [] });
  // When there is room, what was refused arrives although the document did not change.
  await limitItems(org, 7);
  expect(await source.pull(kevCatalogue(2, changed))).toMatchObject({ added: 3, unchanged: 4, skipped: [{}] });
  await limitItems(org, null);
  expect(await source.pull(kevCatalogue(2, changed))).toMatchObject({ added: 3, unchanged: 7, skipped: [] });
  expect(await source.pull(kevCatalogue(2, changed))).toMatchObject({ added: 0, unchanged: 10, skipped: [] });
});

test('a feed of many documents continues after the quota and fetches the refused ones again when there is room', async () => {
  const org = await app.newOrg();
  await limitItems(org, 2);
  const names = ['a', 'b', 'c'];
  server.document('/manifest.json', JSON.stringify(Object.fromEntries(names.map((n) => [mispId(n), { timestamp: '1' }])))); // prettier-ignore
  for (const name of names)
    server.document(`/${mispId(name)}.json`, JSON.stringify(mispEvent(name, { timestamp: '1' })));
  const input = { kind: 'misp', name: 'M', url: `${server.base}/manifest.json` };
  const { id } = await callOk(org, 'POST', '/api/feed/sources', input);
  const pull = () => callOk(org, 'POST', `/api/feed/sources/${id}/pull`);
  expect(await pull()).toMatchObject({
    added: 2,
    skipped: [{ reason: expect.stringContaining('1 new record was not') }],
  });
  server.asked.length = 0;
  expect(await pull()).toMatchObject({ added: 0 });
  expect(server.asked).toHaveLength(1);
  await limitItems(org, 3);
  expect(await pull()).toMatchObject({ added: 1, unchanged: 2, skipped: [] });
  expect(await pull()).toMatchObject({ added: 0, unchanged: 3 });
});

test('pulls and posts at the same time do not exceed the quota', async () => {
  const org = await app.newOrg();
  await limitItems(org, 30);
  const sources = await Promise.all([1, 2, 3].map(() => fileSource(app, org, { kind: 'kev' })));
  const own = (index: number) => Array.from({ length: 20 }, (_, n) => kevRow(index * 100 + n));
  const pulls = sources.map((source, index) => source.pull(kevCatalogue(1, own(index + 1))));
  const posts = [1, 2, 3].map((n) => org.call('POST', '/api/feed/items', { text: `Report ${n} about an intrusion.` }));
  const [results, posted] = [await Promise.all(pulls), await Promise.all(posts)];
  const added = results.reduce((sum, result) => sum + result.added, 0);
  expect(added + posted.filter(({ status }) => status === 200).length).toBe(30);
  expect(await countItems(org)).toBe(30);
});

test('refuses a posted text and a restored item, and counts neither retracted items nor those of others', async () => {
  const [org, other] = [await app.newOrg(), await app.newOrg()];
  await limitItems(org, 1);
  const post = (text: string) => org.call('POST', '/api/feed/items', { text });
  const first = await post('A first report about an intrusion.');
  expect(await post('A second report about an intrusion.')).toMatchObject({
    status: 409,
    body: { code: 'quota_reached', quota: { name: 'feedItems', limit: 1, used: 1, resetsAt: null } },
  });
  // Posting the same text again returns the existing item.
  expect((await post('A first report about an intrusion.')).body.id).toBe(first.body.id);
  await callOk(org, 'POST', `/api/feed/items/${first.body.id}/retract`, {});
  expect((await post('A second report about an intrusion.')).status).toBe(200);
  expect((await org.call('DELETE', `/api/feed/items/${first.body.id}/retract`)).body.code).toBe('quota_reached');
  await callOk(other, 'POST', '/api/feed/items', { text: 'A second report about an intrusion.' });
});

test('never counts or refuses items of the public pool', async () => {
  const org = await app.newOrg();
  await limitItems(org, 0);
  const shared = await fileSource(app, org, { kind: 'kev', visibility: 'shared' });
  expect(await shared.pull(kevCatalogue(1, kevRows(5)))).toMatchObject({ added: 5, skipped: [] });
  expect(await usedItems(org)).toMatchObject({ limit: 0, used: 0, level: 'reached' });
  const own = await fileSource(app, org, { kind: 'kev' });
  expect(await own.pull(kevCatalogue(1, kevRows(5)))).toMatchObject({ added: 0, skipped: [{}] });
});
