import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { inOrg } from '../../platform/db/db.ts';
import type { Story } from './stories.schema.ts';

const app = await startApp();
const hash = '9f2b6c0a6c1d4e5f8a7b3c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f';

type Report = { title: string; text: string; publisher: string; publishTime: string };
const english: Report = {
  title: 'Wiper at a shipping company',
  text: `A wiper with the SHA-256 ${hash} destroyed the servers of a shipping company on Monday.`,
  publisher: 'Harbor News',
  publishTime: '2026-03-02',
};
const german: Report = {
  title: 'Schadsoftware legt Reederei lahm',
  text: `Die Reederei meldet einen Ausfall. Die Datei hat den Hash ${hash}.`,
  publisher: 'Hafenblatt',
  publishTime: '2026-03-03',
};
const french: Report = {
  title: 'Un logiciel malveillant paralyse un armateur',
  text: `Le fichier ${hash} a effacé des serveurs.`,
  publisher: 'Le Port',
  publishTime: '2026-03-05',
};
const unrelated: Report = {
  title: 'Emotet returns',
  text: 'Emotet sends mail again. Nothing else is known of the campaign yet.',
  publisher: 'Harbor News',
  publishTime: '2026-03-03',
};
const sameFamily: Report = {
  title: 'Another Emotet wave',
  text: 'A second wave of Emotet reaches banks with other attachments and other hosts.',
  publisher: 'Hafenblatt',
  publishTime: '2026-03-03',
};

const post = async (org: TestOrg, report: Report): Promise<string> =>
  (await callOk(org, 'POST', '/api/feed/items', report)).id;
const storyOf = (org: TestOrg, id: string): Promise<Story> => callOk(org, 'GET', `/api/feed/items/${id}/story`);
const list = async (org: TestOrg, query = ''): Promise<Story[]> =>
  (await callOk(org, 'GET', `/api/feed/stories?${query}`)).stories;
const titlesOf = ({ items }: Story): string[] => items.map(({ title }) => title);

test.each([
  ['as published', [english, german, french, unrelated, sameFamily]],
  ['the last first', [sameFamily, french, unrelated, german, english]],
])('makes one story of reports in several languages with the same hash, added %s', async (_order, reports) => {
  const org = await app.newOrg();
  const ids = new Map<string, string>();
  for (const report of reports) ids.set(report.title, await post(org, report));
  const expected = [english, german, french].map(({ title }) => title);
  for (const title of expected) {
    const story = await storyOf(org, ids.get(title)!);
    expect(titlesOf(story)).toEqual(expected);
    expect(story).toMatchObject({
      title: english.title,
      firstPublished: '2026-03-02T00:00:00.000Z',
      lastPublished: '2026-03-05T00:00:00.000Z',
      sources: [
        { publisher: 'Hafenblatt', items: 1 },
        { publisher: 'Harbor News', items: 1 },
        { publisher: 'Le Port', items: 1 },
      ],
    });
    expect(story.reasons.map(({ kind, values }) => [kind, values])).toEqual(
      Array.from({ length: 3 }, () => ['indicator', [hash]]),
    );
  }
  const stories = await list(org);
  expect(stories.map((story) => titlesOf(story).length).toSorted()).toEqual([1, 1, 3]);
});

test('lists a story once over pages and at any filter that one of its items meets', async () => {
  const org = await app.newOrg();
  for (const report of [english, unrelated, german, sameFamily, french]) await post(org, report);
  const seen: string[] = [];
  let cursor = '';
  do {
    const page = await callOk(org, 'GET', `/api/feed/stories?limit=1${cursor}`);
    seen.push(...page.stories.map(({ title }: Story) => title));
    cursor = page.nextCursor === null ? '' : `&cursor=${page.nextCursor}`;
  } while (cursor !== '');
  expect(seen).toEqual([english.title, sameFamily.title, unrelated.title]);
  for (const query of [
    'q=Reederei',
    'source=hafenblatt&q=hash',
    `indicator=${hash}`,
    'q=wiper publisher:"harbor news"',
  ])
    expect((await list(org, new URLSearchParams(query).toString())).map(({ title }) => title)).toEqual([english.title]);
  expect(await list(org, 'q=nowhere')).toEqual([]);
  expect(await list(org, 'duplicates=hide&relevancyMode=relevant')).toHaveLength(3);
});

test('takes the most severe level that is well founded', async () => {
  const org = await app.newOrg();
  const id = await post(org, english);
  const other = await post(org, german);
  const before = await storyOf(org, id);
  const worst = before.items.find((item) => item.id === before.severityItemId)!;
  expect(before.severity).toBe(worst.severity);
  // A level that no passage of the report states.
  await inOrg(app.deps.db, org.id, (tx) =>
    sql`update items set severity = 'critical', severity_rule = 'report:spread' where id = ${other}`.execute(tx),
  );
  expect(await storyOf(org, id)).toMatchObject({ severity: before.severity, severityItemId: before.severityItemId });
  await callOk(org, 'PUT', `/api/feed/items/${other}/override`, { severity: 'critical' });
  expect(await storyOf(org, id)).toMatchObject({ severity: 'critical', severityItemId: other });
});

test('leaves a story consistent when one of its items is retracted', async () => {
  const org = await app.newOrg();
  const [first, second, third] = [await post(org, english), await post(org, german), await post(org, french)];
  await callOk(org, 'POST', `/api/feed/items/${second}/retract`, { reason: 'an exercise' });
  expect(titlesOf(await storyOf(org, first))).toEqual([english.title, french.title]);
  expect(await storyOf(org, third)).toEqual(await storyOf(org, first));
  expect((await org.call('GET', `/api/feed/items/${second}/story`)).status).toBe(404);
  await callOk(org, 'DELETE', `/api/feed/items/${second}/retract`);
  expect(titlesOf(await storyOf(org, first))).toHaveLength(3);
});

test('says that a large story is cut', async () => {
  const org = await app.newOrg();
  const id = await post(org, english);
  expect(await storyOf(org, id)).toMatchObject({ hasMore: false });
  await inOrg(app.deps.db, org.id, (tx) =>
    sql`insert into items select copy.* from items i, generate_series(1, 200) as n, jsonb_populate_record(i, jsonb_build_object(
        'id', gen_random_uuid(), 'record_id', n::text, 'duplicate_of', i.id)) as copy where i.id = ${id}`.execute(tx),
  );
  const story = await storyOf(org, id);
  expect([story.items.length, story.hasMore]).toEqual([200, true]);
});

test('changes neither the items nor their groups', async () => {
  const org = await app.newOrg();
  for (const report of [english, german, french]) await post(org, report);
  const read = async () => [await callOk(org, 'GET', '/items'), await callOk(org, 'GET', '/stats')];
  const before = await read();
  expect(before[0].total).toBe(3);
  expect(before[0].items.some(({ duplicateOf }: { duplicateOf?: string }) => duplicateOf)).toBe(false);
  await list(org);
  expect(await read()).toEqual(before);
});

test('joins nothing of another organization', async () => {
  const [org, neighbor] = [await app.newOrg(), await app.newOrg()];
  const id = await post(org, english);
  const theirs = await post(neighbor, german);
  expect(titlesOf(await storyOf(org, id))).toEqual([english.title]);
  expect((await org.call('GET', `/api/feed/items/${theirs}/story`)).status).toBe(404);
  expect((await list(neighbor)).map(titlesOf)).toEqual([[german.title]]);
});
