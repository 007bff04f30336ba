import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startOpenSearch } from '../../../test/support/detection/siem/opensearch-stand-in.ts';
import { serverOfTests } from '../../../test/support/feed/source-server.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { whileServing } from '../../../test/support/listen.ts';
import { fetchNextList } from './value-lists.ts';

let aheadMs = 0;
const { newOrg, newKey, deps } = await startApp({
  clock: () => new Date(Date.now() + aheadMs),
  env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' },
});

const server = await serverOfTests();

const fetchNow = () => fetchNextList(deps, new AbortController().signal);
const csv = 'cidr,Site\n10.20.0.0/16,oslo\n192.0.2.0/24,"Bergen, lab"\n10.20.0.0/16,oslo\n';

test('fetches a list from its address on its schedule, and keeps what it had when that fails', async () => {
  const org = await newOrg();
  const path = '/api/value-lists/sites';
  const url = await whileServing(csv, async (address) => {
    const source = { url: address, everyHours: 6 };
    expect(await callOk(org, 'PUT', path, { source })).toMatchObject({ valuesTotal: 0, source: { checkedAt: null } });
    await fetchNow();
    return address;
  });
  const fetched = await callOk(org, 'GET', path);
  expect(fetched).toMatchObject({ columns: ['cidr', 'site'], valuesTotal: 2, source: { url, failure: null } });
  expect(JSON.stringify(await callOk(org, 'GET', '/api/audit'))).toContain('value_list.fetched');
  expect(await fetchNow()).toBe(false);
  aheadMs += 6 * 3_600_000;
  await fetchNow();
  const { source, ...kept } = await callOk(org, 'GET', path);
  expect(kept).toMatchObject({ rows: fetched.rows, revision: fetched.revision });
  expect(source.failure).not.toBeNull();
  await callOk(org, 'PUT', path, { source: { url: 'http://169.254.169.254/latest' } });
  await fetchNow();
  expect((await callOk(org, 'GET', path)).source.failure).toContain('169.254.169.254');
  expect(await fetchNow()).toBe(false);
});

test('fetches lists of other organizations while one waits for a slow address', async () => {
  const [slow, other] = [await newOrg(), await newOrg()];
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  server.routes.set('/slow', async (response) => {
    asked.resolve();
    await answered.promise;
    response.end(csv);
  });
  server.document('/quick', csv, 'text/csv');
  const put = (org: TestOrg, name: string, path: string) =>
    callOk(org, 'PUT', `/api/value-lists/${name}`, { source: { url: server.base + path, everyHours: 168 } });
  for (const name of ['first', 'second']) await put(slow, name, '/slow');
  const fetching = fetchNow();
  await asked.promise;
  await put(other, 'sites', '/quick');
  expect([await fetchNow(), await fetchNow()]).toEqual([true, false]);
  expect(await callOk(other, 'GET', '/api/value-lists/sites')).toMatchObject({ valuesTotal: 2 });
  answered.resolve();
  await fetching;
  // An organization whose list has just been fetched comes last, however long its others have been due.
  await put(other, 'more', '/quick');
  server.asked.length = 0;
  expect([await fetchNow(), await fetchNow(), await fetchNow()]).toEqual([true, true, false]);
  expect(server.asked.map(({ path }) => path)).toEqual(['/quick', '/slow']);
});

const siem = await startOpenSearch();

/** Creates an organization with a connected SIEM. */
async function connectOrg() {
  const org = await newOrg();
  const { id } = await callOk(org, 'POST', '/api/connections', {
    kind: 'opensearch',
    name: 'Directory',
    settings: { url: siem.url },
    credentials: { user: 'soc', password: 'secret' },
  });
  const path = '/api/value-lists/people';
  const query = 'source=directory | where $window';
  return {
    org,
    path,
    body: { columns: ['user', 'timestamp'], source: { query, connectionId: id, spanHours: 48, everyHours: 6 } },
    get: () => callOk(org, 'GET', path),
  };
}

test('fills a list from a query on a connected SIEM, and keeps its rows when that fails', async () => {
  const { org, path, body, get } = await connectOrg();
  expect(await callOk(org, 'PUT', path, body)).toMatchObject({ valuesTotal: 0, source: { checkedAt: null } });
  await fetchNow();
  const filled = await get();
  const source = { ...body.source, failure: null, checkedAt: expect.any(String) };
  expect(filled).toMatchObject({ values: ['ada'], source, columns: ['user', 'timestamp'] });
  // The stand-in returns the start of the window.
  const span = Date.parse(filled.source.checkedAt) - Date.parse(filled.rows[0][1]);
  expect(Math.round(span / 3_600_000)).toBe(48);
  aheadMs += 6 * 3_600_000;
  siem.answerWith(500);
  await fetchNow();
  siem.answerWith(200);
  const kept = await get();
  expect(kept).toMatchObject({ rows: filled.rows, revision: filled.revision });
  expect(kept.source.failure).not.toBeNull();
  await callOk(org, 'PUT', path, { ...body, columns: ['user', 'department'] });
  await fetchNow();
  expect(await get()).toMatchObject({ values: [], source: { failure: 'The query returned no column department.' } });
  const audit = JSON.stringify(await callOk(org, 'GET', '/api/audit'));
  expect(audit).toContain('value_list.fetched');
  expect(audit).not.toContain('source=directory');
});

test('only the organization of a connection fills lists from it, and only who may search logs', async () => {
  const { org, path, body } = await connectOrg();
  const writer = await newKey(org, ['detections:read', 'detections:write']);
  expect(await writer.call('PUT', path, body)).toMatchObject({
    status: 403,
    body: { detail: expect.stringContaining('detections:run') },
  });
  const stranger = await newOrg();
  expect(await stranger.call('PUT', path, body)).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '/source/query', code: 'no_connection' }] },
  });
  const { columns: _columns, ...withoutColumns } = body;
  expect((await org.call('PUT', path, withoutColumns)).body.errors).toMatchObject([{ pointer: '/columns' }]);
  const unknownColumn = { ...body.source, spanHours: 0 };
  expect((await org.call('PUT', path, { ...body, source: unknownColumn })).status).toBe(400);
  expect(await fetchNow()).toBe(false);
});

test('fills a list from the own logs, and refuses rows that it cannot have', async () => {
  const org = await newOrg();
  const path = '/api/value-lists/seen';
  const fill = async (query: string, columns = ['ip']) => {
    await callOk(org, 'PUT', path, { columns, source: { query } });
    await fetchNow();
    return callOk(org, 'GET', path);
  };
  const failed = (failure: unknown) => ({ source: { failure } });
  expect(await fill('SELECT ip FROM vpn')).toMatchObject(failed('A dataset of the query never had an event.'));
  const hour = (ago: number) => new Date(deps.clock().getTime() - ago * 3_600_000);
  await callOk(org, 'POST', '/api/logs/vpn', [
    { timestamp: hour(1), ip: '192.0.2.1', device: { owner: 'ada' }, text: 'a' },
    { timestamp: hour(2), ip: '192.0.2.1', device: { owner: 'ada' }, text: 'b' },
    { timestamp: hour(3), ip: '-', device: { owner: 'eve' }, text: 'x'.repeat(501) },
    { timestamp: hour(30), ip: '192.0.2.9', device: { owner: 'bob' }, text: 'c' },
  ]);
  expect(await fill('SELECT ip, device FROM vpn', ['ip', 'device_owner'])).toMatchObject({
    rows: [['192.0.2.1', 'ada']],
    ...failed(null),
  });
  expect(await fill('SELECT text FROM vpn', ['text'])).toMatchObject(failed(expect.stringContaining('500 characters')));
  const many = 'SELECT v.ip || n AS ip FROM vpn v, range(10001) r(n) WHERE text = $$a$$';
  expect(await fill(many)).toMatchObject(failed(expect.stringContaining('10000')));
});
