import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { startApp } from '../../../test/support/harness.ts';
import { startDelayProxy } from '../../../test/support/models/delay-proxy.ts';
import { callerOf } from '../../../test/support/org-requests.ts';
import { executeDueRuns } from '../runs/workers/run-loops.ts';

const now = new Date('2030-01-07T12:00:00Z');
const { deps, newOrg } = await startApp({ clock: () => now, env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
const { url } = await testDatabase();
// A connection needs a host and a port, but the test server listens on a socket only.
const proxy = await startDelayProxy(url);
const user = `reader_${proxy.pathname.slice(6)}`;
const id = 'recovery-inhibited';
const settings = {
  host: proxy.hostname,
  port: Number(proxy.port),
  database: proxy.pathname.slice(1),
  user,
  tls: 'off',
  timeColumn: 'ts',
};
const connection = { kind: 'postgres', name: 'Audit', credentials: { password: 'pw' }, settings };

const client = new pg.Client({ connectionString: url });
await client.connect();
await client.query(`create role ${user} login password 'pw'; grant usage on schema public to ${user}`);
afterAll(() => client.end());

test('a shipped detection is installed on a SIEM, checked there, tested, run, and finds the event', async () => {
  await client.query(`
    create table winlogs (_id text, ts timestamptz, "Computer" text, "User" text, "CommandLine" text);
    insert into winlogs values
      ('a', '2030-01-07T11:20:00Z', 'FS-01', 'ada', 'vssadmin delete shadows /all'),
      ('b', '2030-01-07T11:30:00Z', 'BK-01', 'ben', 'vssadmin list shadows'),
      ('c', '2030-01-07T13:00:00Z', 'FS-02', 'ada', 'vssadmin delete shadows /all');
    grant select on winlogs to ${user}`);
  const org = await newOrg();
  const call = callerOf(org);
  const { id: connectionId } = await call('POST', '/api/connections', connection);
  const install = async () =>
    (await call('POST', '/api/detections/library/install', { ids: [id], connectionId })).results[0];

  expect(await install()).toMatchObject({
    outcome: 'failed',
    detail: 'The setting datasets of the connection does not say where windows is.',
  });
  const datasets = { windows: { source: 'winlogs' } };
  await call('PUT', `/api/connections/${connectionId}`, { settings: { ...settings, datasets } });
  const { outcome, detectionId } = await install();
  expect(outcome).toBe('installed');
  const detection = await call('GET', `/api/detections/${detectionId}`);
  expect(detection).toMatchObject({ connectionId, detectionQuery: expect.stringMatching(/^-- portable\nSELECT/) });

  const tests = await call('POST', `/api/detections/${detectionId}/tests/run`);
  expect(tests).toMatchObject({ passed: true, queryTested: true });
  const window = { from: '2030-01-07T11:00:00Z', to: '2030-01-07T12:00:00Z' };
  await call('POST', `/api/detections/${detectionId}/run`, window);
  await executeDueRuns(deps, now, { skipWaiting: true });
  const { runs } = await call('GET', `/api/detections/${detectionId}/runs`);
  expect(runs[0]).toMatchObject({ status: 'completed' });
  const { hits } = await call('GET', '/api/hits');
  expect(hits.map(({ entity }: { entity: string }) => entity)).toEqual(['FS-01']);
  expect(JSON.stringify(await call('GET', `/api/hits/${hits[0].id}`))).toContain('vssadmin delete shadows /all');

  const generated = await call('POST', '/api/detections/generate', { intent: 'T1490', siemType: 'postgres' });
  expect(generated).toMatchObject({
    siemType: 'postgres',
    basedOn: { kind: 'shipped', id },
    detectionQuery: expect.stringMatching(/^-- portable\nSELECT/),
    estimate: { complete: true },
  });
});

test.each([
  ['its own language', 'account', `SELECT _id, ts AS _time, account, ip FROM auth WHERE $window AND account = 'eve'`],
  [
    'a portable query',
    'user',
    `-- portable\nSELECT _id, _time, account AS "user", ip FROM signins WHERE account = 'eve'`,
  ],
])(
  'the built-in analyst asks its questions on a SIEM, of a detection in %s',
  async (_language, entityField, detectionQuery) => {
    await client.query(`
    drop table if exists auth; create table auth (_id text, ts timestamptz, account text, ip text, action text);
    insert into auth values
      ('a', '2030-01-06T09:00:00Z', 'ada', '203.0.113.9', 'login'), ('b', '2030-01-06T10:00:00Z', 'bob', '203.0.113.9', 'login'),
      ('c', '2030-01-07T11:20:00Z', 'eve', '203.0.113.9', 'login'), ('d', '2030-01-05T11:00:00Z', 'eve', '203.0.113.1', 'login');
    grant select on auth to ${user}`);
    const call = callerOf(await newOrg());
    const datasets = { signins: { source: 'auth' } };
    const { id: connectionId } = await call('POST', '/api/connections', {
      ...connection,
      settings: { ...settings, datasets },
    });
    const detection = { name: 'Eve', detectionCategory: 'custom', systemPrompt: 'Look.', detectionQuery, connectionId };
    const { id: detectionId } = await call('POST', '/api/detections', { ...detection, entityField });
    await call('POST', `/api/detections/${detectionId}/run`, {
      from: '2030-01-07T11:00:00Z',
      to: '2030-01-07T12:00:00Z',
    });
    await executeDueRuns(deps, now, { skipWaiting: true });
    const { hits } = await call('GET', '/api/hits');
    const { claims } = await call('GET', `/api/hits/${hits[0].id}`);
    const found = claims.map(({ text }: { text: string }) => text).slice(2);
    expect(found).toEqual([
      'In the week before, ip “203.0.113.9” also occurs with these accounts: “ada” and “bob”.',
      `The first events of ${entityField} “eve” in the week before are of 2030-01-05 06:00 UTC or soon after.`,
      'No item of the threat feed contains “203.0.113.9”.',
    ]);
    const { observations } = await call('GET', `/api/hits/${hits[0].id}/evidence`);
    const tools = observations.map(({ tool }: { tool: string }) => tool);
    expect(tools).toEqual(['detection', 'count_by', 'count_by', 'lookup_indicator']);
  },
);
