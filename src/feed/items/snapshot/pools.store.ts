import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import { isPoolVisible } from '../visible-pools.sql.ts';

export type PoolVersion = [id: string, seq: number];

/** Returns the pools that the transaction's organization sees, by id. Row-level security enforces the same condition. */
export async function readPools(tx: Tx): Promise<PoolVersion[]> {
  const query = sql<{ id: string; seq: number }>`select id, seq from feed_pools where ${isPoolVisible} order by id`;
  const found = await queryRows(tx, query);
  return found.map(({ id, seq }) => [id, seq]);
}

/** Returns the key that encrypts snapshot tokens. */
export async function readFeedKey(tx: Tx): Promise<Buffer> {
  const found = await queryRow<{ key: Buffer }>(tx)`select key from feed_key`;
  return found!.key;
}
