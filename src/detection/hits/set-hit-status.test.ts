import { expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { startRuns } from '../../../test/support/detection/scripted-runs.ts';
import { getDetection } from '../detections/read-detections.ts';
import { getHits } from './read-hits.ts';
import { setHitStatus } from './set-hit-status.ts';
import type { HitVerdict } from './hits.schema.ts';

const on = await testDatabase();

test('a reason that is given later is kept, the same one again is not, and no verdict counts twice', async () => {
  const t = await startRuns(on, ({ window }) => [{ _id: window.from.toISOString(), user: 'ada' }]);
  const detectionId = await t.newDetection({});
  await t.runAt(new Date(Date.UTC(2026, 2, 2, 1)).toISOString());
  const [hit] = (await getHits(t.deps, t.caller, {})).hits;
  const say = async (verdict: HitVerdict) =>
    (await setHitStatus(t.deps, t.caller, hit!.id, verdict)).history.map(({ from, to, reason }) => [from, to, reason]);
  const first = ['open', 'benign', null];
  const later = ['benign', 'benign', 'on a trip'];
  expect(await say({ status: 'benign' })).toEqual([first]);
  expect(await say({ status: 'benign' })).toEqual([first]);
  expect(await say({ status: 'benign', reason: 'on a trip' })).toEqual([later, first]);
  expect(await say({ status: 'benign', reason: 'on a trip' })).toEqual([later, first]);
  expect((await getDetection(t.deps, t.caller, detectionId)).reviews).toMatchObject({ benign: 1, truePositive: 0 });
});
