import { inOrgWithCachedPlans, type Db, type TransactionWork } from '../../../platform/db/db.ts';
import { fenceRun } from '../../scheduling/queue/run-fence.ts';
import type { ActiveRun } from './active-run.ts';

/**
 * Runs a fenced transaction of a run, which stores its progress. `work` may change `run.progress`, in contrast to other transactions: the
 * progress is reset before `work` runs, so that a transaction that is repeated adds its results once.
 */
export function inRunTransaction<T>(db: Db, run: ActiveRun, work: TransactionWork<T>): Promise<T> {
  const before = structuredClone(run.progress);
  let isRepeated = false;
  return inOrgWithCachedPlans(db, run.orgId, async (tx) => {
    if (isRepeated) Object.assign(run.progress, structuredClone(before));
    isRepeated = true;
    await fenceRun(tx, run.claim);
    return work(tx);
  });
}
