import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { inOrg, queryRows } from '../../platform/db/db.ts';
import { startApp } from '../../../test/support/harness.ts';
import { checkQuery } from './check-connection.ts';
import { startOpenSearch } from '../../../test/support/detection/opensearch-stand-in.ts';

const { deps, newOrg, newKey } = await startApp({
  env: { TOCSIN_FETCH_ALLOW: '127.0.0.1', TOCSIN_LOG_LEVEL: 'fatal' },
});
const siem = await startOpenSearch();
const org = await newOrg();
const stranger = await newOrg();

const password = 'p4ss-that-nobody-sees';
const body = {
  kind: 'opensearch',
  name: 'Logs',
  settings: { url: siem.url },
  credentials: { user: 'soc', password },
};
const detection = {
  name: 'Root logs in',
  detectionCategory: 'custom',
  systemPrompt: 'Judge it.',
  detectionQuery: 'source=auth | where $window',
  detectionCadence: 'hourly',
};
const made = async (given: object = {}, by = org) => {
  const answer = await by.call('POST', '/api/connections', { ...body, ...given });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
};
const refused = async (given: object) => {
  const { status, body: problem } = await org.call('POST', '/api/connections', { ...body, ...given });
  return [status, problem.errors?.[0]?.pointer, problem.errors?.[0]?.code];
};

test('the embedded store is there from the beginning, and stays as it is', async () => {
  const fresh = await newOrg();
  const { connections } = (await fresh.call('GET', '/api/connections')).body;
  expect(connections).toMatchObject([{ id: fresh.id, kind: 'local', isDefault: true, clock: 'ingest', pause: null }]);
  expect((await fresh.call('GET', `/api/connections/${fresh.id}`)).body).toEqual(connections[0]);
  expect((await fresh.call('PUT', `/api/connections/${fresh.id}`, { name: 'x' })).status).toBe(409);
  expect((await fresh.call('DELETE', `/api/connections/${fresh.id}`)).status).toBe(409);
  expect((await fresh.call('POST', `/api/connections/${fresh.id}/check`)).body).toMatchObject({ ok: true });
  expect((await fresh.call('GET', `/api/connections/${fresh.id}/fields`)).body).toEqual({ datasets: [] });
});

test('a connection has its defaults filled in, is listed, changed and deleted', async () => {
  const one = await made();
  expect(one).toMatchObject({
    kind: 'opensearch',
    isDefault: false,
    settings: { url: siem.url, timeField: '@timestamp', index: 'logs-*', rowsAtOnce: 200 },
    clock: 'event',
    delayMinutes: 5,
    recheckMinutes: 360,
    places: 4,
    pause: null,
  });
  const listed = (await org.call('GET', '/api/connections?limit=1')).body;
  expect(listed.connections.map(({ id }: { id: string }) => id)).toEqual([org.id, one.id]);
  const url = `/api/connections/${one.id}`;
  const changed = (await org.call('PUT', url, { ...one, name: 'Other', delayMinutes: 0, recheckMinutes: 0 })).body;
  expect(changed).toMatchObject({ name: 'Other', delayMinutes: 0, recheckMinutes: 0, settings: one.settings });
  expect(changed.updatedAt > one.updatedAt).toBe(true);
  expect((await org.call('DELETE', url)).status).toBe(200);
  expect((await org.call('GET', url)).status).toBe(404);
});

test('credentials are stored sealed, and stand in no answer and no audit row', async () => {
  const one = await made();
  await org.call('PUT', `/api/connections/${one.id}`, { credentials: { user: 'soc', password: `${password}2` } });
  const answers = await Promise.all(
    ['/api/connections', `/api/connections/${one.id}`, '/api/audit?limit=200'].map((path) => org.call('GET', path)),
  );
  expect(JSON.stringify(answers)).not.toContain(password);
  const stored = await inOrg(deps.db, org.id, (tx) =>
    queryRows(tx, sql<{ row: string }>`select c::text as row, encode(sealed, 'escape') as sealed from connections c`),
  );
  expect(JSON.stringify(stored)).not.toContain(password);
  const connection = await deps.connectionFor(org.id, { connectionId: one.id, siemType: null });
  await expect(connection.ping(AbortSignal.timeout(5_000))).resolves.toBeUndefined();
});

test('with another address the credentials have to be given again', async () => {
  const one = await made();
  const url = `/api/connections/${one.id}`;
  const settings = { url: 'http://127.0.0.1:9' };
  const answer = await org.call('PUT', url, { settings });
  expect([answer.status, answer.body.errors[0].pointer]).toEqual([400, '/credentials']);
  expect((await org.call('PUT', url, { settings: { ...one.settings, index: 'auth-*' } })).status).toBe(200);
  expect((await org.call('PUT', url, { settings, credentials: body.credentials })).status).toBe(200);
});

test.each([
  [{ kind: 'local' }, ['400', '/kind']],
  [{ kind: 'oracle' }, ['400', '/kind']],
  [{ settings: {} }, ['400', '/settings/url']],
  [{ settings: { url: 'ftp://x' } }, ['400', '/settings/url']],
  [{ settings: { url: 'http://siem.example' } }, ['400', '/settings/url', 'tls_needed']],
  [{ settings: { url: 'https://u:p@siem.example' } }, ['400', '/settings/url']],
  [{ settings: { url: siem.url, idnex: 'x' } }, ['400', '/settings/idnex', 'unknown_field']],
  [{ credentials: { user: 'soc' } }, ['400', '/credentials/password']],
  [{ credentials: {} }, ['400', '/credentials/user']],
  [{ clock: 'ingest' }, ['400', '/clock', 'no_ingest_column']],
  [{ recheckMinutes: -1 }, ['400', '/recheckMinutes']],
  [{ places: 0 }, ['400', '/places']],
])('%j is refused', async (given, expected) => {
  expect((await refused(given)).map(String)).toEqual(expect.arrayContaining(expected));
});

test('a field that a kind needs is said to be missing', async () => {
  const problem = (await org.call('POST', '/api/connections', { ...body, settings: {} })).body;
  expect(problem.detail).toBe('/settings/url: is missing');
});

test('the better clock is taken that the settings allow', async () => {
  const settings = { url: siem.url, ingestField: 'event.ingested' };
  expect((await made({ settings })).clock).toBe('ingest');
  expect((await made({ settings, clock: 'event' })).clock).toBe('event');
});

test('a check asks the SIEM, and what is wrong with it is a 422', async () => {
  const one = await made();
  const url = `/api/connections/${one.id}`;
  expect((await org.call('POST', `${url}/check`)).body).toMatchObject({ ok: true });
  expect((await org.call('GET', `${url}/fields`)).body).toEqual({
    datasets: [{ dataset: 'logs-*', fields: [{ name: 'user', type: 'keyword' }] }],
  });
  const query = await org.call('POST', `${url}/check`, { query: 'source=auth' });
  expect([query.status, query.body.errors[0]]).toMatchObject([422, { pointer: '/query', code: 'window_missing' }]);
  siem.answerWith(401);
  const down = await org.call('POST', `${url}/check`);
  const fields = await org.call('GET', `${url}/fields`);
  siem.answerWith(200);
  expect([down.status, down.body.errors[0].code, fields.status]).toEqual([422, 'credentials_refused', 503]);
});

test('the kinds tell what they need', async () => {
  const { kinds } = (await org.call('GET', '/api/connections/kinds')).body;
  expect(kinds.map(({ kind }: { kind: string }) => kind)).toEqual([
    'clickhouse',
    'elasticsearch',
    'opensearch',
    'postgres',
    'sentinel',
    'splunk',
  ]);
  for (const kind of kinds) expect(kind).toMatchObject({ settings: {}, credentials: {}, language: expect.any(String) });
});

test('who may only read detections sees connections and makes none', async () => {
  const reader = await newKey(org, ['detections:read']);
  expect((await reader.call('GET', '/api/connections')).status).toBe(200);
  expect((await reader.call('POST', '/api/connections', body)).status).toBe(403);
});

describe('a detection', () => {
  test('may name a connection of its own organization only, and keeps it from being deleted', async () => {
    const one = await made();
    const theirs = await made({}, stranger);
    const foreign = await org.call('POST', '/api/detections', { ...detection, connectionId: theirs.id });
    expect([foreign.status, foreign.body.errors[0].pointer, foreign.body.errors[0].code]).toEqual([
      400,
      '/connectionId',
      'unknown_connection',
    ]);
    const { body: record } = await org.call('POST', '/api/detections', { ...detection, connectionId: one.id });
    expect(record).toMatchObject({ connectionId: one.id });
    expect(record.warnings).toBeUndefined();
    const put = await org.call('PUT', `/api/detections/${record.id}`, { connectionId: theirs.id });
    expect([put.status, put.body.errors[0].pointer]).toEqual([400, '/connectionId']);
    const inUse = await org.call('DELETE', `/api/connections/${one.id}`);
    expect([inUse.status, inUse.body.detail]).toEqual([409, expect.stringContaining('Root logs in')]);
    await org.call('DELETE', `/api/detections/${record.id}`);
    expect((await org.call('DELETE', `/api/connections/${one.id}`)).status).toBe(200);
    const gone = (await org.call('POST', `/api/detections/${record.id}/restore`)).body;
    expect(gone.warnings).toMatchObject([{ code: 'no_connection', field: 'connectionId' }]);
  });

  test('that names a SIEM asks its only connection, and is warned where there is none or are two', async () => {
    const own = await newOrg();
    const { body: record } = await own.call('POST', '/api/detections', { ...detection, siemType: 'OpenSearch' });
    const warnings = async () => (await own.call('GET', `/api/detections/${record.id}`)).body.warnings;
    expect(record.warnings).toMatchObject([{ code: 'no_connection', field: 'siemType' }]);
    const one = await made({}, own);
    expect(await warnings()).toBeUndefined();
    const found = await deps.connectionFor(own.id, { connectionId: null, siemType: 'OpenSearch' });
    expect(found.id).toBe(one.id);
    await made({}, own);
    expect(await warnings()).toMatchObject([{ code: 'no_connection' }]);
  });

  test('is planned as far behind its slots as its connection asks, from its next slot on', async () => {
    const own = await newOrg();
    const delay = (id: string) =>
      inOrg(deps.db, own.id, (tx) =>
        queryRows(tx, sql<{ delay_ms: number }>`select delay_ms from schedules where detection_id = ${id}`),
      ).then(([found]) => found?.delay_ms);
    const one = await made({ delayMinutes: 7 }, own);
    const { body: record } = await own.call('POST', '/api/detections', { ...detection, connectionId: one.id });
    expect(await delay(record.id)).toBe(7 * 60_000);
    await own.call('PUT', `/api/connections/${one.id}`, { delayMinutes: 3 });
    expect(await delay(record.id)).toBe(3 * 60_000);
    await own.call('PUT', `/api/detections/${record.id}`, { connectionId: own.id });
    expect(await delay(record.id)).toBe(0);
    const { detectionCadence, ...byHand } = detection;
    const { body: later } = await own.call('POST', '/api/detections', { ...byHand, connectionId: one.id });
    expect(await delay(later.id)).toBeUndefined();
    await own.call('PUT', `/api/detections/${later.id}`, { detectionCadence });
    expect(await delay(later.id)).toBe(3 * 60_000);
  });

  test('asked to be checked at once is checked by its own SIEM', async () => {
    const one = await made();
    const wrong = { ...detection, connectionId: one.id, detectionQuery: 'source=auth' };
    const answer = await org.call('POST', '/api/detections?validate=true', wrong);
    expect([answer.status, answer.body.errors[0].code]).toEqual([422, 'window_missing']);
    const preview = { ...detection, connectionId: one.id, from: '2026-03-02T00:00:00Z', to: '2026-03-02T02:00:00Z' };
    const { status, body: shown } = await org.call('POST', '/api/detections/preview', preview);
    expect(status).toBe(200);
    // Cut as its runs are, five minutes behind the hour; the SIEM of this test gives its row for each window.
    expect(shown.windows.map(({ to, rowsTotal }: { to: string; rowsTotal: number }) => [to.slice(11, 16), rowsTotal])).toEqual([['00:55', 1], ['01:55', 1], ['02:00', 1]]); // prettier-ignore
  });
});

test('a SIEM that does not answer in time is a 422 of ?validate=true that says so, and nothing is stored', async () => {
  const asker = await newOrg();
  await made({}, asker);
  const asked = AbortSignal.timeout(200);
  const { checkQuery: whole } = deps;
  deps.checkQuery = (orgId, ref, query) => checkQuery(deps, orgId, { ref, query }, asked);
  siem.answerWith('hang');
  try {
    const answer = await asker.call('POST', '/api/detections?validate=true', { ...detection, siemType: 'opensearch' });
    expect(answer.status).toBe(422);
    expect(answer.body).toMatchObject({
      code: 'check_failed',
      errors: [{ pointer: '/detectionQuery', code: 'timeout', detail: 'No answer within 30 s.' }],
    });
  } finally {
    siem.answerWith(200);
    deps.checkQuery = whole!;
  }
  expect((await asker.call('GET', '/api/detections')).body.detections).toEqual([]);
});
