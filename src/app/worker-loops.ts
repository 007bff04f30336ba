import { builtInAgentLoop } from '../agents/runs/run-due-agents.ts';
import { maintenanceLoop } from './maintenance-loop.ts';
import { connectionCheckLoop } from '../detection/connections/connection-pauses.ts';
import type { Deps } from './deps.ts';
import { sweepLoop } from '../agents/sightings/sweep.ts';
import { cleanStatesLoop } from '../feed/items/snapshot/clean-states.ts';
import { arrivalsLoop } from '../feed/deduplication/arrivals.ts';
import { pullLoop } from '../feed/sources/pull/pull-loop.ts';
import { reanalysisLoop } from '../feed/ingestion/reanalysis/reanalyze-items.ts';
import { createRetentionSteps } from './retention-steps.ts';
import { retentionLoop } from '../platform/retention/retention.ts';
import { cleanSegmentsLoop, compactSegmentsLoop } from '../detection/logs/log-loops.ts';
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
    arrivalsLoop(deps, signal),
    reanalysisLoop(deps, signal),
    relevanceLoop(deps, signal),
    sweepLoop(deps, signal),
    deliverLoop(deps, signal),
    builtInAgentLoop(deps, signal),
    compactSegmentsLoop(deps, signal),
    cleanSegmentsLoop(deps, signal),
    cleanOutboxLoop(deps, signal),
    maintenanceLoop(deps, signal),
    retentionLoop(deps, createRetentionSteps(deps.config.keep), signal),
  ]);
}
