import { sql, type RawBuilder } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import type { Spend } from '../../../platform/models/budgets.ts';
import { selectPendingWindows } from '../../scheduling/coverage.store.ts';
import { type RunClaim, isClaimCurrent, lockClaimedRun } from '../../scheduling/run-claim.ts';
import { isAvailableTo } from '../judging/candidates.store.ts';
import { raisedMaxMs } from '../judging/judge-raised.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import type { RunProgress } from '../run-model/run-progress.ts';

/** Maximum number of windows that one claim examines. The next claim continues. */
export const windowsMax = 24;

/** A run at the start of an attempt. The definition and the progress are JSON text, and times in `pending` are ISO text. */
export type StartedRunRow = Pick<
  ActiveRun,
  'trigger' | 'slotAt' | 'startedAt' | 'windowFrom' | 'windowTo' | 'customInstructions' | 'elapsedMs'
> &
  Record<keyof RunProgress | 'definition', string> &
  Spend & {
    cancelRequested: boolean;
    onEventTime: boolean;
    /** JSON of what the run was started with. */
    event: string | null;
    deleted: boolean;
    active: boolean;
    lookbackMinutes: number | null;
    coverageFrom: Date | null;
    /** True if the detection has candidates without a verdict that the run may judge. */
    hasPendingCandidates: boolean;
    /** True if the detection has recent hits that a model may still judge. */
    hasRaisedCandidates: boolean;
    pending: { from: string; to: string; slotAt: string }[];
  };

/** Limit for the pending windows of a claim: one more than it examines, to learn whether others are left. */
export const pendingWindowLimit = (claim: RunClaim) => ({ slotAt: claim.dueAt, limit: windowsMax + 1 });

type ModelNames = Readonly<Record<string, string>>;

/** Expression for the model name of the pinned definition `v`. An alias that is no longer configured stands for itself. */
function modelName(names: ModelNames): RawBuilder<unknown> {
  const alias = sql`(v.definition::json->>'modelAlias')`;
  return sql`coalesce(${JSON.stringify(names)}::json->>${alias}, case when ${alias} in ('default', 'analyst') then 'analyst' else ${alias} end)`;
}

/**
 * Marks a claimed run as running and returns all that its attempt needs, in one statement because every run starts with it. The
 * commit does not wait for the disk: if a crash of the database server loses it, the run is started again.
 */
export async function markRunning(
  tx: Tx,
  claim: RunClaim,
  { now, names }: { now: Date; names: ModelNames },
): Promise<StartedRunRow> {
  const started = await queryRow<StartedRunRow>(tx)`
      with claimed as materialized (
        select cancel_requested, set_config('synchronous_commit', 'off', true) from run_queue
        where ${isClaimCurrent(claim)} for update
      ), updated_facts as (
        insert into run_facts (organization_id, detection_id, last_run_at)
        select ${claim.orgId}::uuid, ${claim.detectionId}::uuid, ${now}::timestamptz from claimed
        on conflict (organization_id, detection_id) do update set last_run_at = greatest(run_facts.last_run_at, excluded.last_run_at)
      )
      update runs r set status = 'running', attempt = ${claim.attempt}, failure = null, started_at = coalesce(r.started_at, ${now}),
        lag_ms = coalesce(r.lag_ms, (extract(epoch from (${now}::timestamptz - r.due_at)) * 1000)::bigint), revision = v.revision,
        prompt_version = (v.definition::json->>'promptVersion')::int, model_alias = v.definition::json->>'modelAlias',
        query = nullif(v.definition::json->>'detectionQuery', ''), model = ${modelName(names)}
      from claimed, agents a join agent_revisions v on v.organization_id = a.organization_id and v.agent_id = a.id
        left join schedules s on s.organization_id = a.organization_id and s.detection_id = a.id
      where r.organization_id = ${claim.orgId} and r.due_at = ${claim.dueAt} and r.id = ${claim.runId}
        and a.organization_id = r.organization_id and a.id = r.detection_id and v.revision = coalesce(r.revision, a.revision)
      returning claimed.cancel_requested as "cancelRequested", r.trigger, r.slot_at as "slotAt", r.started_at as "startedAt",
        r.window_from as "windowFrom", r.window_to as "windowTo", r.on_event_time as "onEventTime", v.definition, r.windows, r.entities,
        r.warnings, r.phases, r.judging, r.custom_instructions as "customInstructions", r.event, r.tokens, r.cost_usd as "costUsd",
        r.elapsed_ms as "elapsedMs", r.suppressed, a.deleted_at is not null as deleted, coalesce(s.active, false) as active,
        s.lookback_minutes as "lookbackMinutes", s.coverage_from as "coverageFrom",
        (select coalesce(json_agg(p order by p."from"), '[]') from (${selectPendingWindows(claim, pendingWindowLimit(claim))}) p) as pending,
        exists (select from candidates c where c.organization_id = r.organization_id and c.detection_id = r.detection_id
          and c.state = 'pending' and ${isAvailableTo(claim)}) as "hasPendingCandidates",
        exists (select from candidates c where c.organization_id = r.organization_id and c.detection_id = r.detection_id
          and c.state = 'raised' and c.created_at >= ${new Date(now.getTime() - raisedMaxMs)}) as "hasRaisedCandidates"`;
  if (started) return started;
  await lockClaimedRun(tx, claim);
  throw new Error(`Run ${claim.runId} has no definition.`);
}

/** Records that the bounds of the run's windows are on event time, for a connection that only searches on event time. */
export async function markOnEventTime(tx: Tx, { orgId, dueAt, runId }: RunClaim): Promise<void> {
  await sql`
    update runs set on_event_time = true
      where organization_id = ${orgId} and due_at = ${dueAt} and id = ${runId}`.execute(tx);
}
