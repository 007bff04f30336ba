import { builtInAgentLoop } from '../../agents/runs/run-due-agents.ts';
import { connectionCheckLoop } from '../../detection/connections/connection-pauses.ts';
import { acrossOrgs } from '../../platform/db/db.ts';
import { createUpcomingPartitions } from '../../platform/db/migrate.ts';
import { deleteExpiredKeysAcrossOrgs } from '../../platform/http/idempotency.store.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import type { Deps } from '../deps.ts';
import { workerRoles, type WorkerRole } from '../worker-roles.ts';
import { arrivingSightingsLoop } from '../../agents/sightings/arriving-sightings.ts';
import { sweepLoop } from '../../agents/sightings/sweep.ts';
import { cleanStatesLoop } from '../../feed/items/snapshot/pools.store.ts';
import { arrivalsLoop } from '../../feed/deduplication/recompute-pools.ts';
import { deliverDigests, type DigestDeps } from '../../feed/digest/read-digest.ts';
import { pullLoop } from '../../feed/sources/pull/start-pulls.ts';
import { readingLoop } from '../../feed/reading/process-readings.ts';
import { reanalysisLoop } from '../../feed/ingestion/reanalyze-items.ts';
import { eraseLoop } from '../erase-organization.ts';
import { createRetentionSteps } from './retention-steps.ts';
import { measureLoop, quotaLoop } from '../usage/usage-loops.ts';
import { retentionLoop } from '../../platform/retention/retention.ts';
import { listReaders } from '../../detection/detections/detection-views.store.ts';
import { logHealthLoop } from '../../detection/log-query/datasets/check-log-health.ts';
import { logFoldersLoop } from '../../detection/shippers/pull-folder.ts';
import { cleanOrphansLoop, cleanSegmentsLoop } from '../../detection/log-compaction/clean-segments.ts';
import { compactSegmentsLoop } from '../../detection/log-compaction/compact-segments.ts';
import { cleanOutboxLoop, deliverLoop } from '../../platform/notifications/deliver.ts';
import { relevanceLoop } from '../../feed/relevance/score-items.ts';
import { modelCheckLoop } from '../../platform/models/model-pauses.ts';
import { placeHitsLoop } from '../../detection/incidents/place-hits.ts';
import { recountLoop } from '../../detection/runs/workers/recount-days.ts';
import { auditLoop } from '../../detection/runs/review-queue/audit-dismissals.ts';
import { reviewLoop } from '../../detection/runs/reviews/review-runs.ts';
import { valueListsLoop } from '../../detection/value-lists/value-lists.ts';
import { ruleSourcesLoop } from '../../detection/rule-sources/check-rule-sources.ts';
import { matchLoop } from '../../detection/continuous/match-loop.ts';
import { executeLoop, judgeLoop, reapLoop, scheduleLoop } from '../../detection/runs/workers/run-loops.ts';

type WorkerLoop = (deps: Deps, signal: AbortSignal) => Promise<void>;

/**
 * The loops of each role. Every loop belongs to exactly one role, and every role may run in several processes at a time. What each process
 * needs for itself, such as cleaning its local copies of log files, is no worker loop.
 */
export const workerLoops = {
  /** Runs of detections up to what a model has to judge, and runs of built-in agents. */
  runs: {
    schedule: (deps, signal) => scheduleLoop(deps, deps.clockGuard, signal),
    execute: executeLoop,
    reap: reapLoop,
    connectionCheck: connectionCheckLoop,
    recount: recountLoop,
    builtInAgent: builtInAgentLoop,
    placeHits: placeHitsLoop,
    sweep: sweepLoop,
  },
  /** Matching of new events with continuous detections and indicators of the feed. */
  match: { match: matchLoop, arrivingSightings: arrivingSightingsLoop },
  /** Models that judge what runs found, grade how they did, look at dismissals again, and read reports. */
  judge: { judge: judgeLoop, modelCheck: modelCheckLoop, review: reviewLoop, audit: auditLoop, reading: readingLoop },
  /** The feed, the files of the log store, and retention. */
  ingest: {
    pull: pullLoop,
    cleanStates: cleanStatesLoop,
    arrivals: (deps, signal) => arrivalsLoop(deps.log, signal, () => deps.runFeedStep('arrivals', signal)),
    reanalysis: (deps, signal) => reanalysisLoop(deps.log, signal, () => deps.runFeedStep('reanalysis', signal)),
    relevance: (deps, signal) => relevanceLoop(deps, signal, () => deps.runFeedStep('relevance', signal)),
    ruleSources: ruleSourcesLoop,
    valueLists: valueListsLoop,
    logFolders: logFoldersLoop,
    compactSegments: compactSegmentsLoop,
    cleanSegments: cleanSegmentsLoop,
    cleanOrphans: cleanOrphansLoop,
    logHealth: (deps, signal) => logHealthLoop({ ...deps, listReaders }, signal),
    maintenance: maintenanceLoop,
    quota: quotaLoop,
    measure: measureLoop,
    erase: eraseLoop,
    retention: (deps, signal) => retentionLoop(deps, createRetentionSteps(deps.config.keep), signal),
  },
  /** Messages to destinations. */
  deliver: { deliver: deliverLoop, cleanOutbox: cleanOutboxLoop },
} satisfies Record<WorkerRole, Record<string, WorkerLoop>>;

/** Runs the worker loops of the roles until the signal aborts. Resolves when the last loop has ended. */
export async function runWorkerLoops(
  deps: Deps,
  signal: AbortSignal,
  roles: readonly WorkerRole[] = workerRoles,
): Promise<void> {
  const loops = roles.flatMap((role) => Object.values<WorkerLoop>(workerLoops[role]));
  await Promise.all(loops.map((loop) => loop(deps, signal)));
}

/** Once an hour, creates upcoming partitions, deletes idempotency keys older than 24 hours, and sends the digests that are due. */
function maintenanceLoop(deps: DigestDeps & { log: Logger }, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'maintain', idleMs: 3_600_000, signal, log: deps.log }, async () => {
    await createUpcomingPartitions(deps.db);
    await acrossOrgs(deps.db, deleteExpiredKeysAcrossOrgs);
    await deliverDigests(deps);
    return false;
  });
}
