import { agentsLoop } from './agents/run-due.ts';
import { maintainLoop } from './db/maintain.ts';
import { connectionCheckLoop } from './connections/pauses.ts';
import type { Deps } from './deps.ts';
import { sweepLoop } from './exposure/sweep.ts';
import { cleanStatesLoop } from './feed/clean.ts';
import { arrivalsLoop } from './ingest/dedupe/arrivals.ts';
import { ingestLoop } from './ingest/loop.ts';
import { reanalysisLoop } from './ingest/reanalysis/reanalyse.ts';
import { keepingLoop } from './keeping/retention.ts';
import { cleanLoop, compactLoop } from './logs/loops.ts';
import { cleanOutboxLoop, deliverLoop } from './outputs/loops.ts';
import { relevanceLoop } from './relevance/score-due.ts';
import { modelCheckLoop } from './runs/pauses.ts';
import { recountLoop } from './runs/recount.ts';
import { reviewLoop } from './runs/review.ts';
import { executeLoop, reapLoop, scheduleLoop } from './runs/loops.ts';

/** Runs every loop until the signal ends them; answers when the last has ended. */
export async function runWorker(deps: Deps, signal: AbortSignal): Promise<void> {
  await Promise.all([
    scheduleLoop(deps, deps.clockGuard, signal),
    executeLoop(deps, signal),
    reapLoop(deps, signal),
    modelCheckLoop(deps, signal),
    connectionCheckLoop(deps, signal),
    reviewLoop(deps, signal),
    recountLoop(deps, signal),
    ingestLoop(deps, signal),
    cleanStatesLoop(deps, signal),
    arrivalsLoop(deps, signal),
    reanalysisLoop(deps, signal),
    relevanceLoop(deps, signal),
    sweepLoop(deps, signal),
    deliverLoop(deps, signal),
    agentsLoop(deps, signal),
    compactLoop(deps, signal),
    cleanLoop(deps, signal),
    cleanOutboxLoop(deps, signal),
    maintainLoop(deps, signal),
    keepingLoop(deps, signal),
  ]);
}
