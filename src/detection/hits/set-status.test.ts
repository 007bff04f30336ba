import { expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { startRuns } from '../../../test/support/detection/scripted-runs.ts';
import { getDetection } from '../detections/read-detections.ts';
import { getHits } from './read-hits.ts';
import { setHitStatus } from './set-status.ts';
import type { HitVerdict } from './hits.schema.ts';

const testDb = await testDatabase();

test('stores a later reason, ignores a repeated one, and counts each verdict once', async () => {
  const t = await startRuns(testDb, ({ window }) => [{ _id: window.from.toISOString(), user: 'ada' }]);
  const detectionId = await t.newDetection({});
  await t.runAt(new Date(Date.UTC(2026, 2, 2, 1)).toISOString());
  const [hit] = (await getHits(t.deps, t.caller, {})).hits;
  const setStatus = async (verdict: HitVerdict) =>
    (await setHitStatus(t.deps, t.caller, hit!.id, verdict)).history.map(({ from, to, reason }) => [from, to, reason]);
  const first = ['open', 'benign', null];
  const later = ['benign', 'benign', 'on a trip'];
  expect(await setStatus({ status: 'benign' })).toEqual([first]);
  expect(await setStatus({ status: 'benign' })).toEqual([first]);
  expect(await setStatus({ status: 'benign', reason: 'on a trip' })).toEqual([later, first]);
  expect(await setStatus({ status: 'benign', reason: 'on a trip' })).toEqual([later, first]);
  expect((await getDetection(t.deps, t.caller, detectionId)).reviews).toMatchObject({ benign: 1, truePositive: 0 });
  // A person who signed in without a key is in the history by name.
  const ada = { ...t.caller, keyId: null, subject: 'ada@example.com' };
  const { history } = await setHitStatus(t.deps, ada, hit!.id, { status: 'open' });
  expect(history.map(({ actor }) => actor)).toEqual(['ada@example.com', null, null]);
});
