import type { Socket } from 'node:net';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { callOk } from '../../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { selectIn } from '../../../../test/support/select-rows.ts';
import { addressOf, openDb, type Db } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { localConnection } from '../../log-query/local-connection.ts';
import { claimPlacesAcrossOrgs, type ClaimedPlace } from '../../scheduling/claim-runs.store.ts';
import { enqueueDueRunsAcrossOrgs } from '../../scheduling/enqueue-runs.ts';
import type { SiemConnection } from '../../siem/connector.ts';
import { cancelRun } from '../request-run.ts';
import { operatorOf } from '../../../platform/http/caller.ts';
import { executeDueRuns } from './run-loops.ts';
import { executePlace, createLeaseKeeper, reapRuns } from './execute-place.ts';

const midnight = Date.parse('2026-03-02T00:00:00Z');
const hour = (n: number): Date => new Date(midnight + n * 3_600_000);
let now = hour(0);
const { deps, newOrg } = await startApp({ clock: () => now });
const { connectionFor } = deps;
// It renews nothing, so that it adds no statements.
const leaseKeeper = createLeaseKeeper(deps, 3_600_000);

afterEach(async () => {
  deps.connectionFor = connectionFor;
  await selectIn(deps.db)`delete from run_queue`;
  await selectIn(deps.db)`update schedules set active = false`;
});

const query = (n: number): string => `SELECT _id, _time, "user" FROM auth WHERE action = 'action ${n}'`;

/** Creates an organization with hourly detections, sends it events of the first hour that none of them finds, and queues the slot. */
async function startSlot(queries: readonly string[], events: object[] = []): Promise<TestOrg & { orgId: OrgId }> {
  const org = await newOrg();
  now = hour(0);
  await callOk(org, 'POST', '/api/logs/auth', [{ time: now, user: 'ann', action: 'none' }]);
  for (const [n, detectionQuery] of queries.entries())
    await callOk(org, 'POST', '/api/detections', {
      name: `rule ${n}`,
      detectionCategory: 'custom',
      systemPrompt: 'Judge it.',
      detectionQuery,
      entityField: 'user',
      detectionCadence: 'hourly',
      planningMode: 'never',
    });
  await dueAt(org, 1, events);
  return { ...org, orgId: org.id as OrgId };
}

async function dueAt(org: TestOrg, slot: number, events: object[] = []): Promise<void> {
  now = new Date(hour(slot).getTime() - 60_000);
  await callOk(org, 'POST', '/api/logs/auth', [
    { time: now, user: 'ann', action: 'none' },
    ...events.map((event) => ({ time: now, ...event })),
  ]);
  now = hour(slot);
  await enqueueDueRunsAcrossOrgs(deps.db, { now, spreadMs: 0, limit: 1000 });
}

const claim = async (batchMax = 100): Promise<ClaimedPlace> =>
  (await claimPlacesAcrossOrgs(deps.db, now, { limit: 1, batchMax }))[0]!;

const readRuns = ({ orgId }: { orgId: OrgId }) =>
  selectIn(deps.db, orgId)<{ status: string; attempt: number; n: number }>`
    select status, attempt, count(*)::int as n from runs group by 1, 2 order by 1, 2`;

/** Lets `before` happen before the queries of a batch are searched. */
function interruptBatch(before: () => Promise<unknown>): void {
  deps.connectionFor = async (...input) => {
    const connection: SiemConnection = await connectionFor(...input);
    const { searchTogether } = connection;
    return { ...connection, searchTogether: async (...request) => (await before(), searchTogether!(...request)) };
  };
}

/** Counts the statements of this process during `work`, besides those that begin and end transactions. */
async function countStatements(work: () => Promise<unknown>): Promise<number> {
  const texts: string[] = [];
  const original = pg.Client.prototype.query;
  pg.Client.prototype.query = function (this: pg.Client, ...input: unknown[]) {
    const [first] = input as [string | { text: string }];
    texts.push(typeof first === 'string' ? first : first.text);
    return (original as (...all: unknown[]) => unknown).apply(this, input);
  } as typeof original;
  try {
    await work();
  } finally {
    pg.Client.prototype.query = original;
  }
  return texts.filter((text) => !/^\s*(begin|commit|rollback)/.test(text)).length;
}

test.each([1, 30])('takes at most eight statements for %i runs that find nothing', async (count) => {
  const org = await startSlot(Array.from({ length: count }, (_, n) => query(n)));
  await executePlace(deps, leaseKeeper, await claim());
  await dueAt(org, 2);
  const statements = await countStatements(async () => executePlace(deps, leaseKeeper, await claim()));
  expect(statements).toBeLessThanOrEqual(8);
  expect(await readRuns(org)).toEqual([{ status: 'completed', attempt: 1, n: 2 * count }]);
});

test('a query that fails and one that finds something leave the batch, and the others complete in it', async () => {
  const failing = `SELECT _id, nonsense("user") AS x FROM auth`;
  const org = await startSlot([query(0), failing, query(1), query(2)], [{ user: 'bob', action: 'action 1' }]);
  expect(await executePlace(deps, leaseKeeper, await claim())).toBe(3);
  const waiting = await selectIn(deps.db, org.orgId)`select state, begun, attempt from run_queue`;
  expect(waiting).toEqual([{ state: 'queued', begun: true, attempt: 0 }]);
  expect(await claim()).toMatchObject({ isBatch: false });
  await selectIn(deps.db)`update run_queue set lease_until = clock_timestamp() - interval '1 s'`;
  await executeDueRuns(deps, now);
  expect(await readRuns(org)).toMatchObject([
    { status: 'completed', attempt: 1, n: 3 },
    { status: 'failed', n: 1 },
  ]);
  expect((await callOk(org, 'GET', '/api/hits')).hits).toMatchObject([{ entity: 'bob' }]);
});

test('runs of a lost batch are executed alone, and the late worker stores nothing', async () => {
  const org = await startSlot([query(0), query(1), query(2)]);
  let isLost = false;
  interruptBatch(async () => {
    if (isLost) return;
    isLost = true;
    await selectIn(deps.db)`update run_queue set lease_until = clock_timestamp() - interval '1 s'`;
    await reapRuns(deps);
    const places = await claimPlacesAcrossOrgs(deps.db, now, { limit: 2, batchMax: 100 });
    expect(places.map(({ isBatch, claims }) => [isBatch, claims.length])).toEqual([
      [false, 1],
      [false, 1],
    ]);
    for (const place of places) await executePlace(deps, leaseKeeper, place);
  });
  expect(await executePlace(deps, leaseKeeper, await claim())).toBe(0);
  expect(await readRuns(org)).toEqual([
    { status: 'completed', attempt: 2, n: 2 },
    { status: 'queued', attempt: 0, n: 1 },
  ]);
  await executeDueRuns(deps, now);
  expect(await readRuns(org)).toEqual([{ status: 'completed', attempt: 2, n: 3 }]);
  expect(await selectIn(deps.db, org.orgId)`select sum(runs)::int as n from run_days`).toEqual([{ n: 3 }]);
  expect(await selectIn(deps.db, org.orgId)`select count(*)::int as n from coverage`).toEqual([{ n: 3 }]);
});

test('a run that is cancelled while its batch is searched ends as cancelled', async () => {
  const org = await startSlot([query(0), query(1)]);
  const place = await claim();
  interruptBatch(() => cancelRun(deps, operatorOf(org.orgId), place.claims[0]!.runId));
  expect(await executePlace(deps, leaseKeeper, place)).toBe(1);
  deps.connectionFor = connectionFor;
  await executeDueRuns(deps, now);
  expect(await readRuns(org)).toMatchObject([
    { status: 'cancelled', n: 1 },
    { status: 'completed', n: 1 },
  ]);
});

test('a process that stops returns its batch to the queue as if nobody had claimed it', async () => {
  const org = await startSlot([query(0), query(1)]);
  const keeper = createLeaseKeeper(deps);
  interruptBatch(() => Promise.resolve(keeper.stopAll('shutdown')));
  expect(await executePlace(deps, keeper, await claim())).toBe(0);
  keeper.end();
  expect(await readRuns(org)).toEqual([{ status: 'queued', attempt: 0, n: 2 }]);
  deps.connectionFor = connectionFor;
  await executeDueRuns(deps, now);
  expect(await readRuns(org)).toEqual([{ status: 'completed', attempt: 1, n: 2 }]);
});

/**
 * Opens a pool of a process that ends when it is about to commit for the n-th time: it sends nothing any more, and no statement returns. `died` resolves
 * at that moment to the last statement.
 */
function openDyingDb(commit: number): { db: Db; died: Promise<string> } {
  const db = openDb(addressOf(deps.db));
  const { promise, resolve } = Promise.withResolvers<string>();
  let commits = 0;
  let last = '';
  const streams = new Set<Socket>();
  db.pool.on('connect', (client: pg.PoolClient) => {
    streams.add((client as unknown as { connection: { stream: Socket } }).connection.stream);
    const query = client.query.bind(client) as (...input: unknown[]) => unknown;
    client.query = ((...input: unknown[]) => {
      const [first] = input as [string | { text: string }];
      const text = typeof first === 'string' ? first : first.text;
      if (text.startsWith('commit')) commits += 1;
      if (commits < commit) {
        last = text;
        return query(...input);
      }
      for (const stream of streams) stream.destroy();
      resolve(last);
      return new Promise(() => undefined);
    }) as typeof client.query;
  });
  return { db, died: promise };
}

test('a process that dies before or after any commit of a batch loses nothing and stores nothing twice', async () => {
  const org = await startSlot([query(0), query(1), query(2)]);
  await executeDueRuns(deps, now);
  const steps: string[] = [];
  for (let slot = 2; steps.length === slot - 2; slot += 1) {
    await dueAt(org, slot, [{ user: `user ${slot}`, action: 'action 1' }]);
    const { db, died } = openDyingDb(slot - 1);
    const dying: typeof deps = {
      ...deps,
      db,
      connectionFor: () => Promise.resolve(localConnection({ ...deps, db }, org.orgId)),
    };
    const work = async (): Promise<undefined> => {
      const [place] = await claimPlacesAcrossOrgs(db, now, { limit: 1, batchMax: 100 });
      await executePlace(dying, leaseKeeper, place!);
    };
    const step = await Promise.race([died, work()]);
    if (step !== undefined) steps.push(step);
    // Another process takes over what the dead one had, as if its leases had ended.
    await selectIn(
      deps.db,
    )`update run_queue set lease_until = clock_timestamp() - interval '1 s' where state = 'running'`;
    await reapRuns(deps);
    await selectIn(deps.db)`update run_queue set retry_at = null`;
    await executeDueRuns(deps, now);
    const count = 3 * slot;
    const runs = await selectIn(deps.db, org.orgId)`select status, count(*)::int as n from runs group by 1`;
    expect([step, runs]).toEqual([step, [{ status: 'completed', n: count }]]);
    const [totals] = await selectIn(deps.db, org.orgId)`
      select (select sum(runs)::int from run_days) as days, (select count(*)::int from run_queue) as queued,
        (select count(*)::int from pending_windows) as pending, (select count(distinct covered_to)::int from coverage) as ends,
        (select count(*)::int from hits) as hits, (select sum(occurrences)::int from hits) as occurrences`;
    const hits = slot - 1;
    expect([step, totals]).toMatchObject([
      step,
      { days: count, queued: 0, pending: 0, ends: 1, hits, occurrences: hits },
    ]);
  }
  // From the claim to the last commit. Only a commit leaves another state behind than the one before it.
  expect(steps.length).toBeGreaterThan(6);
  expect(steps[0]).toContain('run_queue');
});

test('batches take turns between organizations, and each takes one place of its lane', async () => {
  const big = await startSlot(Array.from({ length: 12 }, (_, n) => query(n)));
  const small = await startSlot([query(0)]);
  await selectIn(deps.db)`update lanes set cap = 3`;
  const served: [boolean, number][] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const place = await claim(3);
    if (place) served.push([place.claims[0]!.orgId === small.orgId, place.claims.length]);
  }
  // Three batches fill the lane of the first organization. The second one does not wait for them.
  expect(served.filter(([isSmall]) => isSmall)).toEqual([[true, 1]]);
  expect(served.findIndex(([isSmall]) => isSmall)).toBeLessThanOrEqual(1);
  expect(served.filter(([isSmall]) => !isSmall)).toEqual([
    [false, 3],
    [false, 3],
    [false, 3],
  ]);
  expect(await selectIn(deps.db, big.orgId)`select count(*)::int as n from run_queue where state = 'queued'`).toEqual([
    { n: 3 },
  ]);
});
