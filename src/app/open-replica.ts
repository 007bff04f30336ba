import type { Config } from '../config.ts';
import { withReplica, type Db } from '../platform/db/db.ts';
import { openReadReplica } from '../platform/db/read-replica.ts';
import type { Logger } from '../platform/lib/logging/logger.ts';
import { runLoop } from '../platform/lib/concurrency/loop.ts';

const checkMs = 1_000;

/**
 * Returns the database with its read replica, if DATABASE_REPLICA_URL is set. Checks the replica now and then every second until the signal
 * aborts, and logs when that changes. The caller closes the replica.
 */
export async function openReplica(
  db: Db,
  { databaseReplicaUrl: url }: Pick<Config, 'databaseReplicaUrl'>,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<Db> {
  if (url === undefined) return db;
  const replica = openReadReplica(db, url);
  let reported: string | null = null;
  const check = async (): Promise<false> => {
    await replica.check();
    const fault = replica.fault();
    if (fault !== null && reported === null) log.warn(fault);
    if (fault === null && reported !== null) log.info('The read replica is used again.');
    reported = fault;
    return false;
  };
  await check();
  void runLoop({ name: 'replica', idleMs: checkMs, signal, log }, check);
  return withReplica(db, replica);
}
