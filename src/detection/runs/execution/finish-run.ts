import { sql } from 'kysely';
import { row, type Tx } from '../../../platform/db/db.ts';
import { disableDetection } from '../../detections/disable-detection.ts';
import type { Score } from '../../verdicts/analyst/analyst-score.ts';
import type { Claim } from '../../scheduling/claim-runs.store.ts';
import { reopenGaps } from '../../scheduling/gap-windows.store.ts';
import { markFailed } from '../../scheduling/coverage.store.ts';
import { emitRun } from '../run-events.ts';
import { progressColumns } from './progress.store.ts';
import { keepRevisits, postponeRechecks } from '../backfill/rechecks.store.ts';
import type { Run, RunFailure } from '../run-types.ts';

/** How a run ends. `run`: with what it did; `reason` says why it was cancelled. */
export type Outcome =
  | { status: 'completed'; score: Score | null; run: Run }
  | { status: 'failed'; failure: RunFailure }
  | { status: 'cancelled'; reason: string };

const authorFailuresMax = 3;

/**
 * Ends a run within a fenced transaction: its row, the day's roll-up, the queue, and, for a scheduled run that its author
 * made fail, the count towards being switched off. Triggered: it stored a hit or added an occurrence. `now` is slot time.
 */
export async function finishRun(tx: Tx, claim: Claim, outcome: Outcome, now: Date): Promise<void> {
  const failure = outcome.status === 'failed' ? outcome.failure : null;
  if (failure && claim.kind === 'schedule') await countFailure(tx, claim, failure, now);
  if (failure && claim.kind === 'backfill') {
    await postponeRechecks(tx, claim, now);
    await keepRevisits(tx, claim, claim.runId, now);
  }
  if (claim.kind === 'backfill') await reopenGaps(tx, claim, { runId: claim.runId, now });
  const score = outcome.status === 'completed' && outcome.score?.score !== null ? outcome.score : null;
  const counts = outcome.status !== 'cancelled';
  await sql`
    with hit as (
      select count(distinct hit_id)::int as n from hit_occurrences where organization_id = ${claim.orgId} and run_id = ${claim.runId}
    ), done as (
      update runs r set status = ${outcome.status}, status_reason = ${outcome.status === 'cancelled' ? outcome.reason : null},
        finished_at = ${now}, failure = ${failure && JSON.stringify(failure)}, hit_count = hit.n, triggered = hit.n > 0,
        score = ${score?.score ?? null}, score_basis = ${score?.basis ?? null}, score_criteria = ${JSON.stringify(score?.criteria ?? [])}
        ${outcome.status === 'completed' ? sql`, ${progressColumns(outcome.run)}` : sql``}
      from hit where r.organization_id = ${claim.orgId} and r.due_at = ${claim.dueAt} and r.id = ${claim.runId}
      returning r.triggered, r.started_at
    ), basis as (
      update run_facts f set score_basis = ${score?.basis ?? null} from done
      where f.organization_id = ${claim.orgId} and f.detection_id = ${claim.detectionId} and f.last_run_at <= done.started_at
        and ${score !== null}
    ), healed as (
      update schedules set author_failures = 0 where organization_id = ${claim.orgId} and detection_id = ${claim.detectionId}
        and author_failures > 0 and ${outcome.status === 'completed' && claim.kind === 'schedule'}
    ), gone as (
      delete from run_queue where run_id = ${claim.runId}
    )
    insert into run_days as d (organization_id, detection_id, day, score_basis, runs, triggered, score_sum, scores)
    select ${claim.orgId}::uuid, ${claim.detectionId}::uuid, (${now}::timestamptz at time zone 'UTC')::date, ${score?.basis ?? ''}, 1,
      done.triggered::int, ${score?.score ?? 0}::numeric, ${score === null ? 0 : 1}::int
    from done where ${counts}
    on conflict (organization_id, detection_id, day, score_basis) do update set runs = d.runs + 1,
      triggered = d.triggered + excluded.triggered, score_sum = d.score_sum + excluded.score_sum, scores = d.scores + excluded.scores`.execute(
    tx,
  );
  if (outcome.status !== 'cancelled') await emitRun(tx, claim, outcome.status);
}

async function countFailure(tx: Tx, claim: Claim, failure: RunFailure, now: Date): Promise<void> {
  const { orgId, detectionId } = claim;
  await markFailed(tx, claim, { slotAt: claim.dueAt, kind: failure.kind });
  if (failure.blame !== 'author') return;
  const mine = sql`organization_id = ${orgId} and detection_id = ${detectionId}`;
  const found = await row(tx, sql<{ n: number }>`select author_failures as n from schedules where ${mine}`);
  if (found && found.n + 1 >= authorFailuresMax) {
    const reason = `${authorFailuresMax} slots running failed, the last with ${failure.kind}: ${failure.message}`;
    await disableDetection(tx, { orgId, detectionId, reason, now });
  }
  await sql`update schedules set author_failures = author_failures + 1 where ${mine}`.execute(tx);
}
