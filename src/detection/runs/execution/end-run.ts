import { inOrg, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import { ModelError } from '../../../platform/models/model-error.ts';
import { pauseModel } from '../../../platform/models/model-pauses.ts';
import { recordWindowFailure } from '../../scheduling/coverage.store.ts';
import { type RunClaim, lockClaimedRun, RunCancelledError, RunLostError } from '../../scheduling/run-claim.ts';
import { handOverRun, requeueRun } from '../../scheduling/run-queue.store.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { pauseFailedConnection, retryDelayMs, toRunFailure, type RunFailure } from '../run-model/run-failure.ts';
import { finishRun, type RunOutcome } from './finish-run.ts';
import { writeFailure, writeWarningsAndPhases } from '../run-model/run-results.store.ts';

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
