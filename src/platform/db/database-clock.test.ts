import { expect, test } from 'vitest';
import { createLogger } from '../lib/logging/logger.ts';
import { testDatabase } from '../../../test/support/database.ts';
import { createDatabaseClock } from './database-clock.ts';

test('follows the database clock when the machine clock is wrong', async () => {
  const { db } = await testDatabase();
  const ended = new AbortController();
  const realNow = Date.now;
  const behindMs = 3_600_000;
  try {
    const clock = await createDatabaseClock(db, createLogger('silent'), ended.signal);
    expect(Math.abs(clock().getTime() - realNow())).toBeLessThan(behindMs / 2);
    Date.now = () => realNow() - behindMs;
    const corrected = await createDatabaseClock(db, createLogger('silent'), ended.signal);
    expect(Math.abs(corrected().getTime() - realNow())).toBeLessThan(behindMs / 2);
  } finally {
    Date.now = realNow;
    ended.abort();
  }
});
