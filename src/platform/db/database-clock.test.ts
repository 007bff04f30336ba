import { expect, test } from 'vitest';
import { createLogger } from '../lib/logger.ts';
import { testDatabase } from '../../../test/support/database.ts';
import { databaseClock } from './database-clock.ts';

test('slot time is the time of the database, whatever the machine says', async () => {
  const { db } = await testDatabase();
  const ended = new AbortController();
  const realNow = Date.now;
  try {
    const own = await databaseClock(db, createLogger('silent'), ended.signal);
    expect(Math.abs(own().getTime() - realNow())).toBeLessThan(1000);
    Date.now = () => realNow() - 3_600_000;
    const corrected = await databaseClock(db, createLogger('silent'), ended.signal);
    expect(Math.abs(corrected().getTime() - realNow())).toBeLessThan(1000);
  } finally {
    Date.now = realNow;
    ended.abort();
  }
});
