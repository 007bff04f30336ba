import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { startRuns, type ScriptedSearch } from '../../../../test/support/detection/scripted-runs.ts';
import { acrossOrgs } from '../../../platform/db/db.ts';

const testDb = await testDatabase();
const slot = '2026-03-02T01:00:00.000Z';

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
const loseLease = () =>
  acrossOrgs(testDb.db, (tx) => sql`update run_queue set worker = 'gone', lease_until = clock_timestamp()`.execute(tx));

test.each([
  ['retries a run that fails once', fail],
  ['takes over a run that loses its lease', loseLease],
])('%s before it returns', async (_name, disturb) => {
  const t = await startRuns(testDb, disturbOnce(disturb));
  await t.newDetection();
  expect(await t.runAt(slot)).toBe(2);
  expect(await t.select`select status, attempt, hit_count from runs`).toEqual([
    { status: 'completed', attempt: 2, hit_count: 1 },
  ]);
});
