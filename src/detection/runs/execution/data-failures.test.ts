import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { hour, startRuns } from '../../../../test/support/detection/scripted-runs.ts';
import { getDetection } from '../../detections/read-detections.ts';
import { SiemError, type SiemFailure } from '../../siem/connector.ts';

const testDb = await testDatabase();
const failures: SiemFailure[] = [
  { kind: 'data_error', blame: 'data', retryable: false, message: 'no number' },
  { kind: 'query_timeout', blame: 'author', retryable: false, message: 'too slow', dependsOnData: true },
];

test.each(failures)('$kind never disables a detection, and its windows become gaps', async (failure) => {
  const t = await startRuns(testDb, () => Promise.reject(new SiemError(failure)));
  const id = await t.newDetection();
  for (const n of [1, 2, 3, 4, 5]) await t.runAt(hour(n));
  const record = await getDetection(t.deps, t.caller, id);
  expect(record).toMatchObject({ enabled: true, runs30d: 5 });
  expect(
    await t.select`select gap_to - gap_from = interval '4 hours' as joined, reason, detail, state from gaps`,
  ).toEqual([{ joined: true, reason: failure.kind, detail: failure.message, state: 'open' }]);
  expect(await t.select`select window_from from pending_windows`).toHaveLength(1);
  const [run] = await t.select<{ failure: string }>`select failure from runs limit 1`;
  expect(JSON.parse(run!.failure)).toEqual(failure);
});

test('a window that fails because of its events does not keep later windows from being examined', async () => {
  const t = await startRuns(testDb, ({ window }) => {
    if (window.from.toISOString() === hour(1)) throw new SiemError(failures[0]!);
    return [];
  });
  const id = await t.newDetection();
  for (const n of [1, 2, 3]) await t.runAt(hour(n));
  expect(await t.select`select status, warnings from runs where detection_id = ${id} order by due_at`).toMatchObject([
    { status: 'completed' },
    { status: 'failed' },
    { status: 'completed', warnings: /window_failed/ },
  ]);
  expect(await t.select`select gap_from, reason from gaps`).toEqual([
    { gap_from: new Date(hour(1)), reason: 'data_error' },
  ]);
  expect(await t.select`select window_from from pending_windows`).toEqual([]);
});
