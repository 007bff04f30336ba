import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { hour, startRuns, type RunsTest, type ScriptedSearch } from '../../../test/support/detection/scripted-runs.ts';
import type { DetectionCategory } from '../analysis/registry.ts';
import { SiemError, type QueryRow } from '../siem/connector.ts';
import { estimateBackfill, requestBackfill } from './request-run.ts';
import { getGaps } from './read-runs.ts';

const testDb = await testDatabase();
const start = Date.UTC(2026, 2, 2);
const hoursMax = 9;

const event = fc.record({
  user: fc.constantFrom('a', 'b'),
  what: fc.constantFrom('x', 'y', 'z'),
  step: fc.constantFrom(1, 2),
  count: fc.constantFrom(1, 2, 9, 40),
});
const world = fc.record({
  rows: fc.array(fc.array(event, { maxLength: 3 }), { minLength: hoursMax, maxLength: hoursMax }),
  off: fc.integer({ min: 1, max: 4 }),
  away: fc.integer({ min: 1, max: 4 }),
  split: fc.boolean(),
});

/** The results of a detection: its open hits with their windows, and its memory. */
async function outcome(t: RunsTest, id: string): Promise<unknown> {
  const hits =
    await t.select`select h.entity, h.kind, h.severity, h.occurrences, h.facts::json->>'newValues' as new_values, array_agg(o.window_from order by o.window_from) as seen
      from hits h join hit_occurrences o on o.organization_id = h.organization_id and o.hit_id = h.id
      where h.detection_id = ${id} and h.status = 'open' group by h.id, h.entity, h.kind, h.severity, h.occurrences, h.facts order by 1, 6, 2, 3`;
  const memory =
    await t.select`select window_from, key, entity, number, value from memory where detection_id = ${id} order by 1, 2, 3`;
  const coverage = await t.select`select covered_from, covered_to from coverage where detection_id = ${id} order by 1`;
  return { hits, memory, coverage };
}

const queries: Partial<Record<DetectionCategory, string>> = { sequence_pattern: 'SELECT 2 AS step' };

// The hit of hour 6 has the key of a hit that hour 1 creates once it is filled.
const first: World['rows'][number][number] = { user: 'a', what: 'x', step: 1, count: 1 };
const sameHitTwice = {
  rows: Array.from({ length: hoursMax }, (_, n) =>
    n === 1 || n === 6 ? [first] : n === 5 ? [{ ...first, what: 'y' }] : [],
  ),
  off: 1,
  away: 1,
  split: false,
};

type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

/** One detection examines every hour in time. The other misses some, and a backfill fills them later. */
async function missAndFill(
  { rows, off, away, split }: World,
  category: DetectionCategory,
  suppressionMinutes: number,
  trouble?: (t: RunsTest, from: Date) => Promise<void>,
): Promise<{ t: RunsTest; whole: string; holed: string }> {
  let isFilling = false;
  const t = await startRuns(
    testDb,
    async ({ window }) => {
      if (isFilling) await trouble?.(t, window.from);
      return rowsOf(rows, window.from);
    },
    hour(0),
  );
  // Few enough earlier windows that the baseline completes in time on any machine.
  t.siem.firstEventAt = () => Promise.resolve(new Date(hour(-8)));
  const detectionQuery = queries[category] ?? 'logins';
  const input = { detectionCategory: category, detectionQuery, suppressionMinutes };
  const whole = await t.newDetection(input);
  const holed = await t.newDetection(input);
  for (let n = 1; n <= hoursMax; n++) {
    await t.runAt(hour(n));
    if (n === off) await t.setEnabled(holed, false);
    if (n === off + away) await t.setEnabled(holed, true);
  }
  isFilling = true;
  const cut = split && away > 1 ? off + 1 : off;
  // The later part first, so that each part also affects the other.
  const parts = cut > off ? [[cut, off + away] as const, [off, cut] as const] : [[off, off + away] as const];
  for (const [from, to] of parts) {
    await requestBackfill(t.deps, t.caller, holed, { from: hour(from), to: hour(to) });
    await t.runAt(hour(hoursMax));
  }
  // The next scenario starts at the same hour in the same database.
  await t.select`update schedules set active = false returning 1`;
  return { t, whole, holed };
}

describe.each(['first_occurrence', 'baseline_anomaly', 'sequence_pattern', 'custom'] as const)('%s', (category) => {
  test('ends with the same memory and hits when missed time is filled later', async () => {
    const property = fc.asyncProperty(world, async (given) => {
      const { t, whole, holed } = await missAndFill(given, category, 0);
      expect(await outcome(t, holed)).toEqual(await outcome(t, whole));
      const gaps = await t.select<{ state: string }>`select state from gaps where detection_id = ${holed}`;
      expect(new Set(gaps.map(({ state }) => state))).toEqual(new Set(['filled']));
    });
    await fc.assert(property, { numRuns: 2, examples: [[sameHitTwice]] });
  });

  test('sees each entity in the same windows with suppression, even if hits are split differently', async () => {
    const property = fc.asyncProperty(world, async (given) => {
      const { t, whole, holed } = await missAndFill(given, category, 180);
      expect(await seen(t, holed)).toEqual(await seen(t, whole));
    });
    await fc.assert(property, { numRuns: 1 });
  });
});

/** The windows in which each entity was seen, over all hits. */
function seen(t: RunsTest, id: string): Promise<unknown[]> {
  return t.select`select distinct h.entity, o.window_from from hits h join hit_occurrences o on o.organization_id = h.organization_id and o.hit_id = h.id
      where h.detection_id = ${id} and h.status = 'open' order by 1, 2`;
}

function rowsOf(rows: QueryRow[][], from: Date): QueryRow[] {
  const n = (from.getTime() - start) / 3_600_000;
  return (rows[n] ?? []).map((row, i) => ({
    ...row,
    _id: `${n}-${i}`,
    _time: new Date(from.getTime() + i * 60_000).toISOString(),
  }));
}

/** Starts runs of a detection that is disabled between two hours, and runs an hour later if `runsAfter`. */
async function withGap(search: ScriptedSearch, { to, runsAfter = false }: { to: number; runsAfter?: boolean }) {
  const t = await startRuns(testDb, search, hour(0));
  const id = await t.newDetection({ suppressionMinutes: 0 });
  await t.runAt(hour(1));
  await t.setEnabled(id, false);
  await t.runAt(hour(to));
  await t.setEnabled(id, true);
  if (runsAfter) await t.runAt(hour(to + 1));
  return {
    t,
    id,
    fill: (from: number, until: number) => requestBackfill(t.deps, t.caller, id, { from: hour(from), to: hour(until) }),
  };
}
const rootRow = (window: { from: Date }) => [{ _id: window.from.toISOString(), user: 'root', what: 'x' }];

test('fills part of a gap in whole windows over several claims and leaves the rest open', async () => {
  const { t, id, fill } = await withGap(({ window }) => rootRow(window), { to: 40, runsAfter: true });
  const asked = { from: hour(2.5), to: hour(33.5) };
  const estimate = await estimateBackfill(t.deps, t.caller, id, asked);
  expect(estimate).toMatchObject({ runId: null, windows: 32, gaps: [{ from: hour(2), to: hour(34) }] });
  expect(estimate.estimate).toMatchObject({ rows: 32, candidates: 32, costUsd: 0 });
  expect(await t.select`select 1 from runs where trigger = 'backfill'`).toEqual([]);
  const { runId } = await fill(2.5, 33.5);
  await expect(fill(34, 40)).rejects.toThrow('in progress');
  const states = async () => (await getGaps(t, t.caller, id, {})).gaps.map(({ from, to, state }) => [from, to, state]);
  expect(await states()).toEqual([
    [hour(34), hour(40), 'open'],
    [hour(2), hour(34), 'filling'],
    [hour(1), hour(2), 'open'],
  ]);
  expect(await t.runAt(hour(41))).toBe(2);
  expect((await states())[1]).toEqual([hour(2), hour(34), 'filled']);
  const [run] = await t.select<Record<string, unknown>>`select * from runs where id = ${runId}`;
  expect(run).toMatchObject({ status: 'completed', hit_count: 32, rows_total: 32, attempt: 1 });
  await expect(fill(2.5, 33.5)).rejects.toThrow('no open gap');
});

test('leaves filled windows filled and the rest open when a backfill fails halfway', async () => {
  let broken = false;
  const { t, fill } = await withGap(
    ({ window }) => {
      if (broken && window.from.toISOString() === hour(3)) throw new Error('the SIEM fell over');
      return rootRow(window);
    },
    { to: 6 },
  );
  broken = true;
  const { runId } = await fill(1, 6);
  await t.select`update run_queue set retries = 5 returning 1`;
  await t.runAt(hour(6));
  const gaps = await t.select`select gap_from, gap_to, state, run_id from gaps order by 1`;
  expect(gaps).toMatchObject([
    { gap_from: new Date(hour(1)), gap_to: new Date(hour(3)), state: 'filled' },
    { gap_from: new Date(hour(3)), gap_to: new Date(hour(6)), state: 'open', run_id: null },
  ]);
  expect(await t.select`select status from runs where id = ${runId}`).toEqual([{ status: 'failed' }]);
  broken = false;
  await fill(1, 6);
  await t.runAt(hour(6));
  expect(await t.select`select covered_from, covered_to from coverage`).toEqual([
    { covered_from: new Date(hour(0)), covered_to: new Date(hour(6)) },
  ]);
});

// The window of hour 5 is unusual only once hours 2 to 4 are known.
const quietGap: World = {
  rows: [[{ ...first, count: 40 }], [], [], [], [{ ...first, count: 9 }], [{ ...first, count: 40 }]],
  off: 2,
  away: 3,
  split: false,
};

/** As `missAndFill`, with `trouble` at each window that the backfill asks for. */
function fillWith(trouble: (t: RunsTest, from: Date) => Promise<void>) {
  return missAndFill(quietGap, 'baseline_anomaly', 0, trouble);
}

test('ends with the same hits when a backfill loses its worker at each window', async () => {
  const lost = new Set<string>();
  const { t, whole, holed } = await fillWith(async (runs, from) => {
    if (lost.has(from.toISOString())) return;
    lost.add(from.toISOString());
    // The third loss in total would fail the run.
    await runs.select`update run_queue set lost = 0, worker = 'gone', lease_until = clock_timestamp() returning 1`;
  });
  expect([...lost].toSorted()).toEqual([2, 3, 4, 5, 6, 7, 8].map(hour));
  expect(await outcome(t, holed)).toEqual(await outcome(t, whole));
  expect(await seen(t, whole)).toContainEqual({ entity: 'a', window_from: new Date(hour(5)) });
});

test('rechecks the windows that a failed backfill did not revisit', async () => {
  let failed = false;
  const { t, whole, holed } = await fillWith((_runs, from) => {
    if (failed || from.toISOString() !== hour(5)) return Promise.resolve();
    failed = true;
    throw new SiemError({ kind: 'x', blame: 'author', retryable: false, message: 'no' });
  });
  expect(await seen(t, holed)).not.toEqual(await seen(t, whole));
  await t.runAt(hour(hoursMax + 0.2));
  expect(await seen(t, holed)).not.toEqual(await seen(t, whole));
  await t.runAt(hour(hoursMax + 0.25));
  expect(await outcome(t, holed)).toEqual(await outcome(t, whole));
  expect(await t.select`select 1 from revisits union all select 1 from rechecks`).toEqual([]);
});

test('keeps a truncated window as a separate gap', async () => {
  const { t, fill } = await withGap(({ window }) => ({ rows: [], truncated: window.from.toISOString() === hour(2) }), {
    to: 4,
  });
  await fill(1, 4);
  await t.runAt(hour(4));
  expect(await t.select`select gap_from, state, reason from gaps order by 1`).toEqual([
    { gap_from: new Date(hour(1)), state: 'filled', reason: 'disabled' },
    { gap_from: new Date(hour(2)), state: 'open', reason: 'truncated' },
    { gap_from: new Date(hour(3)), state: 'filled', reason: 'disabled' },
  ]);
});
