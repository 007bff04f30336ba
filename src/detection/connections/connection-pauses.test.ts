import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { acrossOrgs, inOrg } from '../../platform/db/db.ts';
import { postDetection, queryOrg } from '../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { summarizeEvent } from '../../platform/notifications/chat-message.ts';
import { claimRunsAcrossOrgs } from '../scheduling/claim-runs.store.ts';
import { enqueueDueRunsAcrossOrgs } from '../scheduling/enqueue-runs.ts';
import { executeDueRuns } from '../runs/workers/run-loops.ts';
import { checkPausedConnections, pauseConnection } from './connection-pauses.ts';
import { startOpenSearch } from '../../../test/support/detection/siem/opensearch-stand-in.ts';

const base = Date.UTC(2026, 2, 2);
const hour = (n: number): Date => new Date(base + n * 3_600_000);
const time = { now: new Date(base + 1_800_000) };
const { deps, newOrg } = await startApp({
  clock: () => time.now,
  env: { TOCSIN_FETCH_ALLOW: '127.0.0.1', TOCSIN_LOG_LEVEL: 'fatal' },
});
const siem = await startOpenSearch();
const { signal } = new AbortController();

beforeEach(async () => {
  siem.answerWith(200);
  time.now = new Date(base + 1_800_000);
  await acrossOrgs(deps.db, async (tx) => {
    await sql`delete from run_queue`.execute(tx);
    await sql`update schedules set active = false`.execute(tx);
  });
});

const hourly = { detectionCategory: 'custom', detectionCadence: 'hourly' };

type Setup = { org: TestOrg; connectionId: string; ids: string[] };

/** Creates an organization with a connection and hourly detections that use it. */
async function createSetup(detections: number, changes: object = {}): Promise<Setup> {
  const org = await newOrg();
  const eventTypes = ['connection.paused', 'connection.resumed'];
  await org.call('POST', '/api/destinations', { kind: 'webhook', name: 'x', url: 'http://127.0.0.1:9/', eventTypes });
  const connection = await org.call('POST', '/api/connections', {
    kind: 'opensearch',
    name: 'Logs',
    settings: { url: siem.url },
    credentials: { user: 'soc', password: 'pw' },
    delayMinutes: 0,
    recheckMinutes: 0,
    ...changes,
  });
  const connectionId: string = connection.body.id;
  const ids: string[] = [];
  for (let n = 0; n < detections; n++) {
    const { id } = await postDetection(org, { ...hourly, detectionQuery: 'source=auth | where $window', connectionId });
    ids.push(id);
  }
  return { org, connectionId, ids };
}

const runAt = (n: number): Promise<number> => {
  time.now = hour(n);
  return executeDueRuns(deps, time.now);
};
const pauseOf = async ({ org, connectionId }: Setup) =>
  (await org.call('GET', `/api/connections/${connectionId}`)).body.pause;
const eventsOf = async ({ org }: Setup) => {
  const events = await queryOrg(deps, org, sql<{ body: string }>`select body from outbox order by id`);
  return events.map(({ body }) => summarizeEvent(JSON.parse(body)).headline);
};
const coverageOf = ({ org }: Setup) =>
  queryOrg(deps, org, sql`select covered_from as "from", covered_to as "to" from coverage`);
const checkDue = ({ org }: Setup) =>
  queryOrg(deps, org, sql`update connection_pauses set check_at = clock_timestamp()`);

test.each([
  ['an outage', null, 'unreachable'],
  ['rejected credentials', 401, 'credentials_refused'],
])('%s pauses the connection once, and its detections catch up after it recovers', async (_name, status, kind) => {
  const setup = await createSetup(3);
  await runAt(1);
  siem.answerWith(status);
  for (const n of [2, 3, 4]) await runAt(n);
  expect(await pauseOf(setup)).toMatchObject({ kind, since: hour(2).toISOString() });
  expect(await eventsOf(setup)).toEqual(['Connection paused: Logs']);
  const before = siem.requestCount();
  await runAt(5);
  expect(siem.requestCount()).toBe(before);
  expect(await checkPausedConnections(deps, signal)).toBe(0);
  await checkDue(setup);
  expect(await checkPausedConnections(deps, signal)).toBe(1);
  expect(await pauseOf(setup)).toMatchObject({ kind });
  siem.answerWith(200);
  await checkDue(setup);
  await checkPausedConnections(deps, signal);
  expect(await pauseOf(setup)).toBeNull();
  expect(await eventsOf(setup)).toEqual(['Connection paused: Logs', 'Connection resumed: Logs']);
  await runAt(5);
  expect(await coverageOf(setup)).toEqual(setup.ids.map(() => ({ from: hour(0), to: hour(5) })));
  const { detections } = (await setup.org.call('GET', '/api/detections')).body;
  expect(detections.map(({ enabled }: { enabled: boolean }) => enabled)).toEqual([true, true, true]);
});

test('checks paused connections concurrently, so that one that hangs does not delay the others', async () => {
  const hanging = await startOpenSearch();
  hanging.answerWith('hang');
  const [slow, healthy] = [await createSetup(0, { settings: { url: hanging.url } }), await createSetup(0)];
  const failure = { kind: 'unavailable', blame: 'upstream', retryable: true, message: 'down' } as const;
  for (const { org, connectionId } of [slow, healthy])
    await pauseConnection(deps, { orgId: org.id, connectionId }, failure, null);
  await acrossOrgs(deps.db, (tx) =>
    sql`update connection_pauses set check_at = now() - interval '1 minute'`.execute(tx),
  );
  const stop = new AbortController();
  const checked = checkPausedConnections(deps, AbortSignal.any([signal, stop.signal]));
  await expect.poll(() => pauseOf(healthy)).toBeNull();
  expect([hanging.requestCount(), hanging.openCount()]).toEqual([1, 1]);
  stop.abort();
  await checked;
  expect(await pauseOf(slow)).toMatchObject({ kind: 'unavailable' });
});

test('retries a throttled query without a pause while the SIEM responds to a ping', async () => {
  const setup = await createSetup(1);
  siem.answerWith(429, 'queries');
  time.now = hour(1);
  await executeDueRuns(deps, time.now, { skipWaiting: true });
  expect(await pauseOf(setup)).toBeNull();
  const { runs } = (await setup.org.call('GET', `/api/detections/${setup.ids[0]}/runs`)).body;
  expect(runs).toMatchObject([{ status: 'queued', attempt: 1, failure: { kind: 'throttled', retryable: true } }]);
});

test('stays paused for missing rights until the failed query would run', async () => {
  const setup = await createSetup(1);
  siem.answerWith(403, 'queries');
  await runAt(1);
  await checkDue(setup);
  await checkPausedConnections(deps, signal);
  expect(await pauseOf(setup)).toMatchObject({ kind: 'rights_missing' });
  expect(await eventsOf(setup)).toEqual(['Connection paused: Logs']);
});

test('a manual run queries a paused connection and reports its failure, and a successful check ends the pause', async () => {
  const setup = await createSetup(1);
  siem.answerWith(503);
  await runAt(1);
  const url = `/api/detections/${setup.ids[0]}`;
  const { runId } = (await setup.org.call('POST', `${url}/run`, {})).body;
  await executeDueRuns(deps, time.now);
  const run = (await setup.org.call('GET', `/api/runs/${runId}`)).body;
  expect(run).toMatchObject({ status: 'failed', failure: { kind: 'unavailable', blame: 'upstream' } });
  siem.answerWith(200);
  await setup.org.call('POST', `/api/connections/${setup.connectionId}/check`);
  expect(await pauseOf(setup)).toBeNull();
  await runAt(1);
  expect(await coverageOf(setup)).toEqual([{ from: hour(0), to: hour(1) }]);
});

test('limits concurrent runs per connection without limiting other runs', async () => {
  const setup = await createSetup(5, { places: 2 });
  await postDetection(setup.org, { ...hourly, detectionQuery: 'SELECT 1' });
  time.now = hour(1);
  await enqueueDueRunsAcrossOrgs(deps.db, { now: time.now, spreadMs: 0, limit: 100 });
  const first = await claimRunsAcrossOrgs(deps.db, time.now, 5);
  const second = await claimRunsAcrossOrgs(deps.db, time.now, 5);
  const claimed = [...first, ...second].map(({ detectionId }) => detectionId);
  expect(claimed.filter((id) => setup.ids.includes(id))).toHaveLength(2);
  expect(claimed).toHaveLength(3);
});

test('many runs waiting for a paused connection do not slow down claims', async () => {
  const setup = await createSetup(1);
  siem.answerWith(401);
  await runAt(1);
  const queueRuns = (count: number) =>
    inOrg(deps.db, setup.org.id, (tx) =>
      sql`insert into run_queue (organization_id, run_id, detection_id, kind, due_at, start_at, begun, connection_id)
        select ${setup.org.id}, gen_random_uuid(), ${setup.ids[0]}, 'schedule', ${hour(1)}, ${hour(1)}, true, ${setup.connectionId}::uuid
        from generate_series(1, ${count})`.execute(tx),
    );
  const claimMs = async (): Promise<number> => {
    const began = performance.now();
    expect(await claimRunsAcrossOrgs(deps.db, hour(2), 2)).toEqual([]);
    return performance.now() - began;
  };
  await queueRuns(2_500);
  const fewMs = Math.min(await claimMs(), await claimMs(), await claimMs());
  await queueRuns(17_500);
  // Eight times as many take at most eight times as long. If each looked at the others, they would take 64 times as long.
  await expect.poll(async () => (await claimMs()) / fewMs).toBeLessThan(24);
});
