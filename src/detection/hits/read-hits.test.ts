import { expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { startRuns } from '../../../test/support/detection/scripted-runs.ts';
import { getHits } from './read-hits.ts';

const testDb = await testDatabase();

test('finds hits of the own organization by a part of the headline or of the entity, in any case', async () => {
  const rows = ['tomas.rehn', 'Ada_1', 'ada%2'].map((user) => ({ _id: user, user }));
  const startOrg = async () => {
    const t = await startRuns(testDb, () => rows);
    await t.newDetection({});
    await t.runAt(new Date(Date.UTC(2026, 2, 2, 1)).toISOString());
    return t;
  };
  const t = await startOrg();
  await startOrg();
  await t.select`update hits set headline = 'Sign-in from a NEW country' where entity = 'tomas.rehn'`;
  const find = async (q: string) =>
    (await getHits(t.deps, t.caller, { q })).hits.map(({ entity }) => entity).toSorted();
  expect(await find('TOMAS')).toEqual(['tomas.rehn']);
  expect(await find('new COUNTRY')).toEqual(['tomas.rehn']);
  expect(await find('ada')).toEqual(['Ada_1', 'ada%2']);
  expect(await find('ada_')).toEqual(['Ada_1']);
  expect(await find('%')).toEqual(['ada%2']);
  expect(await find('nobody')).toEqual([]);
});
