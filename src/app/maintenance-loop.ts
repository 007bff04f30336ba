import { acrossOrgs, type Db } from '../platform/db/db.ts';
import { createUpcomingPartitions } from '../platform/db/partitions.ts';
import { deleteExpiredKeysAcrossOrgs } from '../platform/http/idempotency.store.ts';
import type { Logger } from '../platform/lib/logger.ts';
import { runLoop } from '../platform/lib/loop.ts';

const hourMs = 3_600_000;

/** Once an hour, creates upcoming partitions and deletes idempotency keys older than 24 hours. */
export function maintenanceLoop({ db, log }: { db: Db; log: Logger }, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'maintain', idleMs: hourMs, signal, log }, async () => {
    await createUpcomingPartitions(db);
    await acrossOrgs(db, deleteExpiredKeysAcrossOrgs);
    return false;
  });
}
