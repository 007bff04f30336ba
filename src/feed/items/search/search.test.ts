import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { callOk } from '../../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { inOrg } from '../../../platform/db/db.ts';
import { fileSource, kevCatalogue, kevRow } from '../../../../test/support/feed/kev-source.ts';
import { reportSource } from '../../../../test/support/feed/report-source.ts';
import type { FeedList } from '../../model/item.schema.ts';

const app = await startApp();
const titlesOf = ({ items }: FeedList): string[] => items.map(({ event }) => event.title);
/** A text that says nothing. */
const filler = 'Nothing of note happened at the bank this week. '.repeat(40);
const [org, other] = [await app.newOrg(), await app.newOrg()];
const ids = new Map<string, string>();
const texts: Record<string, string> = {
  storm:
    'Storm over Ruritania. The group APT28, also known as Fancy Bear, used PowerShell to run commands against ministries. It exploited CVE-2023-23397 and beaconed to hxxps://Evil-Panel[.]top/Gate.php and 203[.]0[.]113[.]77.',
  calm: 'A calm week. Ministries patched Outlook. Nothing was exploited; storm warnings were lifted over the ministries of Ruritania.',
  other:
    'An unrelated note about T1566 phishing and evil-panel[.]top seen again by a bank. A proof of concept is public.',
};

for (const [name, text] of Object.entries(texts)) {
  const report = { text, title: `Report on ${name}`, publisher: 'Us' };
  ids.set((await callOk(org, 'POST', '/api/feed/items', report)).id, name);
}

/** Newest first, so that no items that match only some of the words follow. */
const names = async (query: Record<string, string>, on = org): Promise<string[]> => {
  const { status, body } = await on.call('GET', `/items?${new URLSearchParams({ searchOrder: 'newest', ...query })}`);
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.total).toBe(body.items.length);
  return (body as FeedList).items.map(({ id }) => ids.get(id) ?? id).toSorted();
};

describe('GET /items with search parameters', () => {
  const cases: [Record<string, string>, string[]][] = [
    [{ q: 'storm' }, ['calm', 'storm']],
    [{ q: 'STORM ruritania' }, ['calm', 'storm']],
    [{ q: '"storm over ruritania"' }, ['storm']],
    [{ q: 'ministries -outlook' }, ['storm']],
    [{ q: 'outlook or phishing' }, ['calm', 'other']],
    [{ q: 'report on calm' }, ['calm']],
    [{ q: 'evil-panel.top' }, ['other', 'storm']],
    [{ q: 'evil-panel[.]top' }, ['other', 'storm']],
    [{ q: 'hxxps://evil-panel[.]top/Gate.php' }, ['storm']],
    [{ q: 'CVE-2023-23397' }, ['storm']],
    // The text prints only `PowerShell`.
    [{ q: 'T1059.001' }, ['storm']],
    [{ q: 't1059' }, ['storm']],
    [{ q: '203[.]0[.]113[.]77 ministries' }, ['storm']],
    [{ q: 'ministry' }, ['calm', 'storm']],
    [{ q: 'exploiting' }, ['calm', 'storm']],
    [{ q: 'unrelate' }, ['other']],
    [{ q: 'rurita' }, ['calm', 'storm']],
    [{ q: 'rur' }, []],
    [{ q: '"rurita"' }, []],
    [{ q: '"over rurita"' }, []],
    [{ q: 'ministries -beacon' }, ['calm']],
    [{ q: 'ministries -outl' }, ['calm', 'storm']],
    [{ q: 'ruritania storming' }, ['calm', 'storm']],
    [{ q: 'storming rurita' }, ['calm', 'storm']],
    [{ q: 'storming outl or phish' }, ['calm', 'other']],
    [{ q: '203.0.113.7' }, []],
    [{ q: 'ministries AND outlook' }, ['calm']],
    [{ q: 'ministries NOT outlook' }, ['storm']],
    [{ q: '(outlook OR phishing) AND bank' }, ['other']],
    [{ q: 'PoC bank' }, ['other']],
    [{ q: 'the ministries of outlook' }, ['calm']],
    [{ q: 'cve 2023 23397' }, ['storm']],
    [{ q: '2023-23397' }, ['storm']],
    [{ q: 'ministries actor:"fancy bear"' }, ['storm']],
    [{ q: 'cve:cve-2023-23397 publisher:us' }, ['storm']],
    [{ q: 'storm actor:nobody' }, []],
    [{ q: 'storm actor:apt28', actor: 'nobody' }, []],
    [{ q: 'storm today' }, ['calm', 'storm']],
    [{ q: 'before 2020' }, []],
    [{ q: 'since 2020', actor: 'apt28', status: 'active' }, ['storm']],
    [{ q: 'APT 28' }, ['storm']],
    [{ q: 'beacon apt 28 rurita' }, ['storm']],
    [{ q: 'apt-28' }, ['storm']],
    [{ q: '🌩 “Ruritania” CVE‑2023‑23397' }, ['storm']],
    [{ q: 'CVE-2023-23397 rurita' }, ['storm']],
    [{ q: 'hxxps://evil-panel[.]top/Gate.php ministries' }, ['storm']],
    [{ q: 'calm-week' }, ['calm']],
    [{ q: 'nowhere to be found' }, []],
    [{ q: `it's (a) & b | ! <-> :* ' "unclosed` }, []],
    [{ q: '!!!' }, []],
    [{ q: '  ' }, ['calm', 'other', 'storm']],
    [{ indicator: 'EVIL-PANEL[.]TOP' }, ['other', 'storm']],
    [{ indicator: 'hxxps[:]//evil-panel[.]top:443/Gate.php#x' }, ['storm']],
    [{ indicator: '203.0.113[.]77' }, ['storm']],
    [{ indicator: 'panel.top' }, []],
    [{ cve: 'cve-2023-23397' }, ['storm']],
    [{ cve: 'CVE-2023-2339' }, []],
    [{ technique: 'T1059' }, ['storm']],
    [{ technique: 't1059.001' }, ['storm']],
    [{ technique: 'T1059.003' }, []],
    [{ actor: 'fancy  bear' }, ['storm']],
    [{ actor: 'APT28' }, ['storm']],
    [{ actor: 'bear' }, []],
    [
      { q: 'storm', cve: 'CVE-2023-23397', technique: 'T1059', actor: 'apt28', source: 'us', status: 'active' },
      ['storm'],
    ],
    [{ q: 'storm', status: 'retracted' }, []],
    [{ q: 'storm', platform: 'spaceship' }, []],
    [{ updatedSince: '2001-01-01T00:00:00Z' }, ['calm', 'other', 'storm']],
    [{ updatedSince: '2999-01-01T00:00:00+02:00' }, []],
    [{ actor: '', cve: '', technique: '', indicator: '', q: '' }, ['calm', 'other', 'storm']],
  ];
  test.each(cases)('finds by %j', async (query, expected) => {
    expect(await names(query)).toEqual(expected);
    expect(await names({ ...query, duplicates: 'hide' })).toEqual(expected);
    expect(await names(query, other)).toEqual([]);
  });
});

test('lists the best and most recent matches first, page by page, or the newest', async () => {
  const reader = await app.newOrg();
  const post = async (title: string, text: string): Promise<void> => {
    expect((await reader.call('POST', '/api/feed/items', { title, text, publisher: 'Us' })).status).toBe(200);
  };
  await post('Aurora panel seen', 'The panel of the stealer runs on a rented host.');
  await post('Weekly notes', `${filler}A panel was mentioned once.`);
  await post('Unrelated', 'A calm week for the bank.');
  await post('Notes', 'A panel and another panel, then a third panel appeared on the same host.');
  const titles = async (query: string): Promise<string[]> => {
    const found: string[] = [];
    for (const page of [1, 2, 3]) {
      const { body } = await reader.call('GET', `/items?q=panel&perPage=1&page=${page}${query}`);
      expect(body.total).toBe(3);
      const score = query.includes('newest') ? '' : '-score,';
      expect(body.outputs.sort).toBe(`${score}-addedToFeedAt,-id`);
      found.push(...titlesOf(body));
    }
    return found;
  };
  const ranked = ['Aurora panel seen', 'Notes', 'Weekly notes'];
  expect(await titles('')).toEqual(ranked);
  expect(await titles('&searchOrder=relevance&status=active')).toEqual(ranked);
  expect(await titles('&searchOrder=newest')).toEqual(['Notes', 'Weekly notes', 'Aurora panel seen']);
});

test('ranks a title of years ago before a mention of this year, and the newer one of equal matches first', async () => {
  const reader = await app.newOrg();
  const year = new Date().getUTCFullYear();
  const post = (title: string, text: string, publishTime: string) =>
    callOk(reader, 'POST', '/api/feed/items', { title, text, publisher: 'Us', publishTime });
  await post('Oblique loader', `The loader was analyzed. ${filler}`, `${year - 4}-03-01`);
  await post('Weekly notes', `${filler} Something oblique was mentioned once.`, `${year - 1}-03-01`);
  await post('Oblique again', `The loader came back. ${filler}`, `${year - 3}-03-01`);
  const found = titlesOf(await callOk(reader, 'GET', '/items?q=oblique'));
  expect(found).toEqual(['Oblique again', 'Oblique loader', 'Weekly notes']);
});

test('ranks the entry of a CVE and titles of years ago before recent texts that mention them', async () => {
  const reader = await app.newOrg();
  const year = new Date().getUTCFullYear();
  const kev = await fileSource(app, reader, { kind: 'kev' });
  const dateAdded = `${year - 2}-12-10`;
  const row = { dateAdded, vendorProject: 'Harrow', product: 'Logger', vulnerabilityName: 'Harrow Logger Injection' };
  await kev.pull(kevCatalogue(1, [kevRow(1, row)]));
  const { externalId: cve } = (await callOk(reader, 'GET', '/items')).items[0];
  const text = `${filler} Harrow Logger was attacked through an injection, as in other years. ${filler} See ${cve}.`;
  await callOk(reader, 'POST', '/api/feed/items', { title: 'Weekly notes', text, publisher: 'Us' });
  const titles = async (q: string): Promise<string[]> =>
    titlesOf(await callOk(reader, 'GET', `/items?${new URLSearchParams({ q })}`));
  const both = [row.vulnerabilityName, 'Weekly notes'];
  expect(await titles(cve)).toEqual(both);
  expect(await titles('harrow')).toEqual(both);
  expect(await titles('logger injection')).toEqual(both);
  expect(await titles('harrow exploited')).toEqual(both);
  expect(await titles('us weekly')).toEqual(['Weekly notes']);
});

test('corrects a misspelled search that no item matches, by words that the organization sees', async () => {
  const [reader, neighbor] = [await app.newOrg(), await app.newOrg()];
  const post = (on: TestOrg, title: string, text: string) =>
    on.call('POST', '/api/feed/items', { title, text, publisher: 'Us' });
  await post(reader, 'Zephyrlock seen', 'Cobalt Strike ran on a rented host beside a phishing kit.');
  await post(neighbor, 'Quillstone seen', 'A panel of Quillstone.');
  const find = async (on: TestOrg, query: string) => {
    const { body } = await on.call('GET', `/items?q=${query}`);
    return [body.total, body.validations.warnings.map(({ message }: { message: string }) => message)];
  };
  const corrected = (from: string, to: string) => [1, [`No item matches \`${from}\`. These items match \`${to}\`.`]];
  expect(await find(reader, 'zephrylock')).toEqual(corrected('zephrylock', 'zephyrlock'));
  expect(await find(reader, 'colbalt%20strike')).toEqual(corrected('colbalt strike', 'cobalt strike'));
  const partial = (text: string) => [1, [`No item matches \`${text}\`. These items match some of its words.`]];
  expect(await find(reader, 'phishing%20rentd')).toEqual(partial('phishing rentd'));
  expect(await find(reader, 'phishing%20rentd%20nowhere')).toEqual(partial('phishing rentd nowhere'));
  expect(await find(reader, 'elsewhere%20nowhere')).toEqual([0, []]);
  expect(await find(reader, 'cobalt%20phising')).toEqual(corrected('cobalt phising', 'cobalt phishing'));
  expect(await find(reader, 'zephyrlock')).toEqual([1, []]);
  expect(await find(reader, 'zephrylock&status=retracted')).toEqual([0, []]);
  expect(await find(reader, 'phishing&status=retracted')).toEqual([0, []]);
  expect(await find(reader, 'quilstone')).toEqual([0, []]);
  expect(await find(neighbor, 'zephrylock')).toEqual([0, []]);
  expect(await find(neighbor, 'quilstone')).toEqual(corrected('quilstone', 'quillstone'));
});

test('splits a search into pages without gaps or overlaps', async () => {
  const seen: string[] = [];
  for (const page of [1, 2, 3]) {
    const { body } = await org.call('GET', `/items?q=ruritania&perPage=1&page=${page}`);
    expect([body.total, body.hasNext, body.items.length]).toEqual([2, page < 2, page < 3 ? 1 : 0]);
    seen.push(...body.items.map(({ id }: { id: string }) => ids.get(id)));
  }
  expect(seen).toEqual(['calm', 'storm']);
});

test.each([
  'cve=2023-1',
  'cve=CVE-23-1234',
  'technique=T1',
  'technique=TA0001',
  'updatedSince=yesterday',
  'updatedSince=2026-01-01',
  'updatedSince=',
  'updatedSince=0000-01-01T00:00:00Z',
  'updatedSince=9999-12-31T23:59:59-00:01',
  'duplicates=show',
  'duplicates=',
  'q=a%00b',
  'actor=%00',
  `q=${'x'.repeat(501)}`,
  'q=a&q=b',
  'indicator=a&indicator=b',
])('returns 400 with a pointer for %s', async (query) => {
  const { status, body } = await org.call('GET', `/items?${query}`);
  expect([status, body.errors[0].pointer]).toEqual([400, `query/${query.split('=')[0]}`]);
});

test('reports the applied parameters', async () => {
  const { body } = await org.call(
    'GET',
    '/items?cve=cve-2023-23397&updatedSince=2026-01-01T02:00:00%2B02:00&actor=%20X%20',
  );
  expect(body.validations.filters).toEqual({
    applied: { cve: 'CVE-2023-23397', updatedSince: '2026-01-01T00:00:00.000Z', actor: 'X' },
    unknown: [],
  });
});

test('finds with a snapshot token what it found in that snapshot', async () => {
  const reader = await app.newOrg();
  const source = await reportSource(app, reader);
  await source.write({ 1: { words: 'volcano' }, 2: { words: 'quiet' } });
  const find = async (query: string) => (await reader.call('GET', `/items?${query}`)).body as FeedList;
  const queries = ['q=volcano', 'q=r1.example', 'indicator=r1[.]example', 'q=volcano&duplicates=hide', 'q=nothing'];
  const before = await Promise.all(queries.map(find));
  expect(before.map(({ total }) => total)).toEqual([1, 1, 1, 1, 0]);
  await source.write({ 1: { words: 'nothing' }, 3: { words: 'volcano' }, 4: { words: 'volcano' } });
  expect(await Promise.all(queries.map(async (query) => (await find(query)).total))).toEqual([2, 1, 1, 2, 1]);
  const asOf = before[0]!.outputs!.asOf;
  for (const [index, query] of queries.entries())
    expect((await find(`${query}&asOf=${asOf}`)).items).toEqual(before[index]!.items);
});

test('returns only roots when duplicates are hidden, and matches a root by its duplicates', async () => {
  const reader = await app.newOrg();
  const [one, two] = [
    await reportSource(app, reader, { name: 'First', publisher: 'First' }),
    await reportSource(app, reader, { name: 'Second', publisher: 'Second' }),
  ];
  await one.write({ 1: { words: 'alpha' } });
  await two.write({ 1: { words: 'beta' }, 2: { words: 'gamma' } });
  const list = async (query: string) => {
    const { body } = await reader.call('GET', `/items?${query}`);
    return body.items.map(({ event, source }: FeedList['items'][number]) => `${source.publisher}: ${event.title}`);
  };
  const [root, member] = ['First: Report 1 alpha', 'Second: Report 1 beta'];
  const roots = [root, 'Second: Report 2 gamma'];
  // The second report has the same key, so it is a duplicate of the first.
  expect((await list('')).toSorted()).toEqual([root, member, 'Second: Report 2 gamma']);
  expect((await list('duplicates=hide')).toSorted()).toEqual(roots);
  const firstPage = (await reader.call('GET', '/items?duplicates=hide&perPage=1')).body;
  expect(firstPage).toMatchObject({ total: 2, hasNext: true });
  expect(await list('q=beta')).toEqual([member]);
  expect(await list('q=beta&duplicates=hide')).toEqual([root]);
  expect((await list('source=second&duplicates=hide')).toSorted()).toEqual(roots);
  expect(await list('indicator=r1.example&duplicates=hide')).toEqual([root]);
  expect(await list('q=beta&duplicates=hide&status=retracted')).toEqual([]);
  expect((await list('updatedSince=2001-01-01T00:00:00Z&duplicates=hide')).toSorted()).toEqual(roots);
});

test('finds the words of a private item for its organization only, in the database too', async () => {
  const find = (id: TestOrg['id']) =>
    inOrg(app.deps.db, id, async (tx) => {
      const { rows } = await sql`select item_id from item_search where words @@ 'ruritania'`.execute(tx);
      return rows.length;
    });
  expect([await find(org.id), await find(other.id)]).toEqual([2, 0]);
});
