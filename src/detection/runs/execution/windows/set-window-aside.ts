import type { Db } from '../../../../platform/db/db.ts';
import type { Clock } from '../../../../platform/lib/time/clock.ts';
import { replaceWindowWithGap } from '../../../scheduling/coverage/coverage.store.ts';
import { isDueToData, SiemError } from '../../../siem/connector.ts';
import type { ActiveRun } from '../active-run.ts';
import type { WindowTask } from './search-window.ts';
import { writeProgress } from '../progress.store.ts';
import { inRunTransaction } from '../run-transaction.ts';
import { addWarning } from '../run-progress.ts';

/**
 * Turns a window whose events make the query fail into a gap, so that it does not keep the later windows of the run from being examined. The
 * gap can be filled later, for example with another query. Throws the error if it has another cause, or for the last window: that one stays
 * pending and is examined again at the next slot.
 */
export async function setWindowAside(
  { db, clock }: { db: Db; clock: Clock },
  run: ActiveRun,
  { window, error, isLast }: { window: WindowTask; error: unknown; isLast: boolean },
): Promise<{ hasCandidates: false }> {
  const isMovable = run.trigger === 'schedule' && !isLast && !window.repeat;
  if (!isMovable || !(error instanceof SiemError) || !isDueToData(error.failure)) throw error;
  const { kind, message } = error.failure;
  addWarning(run.progress, 'window_failed', `A window was not examined and is now a gap: ${message}`);
  await inRunTransaction(db, run, async (tx) => {
    await replaceWindowWithGap(tx, run, {
      from: window.from,
      to: window.to,
      reason: kind,
      detail: message,
      now: clock(),
    });
    await writeProgress(tx, run);
  });
  return { hasCandidates: false };
}
