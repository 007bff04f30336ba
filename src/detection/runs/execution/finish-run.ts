import { sql } from 'kysely';
import { inOrg, type Db, type Tx, queryRow } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import { ModelError } from '../../../platform/models/model-error.ts';
import { pauseModel } from '../../../platform/models/model-pauses.ts';
import { recordWindowFailure } from '../../scheduling/coverage.store.ts';
import { type RunClaim, lockClaimedRun, RunCancelledError, RunLostError } from '../../scheduling/run-claim.ts';
import { handOverRun, requeueRun, deleteQueueEntry } from '../../scheduling/run-queue.store.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { pauseFailedConnection, retryDelayMs, toRunFailure, type RunFailure } from '../run-model/run-failure.ts';
import { writeFailure, writeWarningsAndPhases, progressColumns } from '../run-model/run-results.store.ts';
import { isDueToData } from '../../siem/connector.ts';
import { toQueryWarnings } from '../../detections/record/warnings.ts';
import { upsertQueryWarningsSql } from '../../detections/detections.store.ts';
import { disableDetection } from '../../detections/life-cycle.ts';
import { deleteMatchedWindows } from '../../continuous/matched-windows.store.ts';
import { reopenGaps } from '../../scheduling/fill-gaps.store.ts';
import type { RunScore } from '../../verdicts/analyst/analyst-score.ts';
import { convertRevisitsToRechecks, postponeRechecks } from './backfill-windows.store.ts';
import { addToRunDays, utcDay } from '../run-model/runs.store.ts';
import { emitRunEvents } from '../run-model/run-record.ts';

export type EndRunDeps = { db: Db; clock: Clock; log: Logger };

export type ExecutionResult = 'finished' | 'requeued' | 'lost';

/** Why a run must stop: its lease was lost, a user cancelled it, or the process shuts down. */
export type StopReason = 'lost' | 'cancelled' | 'shutdown';

/** Ends a run without judging what it found. */
export async function endRun(
  deps: Pick<EndRunDeps, 'db' | 'clock'>,
  claim: RunClaim,
  outcome: RunOutcome,
  run?: ActiveRun,
): Promise<ExecutionResult> {
  await inOrg(deps.db, claim.orgId, async (tx) => {
    await lockClaimedRun(tx, claim);
    if (run) await writeWarningsAndPhases(tx, run);
    await finishRun(tx, claim, outcome, deps.clock());
  });
  return 'finished';
}

/** Returns a run to the queue, after `write`, in a fenced transaction. */
async function requeue(
  { db }: Pick<EndRunDeps, 'db'>,
  claim: RunClaim,
  options: { countsAttempt: boolean; retryMs?: number },
  write?: (tx: Tx) => Promise<void>,
): Promise<ExecutionResult> {
  await inOrg(db, claim.orgId, async (tx) => {
    await lockClaimedRun(tx, claim);
    await write?.(tx);
    await requeueRun(tx, claim, options);
  });
  return 'requeued';
}

/** Hands a run over to be judged, in a fenced transaction. It ends with `failure`, if its examination failed. */
export async function handOver(
  tx: Tx,
  { claim, definition }: ActiveRun,
  failure: RunFailure | null = null,
): Promise<void> {
  await handOverRun(tx, claim, { modelAlias: definition.modelAlias, failure });
}

/** Returns a run to the queue, without counting its attempt. */
export const releaseRun = (deps: Pick<EndRunDeps, 'db'>, claim: RunClaim): Promise<ExecutionResult> =>
  requeue(deps, claim, { countsAttempt: false });

/** `run` is undefined if it could not be started. `isUnjudged`: a model has to judge what it found before it ends. */
type RunError = { error: unknown; run: ActiveRun | undefined; signal: AbortSignal; isUnjudged: boolean };

/** Ends, hands over or requeues a run that an error stopped. */
export async function handleRunError(deps: EndRunDeps, claim: RunClaim, failed: RunError): Promise<ExecutionResult> {
  const { error, run, signal } = failed;
  const stopReason = signal.aborted ? (signal.reason as StopReason) : undefined;
  try {
    if (error instanceof RunLostError || stopReason === 'lost') {
      deps.log.warn({ runId: claim.runId }, 'another worker took over the run');
      return 'lost';
    }
    if (error instanceof RunCancelledError || stopReason === 'cancelled')
      return await endRun(deps, claim, { status: 'cancelled', reason: 'requested' }, run);
    if (stopReason === 'shutdown') return await releaseRun(deps, claim);
    return await failOrRetry(deps, claim, failed);
  } catch (secondError) {
    if (secondError instanceof RunLostError) return 'lost';
    throw secondError;
  }
}

async function failOrRetry(
  deps: EndRunDeps,
  claim: RunClaim,
  { error, run, signal, isUnjudged }: RunError,
): Promise<ExecutionResult> {
  const failure = toRunFailure(error);
  if (failure.kind === 'internal_error') deps.log.error({ runId: claim.runId, err: error }, 'run failed unexpectedly');
  if (run && (await pauseFailedConnection(deps, run, failure, { error, signal }))) {
    if (run.trigger === 'manual') return fail(deps, { run, failure, isUnjudged });
    // No worker claims the run before the pause of its connection ends. Its windows stay pending.
    return requeue(deps, claim, { countsAttempt: false }, async (tx) => {
      if (claim.kind === 'schedule') await recordWindowFailure(tx, claim, { slotAt: claim.dueAt, kind: failure.kind });
      await writeFailure(tx, claim, failure);
    });
  }
  const retryMs = retryDelayMs(failure, claim.retries);
  if (retryMs === undefined) {
    if (!run) return endRun(deps, claim, { status: 'failed', failure });
    const result = await fail(deps, { run, failure, isUnjudged });
    if (error instanceof ModelError && error.pauses)
      await pauseModel(deps, claim.orgId, run.definition.modelAlias, error);
    return result;
  }
  return requeue(deps, claim, { countsAttempt: true, retryMs }, (tx) => writeFailure(tx, claim, failure));
}

/** Fails a run, or hands it over to fail once its candidates are judged. */
async function fail(
  deps: EndRunDeps,
  { run, failure, isUnjudged }: { run: ActiveRun; failure: RunFailure; isUnjudged: boolean },
): Promise<ExecutionResult> {
  if (!isUnjudged) return endRun(deps, run.claim, { status: 'failed', failure }, run);
  await inOrg(deps.db, run.orgId, async (tx) => {
    await lockClaimedRun(tx, run.claim);
    await writeWarningsAndPhases(tx, run);
    await handOver(tx, run, failure);
  });
  return 'requeued';
}

type RunOutcome =
  | { status: 'completed'; score: RunScore | null; run: ActiveRun }
  | { status: 'failed'; failure: RunFailure }
  | { status: 'cancelled'; reason: string };

/** What identifies a run, and its kind. */
export type RunKey = Pick<RunClaim, 'orgId' | 'runId' | 'detectionId' | 'kind' | 'dueAt'>;

/** A detection is disabled after this many consecutive slots that failed because of its definition. */
const authorFailuresMax = 3;

/**
 * Ends a run in a fenced transaction: updates its row, the roll-up of the day and the schedule, deletes its queue entry and
 * emits its event. Cancelled runs count in no roll-up and emit no event. A run is triggered if it stored a hit or added an
 * occurrence to one. `now` is slot time.
 */
export async function finishRun(tx: Tx, claim: RunKey, outcome: RunOutcome, now: Date): Promise<void> {
  // The slots examine what a continuous run does not.
  if (claim.kind === 'continuous' && outcome.status !== 'completed') await deleteMatchedWindows(tx, claim);
  if (outcome.status === 'failed') await recordFailure(tx, claim, outcome.failure, now);
  if (claim.kind === 'backfill') await reopenGaps(tx, claim, { runId: claim.runId, now });
  const { orgId, detectionId, runId, dueAt } = claim;
  const isScheduledSuccess = outcome.status === 'completed' && claim.kind === 'schedule';
  const reason = outcome.status === 'cancelled' ? outcome.reason : null;
  const failure = outcome.status === 'failed' ? outcome.failure : null;
  const score = outcome.status === 'completed' && typeof outcome.score?.score === 'number' ? outcome.score : null;
  const warnings = claim.kind === 'continuous' ? null : listDefinitionWarnings(outcome);
  const progress = outcome.status === 'completed' ? sql`, ${progressColumns(outcome.run)}` : sql``;
  await sql`
    with hit as (
      select count(distinct hit_id)::int as n from hit_occurrences where organization_id = ${orgId} and run_id = ${runId}
    ), finished as (
      update runs r set status = ${outcome.status}, status_reason = ${reason},
        finished_at = ${now}, failure = ${failure && JSON.stringify(failure)}, hit_count = hit.n, triggered = hit.n > 0,
        score = ${score?.score ?? null}, score_basis = ${score?.basis ?? null}, score_criteria = ${JSON.stringify(score?.criteria ?? [])}
        ${progress}
      from hit where r.organization_id = ${orgId} and r.due_at = ${dueAt} and r.id = ${runId}
      returning r.triggered, r.started_at, r.revision
    ), updated_facts as (
      update run_facts f set score_basis = ${score?.basis ?? null} from finished
      where f.organization_id = ${orgId} and f.detection_id = ${detectionId} and f.last_run_at <= finished.started_at
        and ${score !== null}
    ), reset_failures as (
      update schedules set author_failures = 0 where organization_id = ${orgId} and detection_id = ${detectionId}
        and author_failures > 0 and ${isScheduledSuccess}
    ), warned as (
      ${upsertQueryWarningsSql(claim, sql`select finished.revision, ${warnings}::text as warnings from finished where finished.revision is not null and ${warnings !== null}`)}
    ), dequeued as (
      ${deleteQueueEntry(orgId, runId)}
    )
    ${addToRunDays(sql`
      select ${orgId}::uuid, ${detectionId}::uuid, ${utcDay(now)}, ${score?.basis ?? ''}, 1,
        finished.triggered::int, ${score?.score ?? 0}::numeric, ${score === null ? 0 : 1}::int
      from finished where ${outcome.status !== 'cancelled'}`)}`.execute(tx);
  if (outcome.status !== 'cancelled')
    await emitRunEvents(tx, orgId, { runIds: [runId], type: `run.${outcome.status}` });
}

/** Returns JSON of the warnings that the detection's record shows from now on, or null if the run says nothing about its definition. */
function listDefinitionWarnings(outcome: RunOutcome): string | null {
  if (outcome.status === 'completed') return JSON.stringify(toQueryWarnings(outcome.run.progress.warnings));
  if (outcome.status !== 'failed' || outcome.failure.blame !== 'author') return null;
  const { kind, message } = outcome.failure;
  return JSON.stringify([{ code: kind, field: 'detectionQuery', detail: message }]);
}

/**
 * Records why windows were not examined. A scheduled run that failed because of its definition counts towards `authorFailuresMax`, unless
 * its data had a part in it: nothing that someone writes to the logs may disable a detection.
 */
async function recordFailure(tx: Tx, claim: RunKey, failure: RunFailure, now: Date): Promise<void> {
  if (claim.kind === 'backfill') {
    await postponeRechecks(tx, claim, now);
    await convertRevisitsToRechecks(tx, claim, claim.runId, now);
  }
  if (claim.kind !== 'schedule') return;
  const { orgId, detectionId } = claim;
  await recordWindowFailure(tx, claim, { slotAt: claim.dueAt, kind: failure.kind });
  if (failure.blame !== 'author' || isDueToData(failure)) return;
  const isSchedule = sql`organization_id = ${orgId} and detection_id = ${detectionId}`;
  const schedule = await queryRow<{ failures: number }>(tx)`
    select author_failures as failures from schedules where ${isSchedule}`;
  if (schedule && schedule.failures + 1 >= authorFailuresMax) {
    const reason = `The last ${authorFailuresMax} slots failed, the latest with ${failure.kind}: ${failure.message}`;
    await disableDetection(tx, { orgId, detectionId, reason, now });
  }
  await sql`update schedules set author_failures = author_failures + 1 where ${isSchedule}`.execute(tx);
}
