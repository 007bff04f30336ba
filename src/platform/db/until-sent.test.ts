import type { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type pg from 'pg';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { acrossOrgs, openDb, untilSent } from './db.ts';

test('resolves when all bytes of a large statement were accepted, before it ends', async () => {
  const { url } = await testDatabase();
  const db = openDb(url, 1);
  let stream: Duplex | undefined;
  db.pool.on('connect', (client) => ({ stream } = (client as pg.PoolClient & { connection: { stream: Duplex } }).connection)); // prettier-ignore
  const waitingBytes: number[] = [];
  let isDone = false;
  await acrossOrgs(db, async (tx) => {
    const statement = sql`select length(${'x'.repeat(8_000_000)}::text), pg_sleep(1)`.execute(tx);
    await setImmediate();
    waitingBytes.push(stream!.writableLength);
    await untilSent(db);
    waitingBytes.push(stream!.writableLength);
    expect(isDone).toBe(false);
    await statement.then(() => (isDone = true));
  });
  expect(waitingBytes).toEqual([expect.any(Number), 0]);
  expect(waitingBytes[0]).toBeGreaterThan(1_000_000);
  await db.destroy();
});
