import { sql, type RawBuilder } from 'kysely';
import { row, type Tx } from '../../../platform/db/db.ts';
import type { Claim } from '../../scheduling/claim-runs.store.ts';
import { heldBy, holdRun } from '../../scheduling/run-fence.ts';
import { pendingWindows } from '../../scheduling/coverage.store.ts';
import type { RunTrigger } from '../run-types.ts';

/** Windows that one claim examines at most; the rest follows at the next. */
export const windowsMax = 24;

/** A run as its attempt finds it. `pending`: times as ISO text. */
export type Begun = {
  cancel: boolean;
  trigger: RunTrigger;
  slot_at: Date | null;
  started_at: Date;
  window_from: Date | null;
  window_to: Date | null;
  on_event_time: boolean;
  definition: string;
  windows: string;
  entities: string;
  warnings: string;
  phases: string;
  judging: string;
  custom_instructions: string | null;
  tokens: number;
  cost_usd: number;
  elapsed_ms: number;
  suppressed: string;
  deleted: boolean;
  active: boolean;
  lookback_minutes: number | null;
  leftovers: boolean;
  pending: { from: string; to: string; slotAt: string }[];
};

/** The windows that a claim may examine, and one more that says whether others are left. */
export const upTo = (claim: Claim) => ({ slotAt: claim.dueAt, limit: windowsMax + 1 });

type ModelNames = Readonly<Record<string, string>>;

// Of the definition that the run pins; an alias that the settings no longer have stands for itself.
function modelOf(names: ModelNames): RawBuilder<unknown> {
  const alias = sql`(v.definition::json->>'modelAlias')`;
  return sql`coalesce(${JSON.stringify(names)}::json->>${alias}, case when ${alias} in ('default', 'analyst') then 'analyst' else ${alias} end)`;
}

// One statement: it is the first of many thousand runs an hour. What it writes may be lost with a crash of the server, since
// the run is then begun again, so its commit need not wait for the disk.
export async function markRunning(
  tx: Tx,
  claim: Claim,
  { now, names }: { now: Date; names: ModelNames },
): Promise<Begun> {
  const begun = await row(
    tx,
    sql<Begun>`
      with held as materialized (
        select cancel_requested, set_config('synchronous_commit', 'off', true) from run_queue
        where ${heldBy(claim)} for update
      ), facts as (
        insert into run_facts (organization_id, detection_id, last_run_at)
        select ${claim.orgId}::uuid, ${claim.detectionId}::uuid, ${now}::timestamptz from held
        on conflict (organization_id, detection_id) do update set last_run_at = greatest(run_facts.last_run_at, excluded.last_run_at)
      )
      update runs r set status = 'running', attempt = ${claim.attempt}, failure = null, started_at = coalesce(r.started_at, ${now}),
        lag_ms = coalesce(r.lag_ms, (extract(epoch from (${now}::timestamptz - r.due_at)) * 1000)::bigint), revision = v.revision,
        prompt_version = (v.definition::json->>'promptVersion')::int, model_alias = v.definition::json->>'modelAlias',
        query = v.definition::json->>'detectionQuery', model = ${modelOf(names)}
      from held, agents a join agent_revisions v on v.organization_id = a.organization_id and v.agent_id = a.id
        left join schedules s on s.organization_id = a.organization_id and s.detection_id = a.id
      where r.organization_id = ${claim.orgId} and r.due_at = ${claim.dueAt} and r.id = ${claim.runId}
        and a.organization_id = r.organization_id and a.id = r.detection_id and v.revision = coalesce(r.revision, a.revision)
      returning held.cancel_requested as cancel, r.trigger, r.slot_at, r.started_at, r.window_from, r.window_to, r.on_event_time,
        v.definition, r.windows, r.entities, r.warnings, r.phases, r.judging, r.custom_instructions, r.tokens, r.cost_usd, r.elapsed_ms, r.suppressed,
        a.deleted_at is not null as deleted,
        coalesce(s.active, false) as active, s.lookback_minutes,
        (select coalesce(json_agg(p order by p."from"), '[]') from (${pendingWindows(claim, upTo(claim))}) p) as pending,
        exists (select from candidates c where c.organization_id = r.organization_id and c.detection_id = r.detection_id
          and c.state = 'pending') as leftovers`,
  );
  if (begun) return begun;
  await holdRun(tx, claim);
  throw new Error(`Run ${claim.runId} has no definition.`);
}

/** The bounds of the run's windows are on event time, whatever asked for it. */
export async function markOnEventTime(tx: Tx, { orgId, dueAt, runId }: Claim): Promise<void> {
  await sql`update runs set on_event_time = true where organization_id = ${orgId} and due_at = ${dueAt} and id = ${runId}`.execute(
    tx,
  );
}
