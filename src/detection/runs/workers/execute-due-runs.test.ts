import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { hour, startRuns, type ScriptedSearch } from '../../../../test/support/detection/scripted-runs.ts';

const testDb = await testDatabase();

/** A SIEM whose first search runs `disturb` before it returns. */
const disturbOnce = (disturb: () => Promise<unknown>): ScriptedSearch => {
  let isDisturbed = false;
  return async () => {
    if (!isDisturbed) {
      isDisturbed = true;
      await disturb();
    }
    return [{ _id: 'a', user: 'root' }];
  };
};

const fail = () => Promise.reject(new Error('the connection was reset'));
const loseLease = () => testDb.query`update run_queue set worker = 'gone', lease_until = clock_timestamp()`;

test.each([
  ['retries a run that fails once', fail],
  ['takes over a run that loses its lease', loseLease],
])('%s before it returns', async (_name, disturb) => {
  const t = await startRuns(testDb, disturbOnce(disturb));
  await t.newDetection();
  expect(await t.runAt(hour(1))).toBe(2);
  expect(await t.select`select status, attempt, hit_count from runs`).toEqual([
    { status: 'completed', attempt: 2, hit_count: 1 },
  ]);
});
