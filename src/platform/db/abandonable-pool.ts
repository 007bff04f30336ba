import type pg from 'pg';
import { openDb, type Db, type DatabaseAddress } from './db.ts';

/** A pool whose connections can be closed while they wait for a server that may never answer. Their statements then reject. */
export type AbandonablePool = { db: Db; abandon: () => void };

export function openAbandonablePool(address: DatabaseAddress): AbandonablePool {
  const db = openDb(address);
  const clients = new Set<pg.PoolClient & pg.Client>();
  db.pool.on('connect', (client) => clients.add(client as pg.PoolClient & pg.Client));
  db.pool.on('remove', (client) => clients.delete(client as pg.PoolClient & pg.Client));
  return {
    db,
    abandon() {
      void db.destroy().catch(() => undefined);
      // Closes the socket of a client with a running statement instead of waiting for it.
      for (const client of clients) void client.end().catch(() => undefined);
    },
  };
}
