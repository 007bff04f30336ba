import { expect, test } from 'vitest';
import { measureHostileMemory } from '../../../fuzz/hostile-requests.ts';
import { testDatabase } from '../../support/database.ts';

test('hostile requests do not make the main process grow, and none fails inside it', async () => {
  const { url } = await testDatabase();
  const { growthMb, statuses } = await measureHostileMemory({ requests: 200, seed: 5, env: { DATABASE_URL: url } });
  expect(growthMb).toBeLessThan(150);
  expect(Object.keys(statuses).filter((status) => status.startsWith('5'))).toEqual([]);
  // The requests reach all parts: some succeed, some are invalid, some have no valid key.
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '400', '401', 'garbage']));
});
