import { expect, test } from 'vitest';
import { soak } from '../../soak/soak.ts';
import { testDatabase } from '../support/database.ts';
import { hastenLeases } from '../support/cluster/fast-leases.ts';
import { newDataDir } from '../support/harness.ts';

/*
 * The soak in small: a day of 40 detections with a killed worker, SIEMs and models that do not answer, a query in error, detections deleted and
 * switched off. `npm run soak` is the whole of it.
 */
const options = { detections: 40, organizations: 4, days: 1, workers: 2, runsAtOnce: 4, local: 1, waitMs: 2500 };

test('whatever fails meanwhile, each window is examined once or a recorded gap, and the hits are those that the events demand', async () => {
  const { url } = await testDatabase();
  await hastenLeases(url, 8);
  const found = await soak(options, { databaseUrl: url, dataDir: newDataDir() }, () => undefined);
  expect(found.faults).toEqual({ count: 0, first: [] });
  expect(found.windows).toBeGreaterThan(900);
  expect(found.hits.due).toBeGreaterThan(50);
  expect(found.killed).toBeGreaterThan(1);
  expect(found.gaps.map(({ reason }) => reason)).toContain('deleted');
}, 240_000);
