import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startLogStore } from '../../../test/support/detection/log-store.ts';
import { selectIn } from '../../../test/support/select-rows.ts';
import { inOrg } from '../../platform/db/db.ts';
import type { QueryWindow } from '../siem/connector.ts';
import { sealDatasets } from '../log-store/catalog/catalog.store.ts';
import { listSegments } from '../log-store/segments.store.ts';
import { windowFilter } from '../log-query/search/window-scans.ts';
import { publishBatch } from './publish-batch.ts';
import { receiveLogs } from './receive-logs.ts';

const store = await startLogStore();

/** Returns the IDs of the batches in a window, after sealing it as a search does. */
async function batchesIn(org: Awaited<ReturnType<typeof store.newOrg>>, window: QueryWindow): Promise<string[]> {
  await inOrg(store.deps.db, org, (tx) => sealDatasets(tx, org, ['auth'], window.to));
  const segments = await inOrg(store.deps.db, org, (tx) => listSegments(tx, org, ['auth'], windowFilter(window)));
  return segments.map((segment) => segment.id);
}

const delays = fc.record({
  publishers: fc.array(
    fc.record({
      afterMs: fc.integer({ min: 0, max: 60 }),
      holdMs: fc.integer({ min: 0, max: 30 }),
      clockMs: fc.integer({ min: -500, max: 500 }),
    }),
    {
      minLength: 1,
      maxLength: 10,
    },
  ),
  closings: fc.array(fc.integer({ min: 0, max: 25 }), { minLength: 1, maxLength: 6 }),
});

test('every event is in exactly one window, however publishing and sealing interleave', async () => {
  await fc.assert(
    fc.asyncProperty(delays, async ({ publishers, closings }) => {
      const org = await store.newOrg();
      const base = Date.UTC(2024, 0, 1);
      let n = 0;
      const published = publishers.map(async ({ afterMs, holdMs, clockMs }) => {
        await sleep(afterMs);
        // Publishers take the lock after varying delays and have different clocks.
        const clock = new Date(base + afterMs * 10 + clockMs);
        const deps = { ...store.deps, clock: () => clock };
        const body = Buffer.from(JSON.stringify({ n: (n += 1), pad: 'x'.repeat(holdMs * 1000) }));
        return (await receiveLogs(deps, org, { dataset: 'auth', body })).batchId;
      });
      const windows: string[][] = [];
      let from = new Date(base - 600);
      for (const waitMs of closings) {
        await sleep(waitMs);
        const to = new Date(from.getTime() + 100 + waitMs * 20);
        windows.push(await batchesIn(org, { from, to, clock: 'ingest' }));
        from = to;
      }
      const ids = await Promise.all(published);
      windows.push(await batchesIn(org, { from, to: new Date(base + 1_000_000), clock: 'ingest' }));
      expect(windows.flat().toSorted()).toEqual(ids.toSorted());
      // A second query of a window returns the same batches.
      let start = new Date(base - 600);
      for (const [index, waitMs] of closings.entries()) {
        const to = new Date(start.getTime() + 100 + waitMs * 20);
        expect(await batchesIn(org, { from: start, to, clock: 'ingest' })).toEqual(windows[index]);
        start = to;
      }
    }),
    { numRuns: 25 },
  );
});

test('sealing waits for a batch in progress and moves later batches behind the sealed time', async () => {
  const org = await store.newOrg();
  store.at('2024-06-01T00:00:00Z');
  await store.send(org, 'auth', [{ n: 1 }]);
  const until = new Date('2024-06-01T05:00:00Z');
  let isSealed = false;
  const { db } = store.deps;
  await inOrg(db, org, async (tx) => {
    const file = { path: 'auth/x.events', rows: 1, bytes: 1, timeFromMs: 0, timeToMs: 0, sha256: null };
    const batch = {
      id: '01900000-0000-7000-8000-000000000000',
      dataset: 'auth',
      history: false,
      bodyHash: Buffer.from('x'),
      file,
      observed: [],
      rejected: 0,
      now: new Date('2024-06-01T01:00:00Z'),
    };
    await publishBatch(tx, { orgId: org, logCatalogs: store.deps.logCatalogs }, batch);
    const seal = inOrg(db, org, (other) => sealDatasets(other, org, ['auth'], until)).then(() => (isSealed = true));
    // It waits for this transaction.
    const select = selectIn(db);
    await expect
      .poll(
        () => select`
          select from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()`,
      )
      .not.toEqual([]);
    expect(isSealed).toBe(false);
    void seal;
  });
  await expect.poll(() => isSealed).toBe(true);
  const window: QueryWindow = { from: new Date('2024-06-01T00:00:00Z'), to: until, clock: 'ingest' };
  expect(await batchesIn(org, window)).toHaveLength(2);
  store.at('2024-06-01T02:00:00Z');
  const late = await store.send(org, 'auth', [{ n: 2 }]);
  expect(await batchesIn(org, window)).toHaveLength(2);
  expect(await batchesIn(org, { ...window, from: until, to: new Date('2024-06-01T06:00:00Z') })).toEqual([
    late.batchId,
  ]);
});
