import type { Db } from '../../../../platform/db/db.ts';
import type { Logger } from '../../../../platform/lib/logging/logger.ts';
import type { SourceRow } from '../../../ingestion/source-row.ts';
import { renewLease, withSourceAcrossOrgs } from '../../sources.store.ts';

type KeepClaimDeps = { db: Db; log: Logger };

// A sixth of a lease, so that a busy database or event loop does not end it.
const renewMs = 5_000;

/**
 * Renews the lease of a claimed source until `work` ends. A process that is killed stops renewing, so that another may pull the source half a
 * minute later. Tests set `intervalMs`.
 */
export async function keepClaim<T>(
  { db, log }: KeepClaimDeps,
  source: SourceRow,
  work: () => Promise<T>,
  intervalMs = renewMs,
): Promise<T> {
  let isRenewing = false;
  const renew = async (): Promise<void> => {
    if (isRenewing) return;
    isRenewing = true;
    try {
      await withSourceAcrossOrgs(db, source, (tx) => renewLease(tx, source, source.worker!));
    } catch (error) {
      log.warn({ sourceId: source.id, err: error }, 'could not renew the lease of a feed source');
    } finally {
      isRenewing = false;
    }
  };
  const timer = setInterval(() => void renew(), intervalMs);
  timer.unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
