import { expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { startRuns } from '../../../test/support/detection/scripted-runs.ts';
import { inOrg } from '../../platform/db/db.ts';
import { eraseFromHits } from './hit-retention.store.ts';
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

test('finds hits by a value of their entity or rows, until it is erased', async () => {
  const t = await startRuns(testDb, () => [
    { _id: '1', user: 'ada', ip: '203.0.113.77', url: 'https://Evil.example/A' },
    { _id: '2', user: 'bob', ip: '203.0.113.78', note: 'from 203.0.113.77 "x"' },
  ]);
  await t.newDetection({});
  await t.runAt(new Date(Date.UTC(2026, 2, 2, 1)).toISOString());
  await t.runAt(new Date(Date.UTC(2026, 2, 2, 2)).toISOString());
  const find = async (value: string) =>
    (await getHits(t.deps, t.caller, { value })).hits.map(({ entity }) => entity).toSorted();
  expect(await find('203.0.113.77')).toEqual(['ada']);
  expect(await find('https://evil.EXAMPLE/a')).toEqual(['ada']);
  expect(await find('BOB')).toEqual(['bob']);
  expect(await find('from 203.0.113.77 "x"')).toEqual(['bob']);
  expect(await find('203.0.113')).toEqual([]);
  await inOrg(t.deps.db, t.caller.orgId, (tx) => eraseFromHits(tx, t.caller.orgId, '203.0.113.77'));
  expect(await find('203.0.113.77')).toEqual([]);
  expect(await find('from 203.0.113.77 "x"')).toEqual([]);
  expect(await find('from [erased] "x"')).toEqual(['bob']);
  expect(await find('203.0.113.78')).toEqual(['bob']);
});
