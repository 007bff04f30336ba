import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { hour, startRuns, type RunsTest } from '../../../../test/support/detection/scripted-runs.ts';
import type { DetectionCategory } from '../../analysis/registry.ts';
import { deleteDetection } from '../../detections/life-cycle.ts';
import { getDetection } from '../../detections/read-detections.ts';
import { SiemError, type QueryRow } from '../../siem/connector.ts';
import { getRuns } from '../read-runs.ts';

const testDb = await testDatabase();
const start = Date.UTC(2026, 2, 2);
const hourMs = 3_600_000;
const hoursMax = 6;
const recheckHours = 4;

/** `late` is the number of hours after the end of its window before a row can be found. */
type Late = { user: string; what: string; step: number; count: number; late: number };

/** The rows of a window that can be found by now, and those that could be found if none were late. */
function found(rows: Late[][], from: Date, now: Date | null): QueryRow[] {
  const n = (from.getTime() - start) / hourMs;
  return (rows[n] ?? []).flatMap(({ late, ...row }, i) =>
    now && now.getTime() < start + (n + 1 + late) * hourMs
      ? []
      : [{ ...row, _id: `${n}-${i}`, _time: new Date(from.getTime() + i * 60_000).toISOString() }],
  );
}

async function onEventTime(rows: Late[][]): Promise<RunsTest> {
  const t = await startRuns(
    testDb,
    ({ query, window }) => found(rows, window.from, query.includes('late') ? t.time.now : null),
    hour(0),
  );
  // Few enough earlier windows that the baseline completes in time on any machine.
  const firstEventAt = () => Promise.resolve(new Date(hour(-8)));
  Object.assign(t.siem, { clock: 'event', recheckMs: recheckHours * hourMs, firstEventAt });
  return t;
}

async function outcome(t: RunsTest, id: string): Promise<unknown> {
  const hits =
    await t.select`select h.entity, h.kind, h.severity, h.occurrences, array_agg(o.window_from order by o.window_from) as seen
      from hits h join hit_occurrences o on o.organization_id = h.organization_id and o.hit_id = h.id
      where h.detection_id = ${id} and h.status = 'open' group by h.id, h.entity, h.kind, h.severity, h.occurrences order by 1, 5, 2, 3`;
  const memory =
    await t.select`select window_from, key, entity, number, value from memory where detection_id = ${id} order by 1, 2, 3`;
  const coverage = await t.select`select covered_from, covered_to from coverage where detection_id = ${id}`;
  return { hits, memory, coverage };
}

const row = fc.record({
  user: fc.constantFrom('a', 'b'),
  what: fc.constantFrom('x', 'y', 'z'),
  step: fc.constantFrom(1, 2),
  count: fc.constantFrom(1, 2, 9, 40),
  late: fc.integer({ min: 0, max: recheckHours }),
});
const world = fc.array(fc.array(row, { maxLength: 3 }), { minLength: hoursMax, maxLength: hoursMax });

describe.each(['first_occurrence', 'baseline_anomaly', 'sequence_pattern', 'custom'] as const)(
  '%s on event time',
  (category: DetectionCategory) => {
    test('ends with the same memory and hits when rows arrive late but before the recheck', async () => {
      const property = fc.asyncProperty(world, async (rows) => {
        const t = await onEventTime(rows);
        const base = { detectionCategory: category, suppressionMinutes: 0 };
        const prompt = await t.newDetection({ ...base, detectionQuery: 'SELECT 2 AS step' });
        const late = await t.newDetection({ ...base, detectionQuery: 'SELECT 2 AS step -- late' });
        for (let n = 1; n <= hoursMax + recheckHours + 1; n++) await t.runAt(hour(n));
        expect(await outcome(t, late)).toEqual(await outcome(t, prompt));
        const open = await t.select`select 1 from rechecks where window_to <= ${hour(hoursMax)}`;
        expect(open).toEqual([]);
      });
      await fc.assert(property, { numRuns: 2 });
    });
  },
);

const event = { user: 'root', what: 'x', step: 1, count: 1 };

test('examines a window at its slot and once more, misses later rows, and reports the clock of runs', async () => {
  const t = await onEventTime([[{ ...event, late: recheckHours + 1 }], [{ ...event, user: 'eve', late: 3 }]]);
  const id = await t.newDetection({ detectionQuery: 'late' });
  for (let n = 1; n <= 12; n++) await t.runAt(hour(n));
  const asked = t.siem.requests.filter(({ window }) => window.from.toISOString() === hour(1));
  expect(asked).toHaveLength(2);
  expect(asked[1]!.window).toMatchObject({ clock: 'event', ingestedBefore: new Date(hour(2 + recheckHours)) });
  expect(await t.select`select entity, occurrences from hits`).toEqual([{ entity: 'eve', occurrences: 1 }]);
  const { runs } = await getRuns(t, t.caller, id, {});
  expect(new Set(runs.map(({ clock }) => clock))).toEqual(new Set(['event']));
  expect(runs.filter(({ trigger }) => trigger === 'backfill').map(({ windowFrom }) => windowFrom)).toContain(hour(1));
  expect(await getDetection(t.deps, t.caller, id)).toMatchObject({ runs30d: runs.length });
});

test('examines each window once without rechecks', async () => {
  const t = await onEventTime([]);
  delete t.siem.recheckMs;
  await t.newDetection();
  for (let n = 1; n <= 10; n++) await t.runAt(hour(n));
  expect(t.siem.requests).toHaveLength(10);
});

test('postpones a failing recheck longer each time, then abandons it, and skips deleted detections', async () => {
  const t = await onEventTime([]);
  const id = await t.newDetection();
  await t.runAt(hour(1));
  await t.select`update schedules set active = false returning 1`;
  const search = t.siem.search;
  t.siem.search = () => Promise.reject(new SiemError({ kind: 'x', blame: 'author', retryable: false, message: 'no' }));
  const waits: number[] = [];
  for (let minutes = 0; minutes < 10 * 60; minutes += 15) {
    const at = new Date(Date.parse(hour(1 + recheckHours)) + minutes * 60_000);
    if ((await t.runAt(at)) > 0) waits.push(minutes);
  }
  expect(waits).toEqual([0, 15, 45, 105, 225]);
  expect(await t.select`select 1 from rechecks`).toEqual([]);
  t.siem.search = search;
  await t.select`update schedules set active = true, next_slot_at = ${hour(31)} returning 1`;
  await t.runAt(hour(31));
  await deleteDetection(t.deps, t.caller, id);
  expect(await t.runAt(hour(60))).toBe(0);
});
