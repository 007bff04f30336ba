import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import {
  hour,
  startRuns,
  type ScriptedSearch,
  type RunsTest,
} from '../../../../test/support/detection/scripted-runs.ts';
import { updateDetection } from '../../detections/update-detection.ts';
import { SiemError } from '../../siem/connector.ts';

const testDb = await testDatabase();

const remembered = (t: RunsTest) =>
  t.select<{
    n: number;
    from: Date;
    to: Date;
  }>`select count(*) as n, min(window_from) as "from", max(window_to) as "to" from memory_windows`;
const fills = (t: RunsTest) => t.siem.requests.filter(({ window }) => window.clock === 'event');
const daily: ScriptedSearch = ({ window }) => [
  { _id: window.from.toISOString(), user: 'ann', country: window.from.toISOString() === hour(0) ? 'KP' : 'DE' },
];

test('builds the baseline once, latest window first, from events ingested before the first window', async () => {
  const t = await startRuns(testDb, daily);
  await t.newDetection({ detectionCategory: 'first_occurrence' });
  await t.runAt(hour(1));
  expect(fills(t)).toHaveLength(200);
  expect(fills(t)[0]?.window).toEqual({
    from: new Date(hour(-1)),
    to: new Date(hour(0)),
    clock: 'event',
    ingestedBefore: new Date(hour(0)),
  });
  expect(fills(t)[199]?.window.from).toEqual(new Date(hour(-200)));
  expect(await remembered(t)).toEqual([{ n: 201, from: new Date(hour(-200)), to: new Date(hour(1)) }]);
  expect(await t.select`select entity, kind from hits`).toEqual([{ entity: 'ann', kind: 'first_occurrence' }]);
  await t.runAt(hour(2));
  expect(fills(t)).toHaveLength(200);
});

test('does not query before the first event, and learns below seven windows', async () => {
  const t = await startRuns(testDb, daily);
  t.siem.firstEventAt = () => Promise.resolve(new Date('2026-03-01T18:30:00Z'));
  await t.newDetection({ detectionCategory: 'first_occurrence' });
  await t.runAt(hour(1));
  expect(fills(t).map(({ window }) => window.from.toISOString())).toEqual([-1, -2, -3, -4, -5, -6].map(hour));
  expect(await t.select`select 1 from candidates`).toEqual([]);
  const [run] = await t.select<{ warnings: string; score: number | null }>`select warnings, score from runs`;
  expect(run?.warnings).toContain('learning');
  expect(run?.score).toBeNull();
  await t.runAt(hour(2));
  expect(await t.select`select 1 from candidates`).toEqual([]);
  await t.runAt(hour(3));
  const [third] = await t.select<{ warnings: string }>`select warnings from runs order by due_at desc limit 1`;
  expect(third?.warnings).not.toContain('learning');
});

test('reads seven windows for a weekly detection that compares with thirty days', async () => {
  const t = await startRuns(testDb, () => []);
  await t.newDetection({ detectionCategory: 'first_occurrence', detectionCadence: 'weekly' });
  const monday = Date.UTC(2026, 2, 9);
  await t.runAt(new Date(monday).toISOString());
  const weekMs = 7 * 24 * 3_600_000;
  expect(fills(t).map(({ window }) => window.to.getTime())).toEqual(
    [1, 2, 3, 4, 5, 6, 7].map((n) => monday - n * weekMs),
  );
});

test('continues a baseline that failed halfway', async () => {
  let calls = 0;
  const t = await startRuns(testDb, ({ window }) => {
    if (window.clock === 'event' && ++calls === 50) {
      throw new SiemError({ kind: 'unavailable', blame: 'upstream', retryable: true, message: 'gone' });
    }
    return [];
  });
  await t.newDetection({ detectionCategory: 'baseline_anomaly' });
  await t.tryAt(hour(1));
  const [half] = await remembered(t);
  expect(half?.n).toBe(40);
  await t.select`update run_queue set retry_at = null`;
  await t.runAt(hour(1));
  expect((await remembered(t))[0]?.n).toBe(201);
  expect(calls).toBe(50 + 160);
});

test('warns when time runs out and continues in the next run', async () => {
  const t = await startRuns(testDb, async ({ window }) => {
    if (window.clock === 'event') await setTimeout(10);
    return [];
  });
  await t.newDetection({ detectionCategory: 'baseline_anomaly' });
  t.deps.baselineMsMax = 50;
  await t.runAt(hour(1));
  const cut = fills(t).length;
  expect(cut).toBeLessThan(200);
  const warned = () => t.select<{ warnings: string }>`select warnings from runs order by due_at desc limit 1`;
  expect((await warned())[0]!.warnings).toContain(`${200 - cut} earlier windows`);
  delete t.deps.baselineMsMax;
  await t.runAt(hour(2));
  expect((await warned())[0]!.warnings).not.toContain('earlier windows');
  // No window is queried twice. The window of the first run is the latest of the 200.
  expect(fills(t)).toHaveLength(199);
  expect((await remembered(t))[0]!.n).toBe(201);
  await t.runAt(hour(3));
  expect(fills(t)).toHaveLength(199);
});

test('does not repeat a baseline from which nothing can be learned', async () => {
  const t = await startRuns(testDb, async ({ window }) => {
    if (window.clock === 'event') await setTimeout(10);
    return { truncated: window.clock === 'event' };
  });
  await t.newDetection({ detectionCategory: 'baseline_anomaly' });
  t.deps.baselineMsMax = 50;
  await t.runAt(hour(1));
  const asked = fills(t).length;
  await t.runAt(hour(2));
  expect([asked > 0, fills(t).length]).toEqual([true, asked]);
});

test('writes memory of empty windows, in scheduled runs only, per generation', async () => {
  const t = await startRuns(testDb, () => []);
  t.siem.firstEventAt = () => Promise.resolve(null);
  const id = await t.newDetection({ detectionCategory: 'first_occurrence' });
  await t.runAt(hour(1));
  expect(await remembered(t)).toMatchObject([{ n: 1 }]);
  await updateDetection(t.deps, t.caller, { id, input: { detectionQuery: 'another question' } });
  await t.runAt(hour(2));
  expect(await t.select`select generation from memory_windows group by generation`).toHaveLength(2);
  expect(await t.select`select revision from runs order by due_at`).toEqual([{ revision: 1 }, { revision: 2 }]);
});
