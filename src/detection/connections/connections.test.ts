import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { queryOrg } from '../../../test/support/detection/detection-factory.ts';
import { startApp } from '../../../test/support/harness.ts';
import { checkQuery } from './check-connection.ts';
import { startOpenSearch } from '../../../test/support/detection/siem/opensearch-stand-in.ts';

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
const create = async (changes: object = {}, by = org) => {
  const response = await by.call('POST', '/api/connections', { ...body, ...changes });
  expect(response.status, JSON.stringify(response.body)).toBe(200);
  return response.body;
};
const createInvalid = async (changes: object) => {
  const { status, body: problem } = await org.call('POST', '/api/connections', { ...body, ...changes });
  return [status, problem.errors?.[0]?.pointer, problem.errors?.[0]?.code];
};

test('every organization has the embedded log store and cannot change it', async () => {
  const fresh = await newOrg();
  const { connections } = (await fresh.call('GET', '/api/connections')).body;
  expect(connections).toMatchObject([{ id: fresh.id, kind: 'local', isDefault: true, clock: 'ingest', pause: null }]);
  expect((await fresh.call('GET', `/api/connections/${fresh.id}`)).body).toEqual(connections[0]);
  expect((await fresh.call('PUT', `/api/connections/${fresh.id}`, { name: 'x' })).status).toBe(409);
  expect((await fresh.call('DELETE', `/api/connections/${fresh.id}`)).status).toBe(409);
  expect((await fresh.call('POST', `/api/connections/${fresh.id}/check`)).body).toMatchObject({ ok: true });
  expect((await fresh.call('GET', `/api/connections/${fresh.id}/fields`)).body).toEqual({ datasets: [] });
});

test('creates a connection with defaults, lists, changes and deletes it', async () => {
  const created = await create();
  expect(created).toMatchObject({
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
  expect(listed.connections.map(({ id }: { id: string }) => id)).toEqual([org.id, created.id]);
  const url = `/api/connections/${created.id}`;
  const changed = (await org.call('PUT', url, { ...created, name: 'Other', delayMinutes: 0, recheckMinutes: 0 })).body;
  expect(changed).toMatchObject({ name: 'Other', delayMinutes: 0, recheckMinutes: 0, settings: created.settings });
  expect(changed.updatedAt > created.updatedAt).toBe(true);
  expect((await org.call('DELETE', url)).status).toBe(200);
  expect((await org.call('GET', url)).status).toBe(404);
});

test('stores credentials sealed and returns them in no response or audit entry', async () => {
  const created = await create();
  await org.call('PUT', `/api/connections/${created.id}`, { credentials: { user: 'soc', password: `${password}2` } });
  const responses = await Promise.all(
    ['/api/connections', `/api/connections/${created.id}`, '/api/audit?limit=200'].map((path) => org.call('GET', path)),
  );
  expect(JSON.stringify(responses)).not.toContain(password);
  const rows = sql`select c::text as row, encode(sealed, 'escape') as sealed from connections c`;
  const stored = await queryOrg(deps, org, rows);
  expect(JSON.stringify(stored)).not.toContain(password);
  const connection = await deps.connectionFor(org.id, { connectionId: created.id, siemType: null });
  await expect(connection.ping(AbortSignal.timeout(60_000))).resolves.toBeUndefined();
});

test('requires the credentials again when the address changes', async () => {
  const created = await create();
  const url = `/api/connections/${created.id}`;
  const settings = { url: 'http://127.0.0.1:9' };
  const response = await org.call('PUT', url, { settings });
  expect([response.status, response.body.errors[0].pointer]).toEqual([400, '/credentials']);
  expect((await org.call('PUT', url, { settings: { ...created.settings, index: 'auth-*' } })).status).toBe(200);
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
])('returns 400 for %j', async (changes, expected) => {
  expect((await createInvalid(changes)).map(String)).toEqual(expect.arrayContaining(expected));
});

test('says which name of a dataset is not valid', async () => {
  const settings = { url: siem.url, datasets: { 'Cloud Trail': { source: 'raw' } } };
  const problem = (await org.call('POST', '/api/connections', { ...body, settings })).body;
  expect(problem.detail).toBe('/settings/datasets/Cloud Trail: is not a dataset name');
});

test('reports a missing setting', async () => {
  const problem = (await org.call('POST', '/api/connections', { ...body, settings: {} })).body;
  expect(problem.detail).toBe('/settings/url: is missing');
});

test('defaults to the clock ingest if the settings allow it', async () => {
  const settings = { url: siem.url, ingestField: 'event.ingested' };
  expect((await create({ settings })).clock).toBe('ingest');
  expect((await create({ settings, clock: 'event' })).clock).toBe('event');
});

test('checks a connection and returns 422 if the check fails', async () => {
  const created = await create();
  const url = `/api/connections/${created.id}`;
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

test('lists the datasets of portable queries with the fields of their sources', async () => {
  const datasets = { windows: { source: 'winlogbeat-*' }, cloudtrail: { source: 'raw', event: 'payload' } };
  const { id } = await create({ settings: { url: siem.url, datasets } });
  expect((await org.call('GET', `/api/connections/${id}/fields?portable=true`)).body).toEqual({
    datasets: [
      { dataset: 'windows', fields: [{ name: 'user', type: 'keyword' }] },
      { dataset: 'cloudtrail', fields: [] },
    ],
  });
  const { id: plain } = await create();
  expect((await org.call('GET', `/api/connections/${plain}/fields?portable=true`)).body).toEqual({ datasets: [] });
  expect((await org.call('GET', `/api/connections/${org.id}/fields?portable=true`)).body).toEqual({ datasets: [] });
});

test('lists the supported SIEMs with their schemas', async () => {
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

test('lists connections but returns 403 for creating one with detections:read only', async () => {
  const reader = await newKey(org, ['detections:read']);
  expect((await reader.call('GET', '/api/connections')).status).toBe(200);
  expect((await reader.call('POST', '/api/connections', body)).status).toBe(403);
});

describe('a detection', () => {
  test('can use connections of its own organization only, and a used connection cannot be deleted', async () => {
    const created = await create();
    const theirs = await create({}, stranger);
    const foreign = await org.call('POST', '/api/detections', { ...detection, connectionId: theirs.id });
    const unknown = { pointer: '/connectionId', code: 'unknown_connection' };
    expect([foreign.status, foreign.body.errors[0]]).toMatchObject([400, unknown]);
    const { body: record } = await org.call('POST', '/api/detections', { ...detection, connectionId: created.id });
    expect(record).toMatchObject({ connectionId: created.id });
    expect(record.warnings).toBeUndefined();
    const put = await org.call('PUT', `/api/detections/${record.id}`, { connectionId: theirs.id });
    expect([put.status, put.body.errors[0].pointer]).toEqual([400, '/connectionId']);
    const inUse = await org.call('DELETE', `/api/connections/${created.id}`);
    expect([inUse.status, inUse.body.detail]).toEqual([409, expect.stringContaining('Root logs in')]);
    await org.call('DELETE', `/api/detections/${record.id}`);
    expect((await org.call('DELETE', `/api/connections/${created.id}`)).status).toBe(200);
    const restored = (await org.call('POST', `/api/detections/${record.id}/restore`)).body;
    expect(restored.warnings).toMatchObject([{ code: 'no_connection', field: 'connectionId' }]);
  });

  test('uses the only connection of its SIEM type, and has a warning if there are none or two', async () => {
    const fresh = await newOrg();
    const { body: record } = await fresh.call('POST', '/api/detections', { ...detection, siemType: 'OpenSearch' });
    const warnings = async () => (await fresh.call('GET', `/api/detections/${record.id}`)).body.warnings;
    expect(record.warnings).toMatchObject([{ code: 'no_connection', field: 'siemType' }]);
    const created = await create({}, fresh);
    expect(await warnings()).toBeUndefined();
    const connection = await deps.connectionFor(fresh.id, { connectionId: null, siemType: 'OpenSearch' });
    expect(connection.id).toBe(created.id);
    await create({}, fresh);
    expect(await warnings()).toMatchObject([{ code: 'no_connection' }]);
  });

  test('is scheduled with the delay of its connection', async () => {
    const fresh = await newOrg();
    const delay = async (id: string) => {
      const schedules = sql<{ ms: number }>`select delay_ms as ms from schedules where detection_id = ${id}`;
      return (await queryOrg(deps, fresh, schedules))[0]?.ms;
    };
    const created = await create({ delayMinutes: 7 }, fresh);
    const { body: record } = await fresh.call('POST', '/api/detections', { ...detection, connectionId: created.id });
    expect(await delay(record.id)).toBe(7 * 60_000);
    await fresh.call('PUT', `/api/connections/${created.id}`, { delayMinutes: 3 });
    expect(await delay(record.id)).toBe(3 * 60_000);
    await fresh.call('PUT', `/api/detections/${record.id}`, { connectionId: fresh.id });
    expect(await delay(record.id)).toBe(0);
    const { detectionCadence, ...unscheduled } = detection;
    const { body: later } = await fresh.call('POST', '/api/detections', { ...unscheduled, connectionId: created.id });
    expect(await delay(later.id)).toBeUndefined();
    await fresh.call('PUT', `/api/detections/${later.id}`, { detectionCadence });
    expect(await delay(later.id)).toBe(3 * 60_000);
  });

  test('is validated and previewed with its own SIEM', async () => {
    const created = await create();
    const wrong = { ...detection, connectionId: created.id, detectionQuery: 'source=auth' };
    const response = await org.call('POST', '/api/detections?validate=true', wrong);
    expect([response.status, response.body.errors[0].code]).toEqual([422, 'window_missing']);
    const preview = {
      ...detection,
      connectionId: created.id,
      from: '2026-03-02T00:00:00Z',
      to: '2026-03-02T02:00:00Z',
    };
    const { status, body: result } = await org.call('POST', '/api/detections/preview', preview);
    expect(status).toBe(200);
    // The windows end five minutes before the hour, like those of runs. The SIEM of this test returns one row per window.
    expect(result.windows.map(({ to, rowsTotal }: { to: string; rowsTotal: number }) => [to.slice(11, 16), rowsTotal])).toEqual([['00:55', 1], ['01:55', 1], ['02:00', 1]]); // prettier-ignore
  });
});

test('returns 422 for ?validate=true and stores nothing if the SIEM does not respond in time', async () => {
  const fresh = await newOrg();
  await create({}, fresh);
  const signal = AbortSignal.timeout(200);
  const { checkQuery: original } = deps;
  deps.checkQuery = (orgId, selector, query) => checkQuery(deps, orgId, { selector, query }, signal);
  siem.answerWith('hang');
  try {
    const input = { ...detection, siemType: 'opensearch' };
    const response = await fresh.call('POST', '/api/detections?validate=true', input);
    expect(response.status).toBe(422);
    expect(response.body).toMatchObject({
      code: 'check_failed',
      errors: [{ pointer: '/detectionQuery', code: 'timeout', detail: 'The SIEM did not respond within 30 s.' }],
    });
  } finally {
    siem.answerWith(200);
    deps.checkQuery = original!;
  }
  expect((await fresh.call('GET', '/api/detections')).body.detections).toEqual([]);
});
