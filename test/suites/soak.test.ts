import { expect, test } from 'vitest';
import { runSoak } from '../../soak/run-soak.ts';
import { testDatabase } from '../support/database.ts';
import { speedUpLeases } from '../support/cluster/fast-leases.ts';
import { newDataDir } from '../support/harness.ts';

/*
 * A small soak: one day of 8 detections with a killed worker, SIEMs and models that do not respond, a failing query, and detections that are deleted and
 * disabled. `npm run soak` runs it at full size.
 */
const options = {
  detections: 8,
  organizations: 2,
  days: 1,
  workers: 2,
  runsAtOnce: 4,
  localOrganizations: 1,
  waitMs: 2500,
};

test('despite failures, every window is examined once or is a recorded gap, and the hits are exactly the expected ones', async () => {
  const { url } = await testDatabase();
  await speedUpLeases(url, 8);
  const found = await runSoak(options, { databaseUrl: url, dataDir: newDataDir() }, () => undefined);
  expect(found.deviations).toEqual({ count: 0, first: [] });
  expect(found.windows).toBeGreaterThan(150);
  expect(found.hits.expected).toBeGreaterThan(8);
  expect(found.killed).toBeGreaterThan(1);
  expect(found.gaps.map(({ reason }) => reason)).toContain('deleted');
}, 240_000);
