import { builtInAgentLoop } from '../../agents/runs/run-due-agents.ts';
import { connectionCheckLoop } from '../../detection/connections/connection-pauses.ts';
import { acrossOrgs, type Tx } from '../../platform/db/db.ts';
import { createUpcomingPartitions } from '../../platform/db/migrate.ts';
import { deleteExpiredKeysAcrossOrgs } from '../../platform/http/idempotency.store.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import type { Deps } from '../deps.ts';
import { workerRoles, type WorkerRole } from '../worker-roles.ts';
import { rehearsalLoop } from '../../agents/rehearsals/rehearse.ts';
import { arrivingSightingsLoop } from '../../agents/sightings/arriving-sightings.ts';
import { deleteOldHuntRunsAcrossOrgs } from '../../agents/hunting/hunt-runs.store.ts';
import { huntLoop } from '../../agents/hunting/run-hunts.ts';
import { reportSightingsLoop } from '../../agents/sightings/report-sightings.ts';
import { sweepLoop } from '../../agents/sightings/sweep.ts';
import { cleanStatesLoop } from '../../feed/items/snapshot/pools.store.ts';
import { arrivalsLoop } from '../../feed/deduplication/recompute-pools.ts';
import { deliverDigests, type DigestDeps } from '../../feed/digest/read-digest.ts';
import { pullLoop } from '../../feed/sources/pull/start-pulls.ts';
import { readingLoop } from '../../feed/reading/process-readings.ts';
import { reanalysisLoop } from '../../feed/ingestion/reanalyze-items.ts';
import { eraseLoop } from '../erase-organization.ts';
import { measureLoop, quotaLoop } from '../usage/usage-loops.ts';
import { retentionLoop, retentionBatchMax, type RetentionStep } from '../../platform/retention/retention.ts';
import { announceEndingExceptions } from '../../detection/detections/exceptions/exceptions.ts';
import { listReaders } from '../../detection/detections/detection-views.store.ts';
import { logHealthLoop } from '../../detection/log-query/datasets/check-log-health.ts';
import { logFoldersLoop } from '../../detection/shippers/pull-folder.ts';
import { cleanOrphansLoop, cleanSegmentsLoop } from '../../detection/log-compaction/clean-segments.ts';
import { compactSegmentsLoop } from '../../detection/log-compaction/compact-segments.ts';
import { cleanOutboxLoop, deliverLoop } from '../../platform/notifications/deliver.ts';
import { followTicketsLoop } from '../../platform/notifications/follow-tickets.ts';
import { addTicketComment } from '../../detection/incidents/discuss-incident.ts';
import { relevanceLoop } from '../../feed/relevance/score-items.ts';
import { modelCheckLoop } from '../../platform/models/model-pauses.ts';
import { placeHitsLoop } from '../../detection/incidents/place-hits.ts';
import { recountLoop } from '../../detection/runs/workers/recount-days.ts';
import { auditLoop } from '../../detection/runs/review-queue/audit-dismissals.ts';
import { reviewLoop } from '../../detection/runs/reviews/review-runs.ts';
import { valueListsLoop } from '../../detection/value-lists/value-lists.ts';
import { ruleSourcesLoop } from '../../detection/rule-sources/update-rules.ts';
import { matchLoop } from '../../detection/continuous/match-loop.ts';
import { executeLoop, judgeLoop, reapLoop, scheduleLoop } from '../../detection/runs/workers/run-loops.ts';
import { deleteOldAgentRunsAcrossOrgs } from '../../agents/runs/agent-runs.store.ts';
import { deleteOldHitsAcrossOrgs } from '../../detection/hits/hit-retention.store.ts';
import { deleteEmptyIncidentsAcrossOrgs } from '../../detection/incidents/incidents.store.ts';
import { deleteOldHoursAcrossOrgs } from '../../detection/log-query/datasets/log-health.store.ts';
import { expireSegmentsAcrossOrgs } from '../../detection/log-store/segments.store.ts';
import { deleteOldDaysAcrossOrgs } from '../../detection/log-ingest/log-quota.store.ts';
import { deleteOldUsageAcrossOrgs } from '../usage/usage.store.ts';
import { expireAuditAcrossOrgs } from '../../platform/orgs/audit/audit-chain.store.ts';
import { deleteOldSessionsAcrossOrgs } from '../../platform/orgs/sessions/sessions.store.ts';
import {
  deleteOldCandidatesAcrossOrgs,
  deleteOldMemoryAcrossOrgs,
  deleteOldRunsAcrossOrgs,
} from '../../detection/runs/run-retention.store.ts';
import { deleteOldWithdrawalsAcrossOrgs } from '../../detection/runs/judging/withdrawn-events.store.ts';
import { expireGapsAcrossOrgs } from '../../detection/scheduling/fill-gaps.store.ts';
import { type Expiry, listExpiriesAcrossOrgs } from '../../platform/retention/organization-retention.store.ts';
import type { RetentionKind, RetentionPeriods } from '../../platform/retention/retention.schema.ts';

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
    hunt: huntLoop,
    rehearsal: rehearsalLoop,
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
  /** Messages to destinations, sightings for sources, and what people do there with tickets. */
  deliver: {
    deliver: deliverLoop,
    reportSightings: reportSightingsLoop,
    followTickets: (deps, signal) => followTicketsLoop({ ...deps, addTicketComment }, signal),
    cleanOutbox: cleanOutboxLoop,
  },
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

/** Once an hour, creates upcoming partitions, deletes idempotency keys older than 24 hours, sends the digests that are due, and announces exceptions that end. */
function maintenanceLoop(deps: DigestDeps & { log: Logger }, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'maintain', idleMs: 3_600_000, signal, log: deps.log }, async () => {
    await createUpcomingPartitions(deps.db);
    await acrossOrgs(deps.db, deleteExpiredKeysAcrossOrgs);
    await deliverDigests(deps);
    return announceEndingExceptions(deps);
  });
}

const dayMs = 86_400_000;
/** Weekly detections look back 26 weeks. */
const memoryDays = 190;
/** Sessions of the console that ended or expired. */
const sessionsDays = 30;
/** Datasets are compared with the two weeks before. */
const logHoursDays = 17;

/** Creates the retention steps of every slice. `days` are the periods of the service, from which organizations may differ. */
export function createRetentionSteps(days: RetentionPeriods): RetentionStep[] {
  const { auditDays, runsDays } = days;
  const deleteExpired = (kind: RetentionKind, deleteBatch: DeleteBatch) => expire(kind, days[kind], deleteBatch);
  return [
    deleteExpired('rowsDays', deleteOldCandidatesAcrossOrgs),
    deleteExpired('rowsDays', deleteOldHuntRunsAcrossOrgs),
    deleteExpired('hitsDays', deleteOldHitsAcrossOrgs),
    deleteExpired('hitsDays', deleteEmptyIncidentsAcrossOrgs),
    deleteExpired('hitsDays', deleteOldWithdrawalsAcrossOrgs),
    deleteExpired('runsDays', deleteOldRunsAcrossOrgs),
    deleteExpired('runsDays', deleteOldAgentRunsAcrossOrgs),
    deleteOlderThan(sessionsDays, deleteOldSessionsAcrossOrgs),
    deleteOlderThan(memoryDays, deleteOldMemoryAcrossOrgs),
    // Of one organization at a time, and once a day, because the deletion is an entry itself.
    async (tx, now) => (await expireAuditAcrossOrgs(tx, startOfDay(daysBefore(now, auditDays)), retentionBatchMax)) > 0,
    (tx, now) => deleteOldHoursAcrossOrgs(tx, daysBefore(now, logHoursDays)).then(() => false),
    (tx, now) => deleteOldDaysAcrossOrgs(tx, daysBefore(now, runsDays)).then(() => false),
    (tx, now) => deleteOldUsageAcrossOrgs(tx, daysBefore(now, runsDays)).then(() => false),
    deleteExpired('logsDays', (tx, expiry) => expireSegmentsAcrossOrgs(tx, expiry).then(() => 0)),
    deleteExpired('logsDays', (tx, expiry, _limit, now) => expireGapsAcrossOrgs(tx, expiry, now).then(() => 0)),
  ];
}

type DeleteBatch = (tx: Tx, expiry: Expiry, limit: number, now: Date) => Promise<number>;

/** Deletes what has expired, by the period of each organization. */
function expire(kind: RetentionKind, days: number, deleteBatch: DeleteBatch): RetentionStep {
  return async (tx, now) => {
    let hasMore = false;
    for (const expiry of await listExpiriesAcrossOrgs(tx, kind, { days, now }))
      if ((await deleteBatch(tx, expiry, retentionBatchMax, now)) >= retentionBatchMax) hasMore = true;
    return hasMore;
  };
}

function deleteOlderThan(
  days: number,
  deleteBatch: (tx: Tx, before: Date, limit: number) => Promise<number>,
): RetentionStep {
  return async (tx, now) => (await deleteBatch(tx, daysBefore(now, days), retentionBatchMax)) >= retentionBatchMax;
}

const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * dayMs);

const startOfDay = (at: Date): Date => new Date(Math.floor(at.getTime() / dayMs) * dayMs);
