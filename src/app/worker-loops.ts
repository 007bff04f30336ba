import { builtInAgentLoop } from '../agents/runs/run-due-agents.ts';
import { connectionCheckLoop } from '../detection/connections/connection-pauses.ts';
import { acrossOrgs, type Db } from '../platform/db/db.ts';
import { createUpcomingPartitions } from '../platform/db/migrate.ts';
import { deleteExpiredKeysAcrossOrgs } from '../platform/http/idempotency.store.ts';
import type { Logger } from '../platform/lib/logger.ts';
import { runLoop } from '../platform/lib/loop.ts';
import type { Deps } from './deps.ts';
import { sweepLoop } from '../agents/sightings/sweep.ts';
import { cleanStatesLoop } from '../feed/items/snapshot/clean-states.ts';
import { arrivalsLoop } from '../feed/deduplication/arrivals.ts';
import { pullLoop } from '../feed/sources/pull/start-pulls.ts';
import { reanalysisLoop } from '../feed/ingestion/reanalysis/reanalyze-items.ts';
import { createRetentionSteps } from './retention-steps.ts';
import { retentionLoop } from '../platform/retention/retention.ts';
import { cleanOrphansLoop, cleanSegmentsLoop } from '../detection/logs/storage/clean-segments.ts';
import { compactSegmentsLoop } from '../detection/logs/storage/compact-segments.ts';
import { cleanOutboxLoop, deliverLoop } from '../platform/notifications/delivery/delivery-loops.ts';
import { relevanceLoop } from '../feed/relevance/score-items.ts';
import { modelCheckLoop } from '../platform/models/model-pauses.ts';
import { recountLoop } from '../detection/runs/recount-days.ts';
import { reviewLoop } from '../detection/runs/reviews/review-runs.ts';
import { executeLoop, reapLoop, scheduleLoop } from '../detection/runs/workers/run-loops.ts';

/** Runs every worker loop until the signal aborts. Resolves when the last loop has ended. */
export async function runWorkerLoops(deps: Deps, signal: AbortSignal): Promise<void> {
  await Promise.all([
    scheduleLoop(deps, deps.clockGuard, signal),
    executeLoop(deps, signal),
    reapLoop(deps, signal),
    modelCheckLoop(deps, signal),
    connectionCheckLoop(deps, signal),
    reviewLoop(deps, signal),
    recountLoop(deps, signal),
    pullLoop(deps, signal),
    cleanStatesLoop(deps, signal),
    arrivalsLoop(deps.log, signal, () => deps.runFeedStep('arrivals', signal)),
    reanalysisLoop(deps.log, signal, () => deps.runFeedStep('reanalysis', signal)),
    relevanceLoop(deps, signal, () => deps.runFeedStep('relevance', signal)),
    sweepLoop(deps, signal),
    deliverLoop(deps, signal),
    builtInAgentLoop(deps, signal),
    compactSegmentsLoop(deps, signal),
    cleanSegmentsLoop(deps, signal),
    cleanOrphansLoop(deps, signal),
    cleanOutboxLoop(deps, signal),
    maintenanceLoop(deps, signal),
    retentionLoop(deps, createRetentionSteps(deps.config.keep), signal),
  ]);
}

/** Once an hour, creates upcoming partitions and deletes idempotency keys older than 24 hours. */
function maintenanceLoop({ db, log }: { db: Db; log: Logger }, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'maintain', idleMs: 3_600_000, signal, log }, async () => {
    await createUpcomingPartitions(db);
    await acrossOrgs(db, deleteExpiredKeysAcrossOrgs);
    return false;
  });
}
