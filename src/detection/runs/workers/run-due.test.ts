import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { startRuns, type Answer } from '../../../../test/support/detection/scripted-runs.ts';
import { acrossOrgs } from '../../../platform/db/db.ts';

const on = await testDatabase();
const slot = '2026-03-02T01:00:00.000Z';

/** A SIEM whose first answer is cut off by `trouble`. */
const onceWith = (trouble: () => Promise<unknown>): Answer => {
  let met = false;
  return async () => {
    if (!met) {
      met = true;
      await trouble();
    }
    return [{ _id: 'a', user: 'root' }];
  };
};

const fails = () => Promise.reject(new Error('the connection was reset'));
const losesItsLease = () =>
  acrossOrgs(on.db, (tx) => sql`update run_queue set worker = 'gone', lease_until = clock_timestamp()`.execute(tx));

test.each([
  ['fails for a moment is tried again', fails],
  ['loses its lease is taken over', losesItsLease],
])('a run that %s before all that is due is called done', async (_name, trouble) => {
  const t = await startRuns(on, onceWith(trouble));
  await t.newDetection();
  expect(await t.runAt(slot)).toBe(2);
  expect(await t.select(sql`select status, attempt, hit_count from runs`)).toEqual([
    { status: 'completed', attempt: 2, hit_count: 1 },
  ]);
});
