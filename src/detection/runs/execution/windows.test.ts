import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { hour, startRuns, type RunsTest } from '../../../../test/support/detection/scripted-runs.ts';
import { updateDetection } from '../../detections/update-detection.ts';

const testDb = await testDatabase();

type Shown = { status: string; status_reason: string | null; slot_at: Date; windows: string; window_from: Date };
const runsOf = (t: RunsTest) =>
  t.select<Shown>`select status, status_reason, slot_at, windows, window_from from runs order by slot_at`;
const gapsOf = (t: RunsTest) =>
  t.select<{
    from: Date;
    to: Date;
    reason: string;
  }>`select gap_from as "from", gap_to as "to", reason from gaps order by gap_from`;
const coverageOf = (t: RunsTest) =>
  t.select`select covered_from as "from", covered_to as "to" from coverage order by covered_from`;
const asked = (t: RunsTest) =>
  t.siem.requests.map(({ window }) => `${window.from.toISOString()} ${window.to.toISOString()}`);

test('creates a run for every missed slot after downtime, and examines each window separately in the latest one', async () => {
  const t = await startRuns(testDb, () => []);
  await t.newDetection();
  await t.runAt(hour(5));
  const runs = await runsOf(t);
  expect(runs.map((run) => [run.slot_at.toISOString(), run.status, run.status_reason])).toEqual([
    ...[1, 2, 3, 4].map((n) => [hour(n), 'cancelled', 'superseded']),
    [hour(5), 'completed', null],
  ]);
  expect(asked(t)).toEqual([0, 1, 2, 3, 4].map((n) => `${hour(n)} ${hour(n + 1)}`));
  expect(runs[4]?.window_from).toEqual(new Date(hour(0)));
  expect(await coverageOf(t)).toEqual([{ from: new Date(hour(0)), to: new Date(hour(5)) }]);
});

test('examines 24 windows per claim and continues without counting an attempt', async () => {
  const t = await startRuns(testDb, () => []);
  await t.newDetection({ lookbackMinutes: 100 * 60 });
  expect(await t.runAt(hour(60))).toBe(3);
  const [run] = await t.select<{
    attempt: number;
    windows: string;
  }>`select attempt, windows from runs where status = 'completed'`;
  expect(run?.attempt).toBe(1);
  expect(JSON.parse(run!.windows)).toHaveLength(60);
  expect(await coverageOf(t)).toEqual([{ from: new Date(hour(0)), to: new Date(hour(60)) }]);
});

test('turns time beyond the look-back into one gap without querying it', async () => {
  const t = await startRuns(testDb, () => []);
  await t.newDetection();
  await t.runAt(hour(40));
  expect(await gapsOf(t)).toEqual([{ from: new Date(hour(0)), to: new Date(hour(15)), reason: 'late' }]);
  expect(asked(t)[0]).toBe(`${hour(15)} ${hour(16)}`);
  expect(await coverageOf(t)).toEqual([{ from: new Date(hour(15)), to: new Date(hour(40)) }]);
});

test('plans the rest of many due slots in the next pass', async () => {
  const t = await startRuns(testDb, () => []);
  await t.newDetection({ lookbackMinutes: 48 * 60 });
  await t.runAt(hour(700));
  const [count] =
    await t.select`select count(*) as runs, count(distinct slot_at) as slots, count(*) filter (where status = 'completed') as completed from runs`;
  expect(count).toEqual({ runs: 700, slots: 700, completed: 1 });
  expect(await gapsOf(t)).toEqual([{ from: new Date(hour(0)), to: new Date(hour(651)), reason: 'late' }]);
});

test('stores a gap and candidates but no memory for a truncated window', async () => {
  const t = await startRuns(testDb, ({ window }) =>
    window.from.toISOString() === hour(0)
      ? { rows: [{ _id: 'a', user: 'root' }], total: 250_000, truncated: true }
      : [],
  );
  await t.newDetection({ detectionCategory: 'first_occurrence' });
  await t.runAt(hour(1));
  await t.runAt(hour(2));
  expect(await gapsOf(t)).toEqual([{ from: new Date(hour(0)), to: new Date(hour(1)), reason: 'truncated' }]);
  expect(await coverageOf(t)).toEqual([{ from: new Date(hour(1)), to: new Date(hour(2)) }]);
  expect(await t.select`select window_from from memory_windows where window_from >= ${hour(0)}`).toEqual([
    { window_from: new Date(hour(1)) },
  ]);
  const [run] = await t.select<{
    truncated: boolean;
    rows_total: number;
    warnings: string;
  }>`select truncated, rows_total, warnings from runs order by slot_at`;
  expect(run).toMatchObject({ truncated: true, rows_total: 250_000 });
  expect(run?.warnings).toContain('truncated');
});

test('stores disabled time as a gap, and continues the timeline under a new cron schedule', async () => {
  const t = await startRuns(testDb, () => []);
  const id = await t.newDetection();
  await t.runAt(hour(1));
  t.time.now = new Date('2026-03-02T01:20:00Z');
  await updateDetection(t.deps, t.caller, { id, input: { enabled: false } });
  expect(await t.runAt(hour(4))).toBe(0);
  t.time.now = new Date('2026-03-02T05:20:00Z');
  await updateDetection(t.deps, t.caller, { id, input: { enabled: true, customCronSchedule: '30 * * * *' } });
  await t.runAt('2026-03-02T05:30:00Z');
  expect(await gapsOf(t)).toEqual([
    { from: new Date(hour(1)), to: new Date('2026-03-02T04:30:00Z'), reason: 'disabled' },
  ]);
  expect(asked(t).at(-1)).toBe('2026-03-02T04:30:00.000Z 2026-03-02T05:30:00.000Z');
  await updateDetection(t.deps, t.caller, { id, input: { customCronSchedule: '0 */6 * * *' } });
  await t.runAt(hour(6));
  expect(asked(t).at(-1)).toBe('2026-03-02T05:30:00.000Z 2026-03-02T06:00:00.000Z');
});

test('stores nothing for a window that passed the look-back limit during its examination', async () => {
  const t = await startRuns(testDb, async ({ window }) => {
    if (window.from.toISOString() === hour(0))
      await t.select`delete from pending_windows where window_from = ${hour(0)}`;
    return [{ _id: 'a', user: 'root' }];
  });
  await t.newDetection();
  await t.runAt(hour(2));
  expect(await t.select`select window_from from candidates`).toEqual([{ window_from: new Date(hour(1)) }]);
  expect(await coverageOf(t)).toEqual([{ from: new Date(hour(1)), to: new Date(hour(2)) }]);
});
