import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { toQueryWarnings } from '../../detections/record/warnings.ts';
import { upsertManyQueryWarningsSql } from '../../detections/detections.store.ts';
import type { RunClaim } from '../../scheduling/run-claim.ts';
import { deleteQueueEntries } from '../../scheduling/run-queue.store.ts';
import { isAvailableTo } from '../judging/candidates.store.ts';
import { raisedMaxMs } from '../judging/judge-raised.ts';
import type { ActiveRun } from '../run-model/active-run.ts';
import { addToRunDays, utcDay } from '../run-model/runs.store.ts';

/** A claimed run with its detection's current definition, as JSON, and its only window. */
export type BatchRunRow = {
  runId: string;
  slotAt: Date;
  revision: number;
  definition: string;
  lookbackMinutes: number | null;
  coverageFrom: Date | null;
  from: Date;
  to: Date;
  /** End of the covered time before the window. */
  coveredTo: Date | null;
};

/**
 * Returns those runs of a batch, which no attempt has begun, whose detection is active and has no earlier window to examine, no candidate to judge
 * and no failure to forget.
 */
export function listBatchRuns(
  tx: Tx,
  orgId: OrgId,
  { claims, now }: { claims: readonly RunClaim[]; now: Date },
): Promise<BatchRunRow[]> {
  const dueTimes = [...new Set(claims.map(({ dueAt }) => dueAt.toISOString()))];
  // Two small joins and conditions that are none: the planner takes twenty times as long to order all these tables at once.
  return queryRows<BatchRunRow>(tx)`
    with claimed as materialized (
      select q.organization_id, q.detection_id, q.run_id, q.due_at, r.slot_at, p.window_from, p.window_to
      from run_queue q
        join runs r on r.organization_id = q.organization_id and r.due_at = q.due_at and r.id = q.run_id
        join pending_windows p on p.organization_id = q.organization_id and p.detection_id = q.detection_id and p.slot_at = r.slot_at
      where q.organization_id = ${orgId} and q.run_id = any(${claims.map(({ runId }) => runId)}::uuid[]) and not q.cancel_requested
        and r.due_at = any(${dueTimes}::timestamptz[])
        and r.revision is null and r.custom_instructions is null and not r.on_event_time
    )
    select q.run_id as "runId", q.slot_at as "slotAt", a.revision, v.definition, s.lookback_minutes as "lookbackMinutes",
      s.coverage_from as "coverageFrom", q.window_from as "from", q.window_to as "to",
      (select c.covered_to from coverage c where c.organization_id = q.organization_id and c.detection_id = q.detection_id
        and c.covered_from < q.window_from order by c.covered_from desc limit 1) as "coveredTo"
    from claimed q
      join agents a on a.organization_id = q.organization_id and a.id = q.detection_id
      join agent_revisions v on v.organization_id = a.organization_id and v.agent_id = a.id and v.revision = a.revision
      join schedules s on s.organization_id = a.organization_id and s.detection_id = a.id
    where a.deleted_at is null and s.active and s.author_failures = 0
      and coalesce((select false from pending_windows o where o.organization_id = q.organization_id and o.detection_id = q.detection_id
        and o.slot_at <= q.due_at and o.window_from <> q.window_from limit 1), true)
      and coalesce((select false from candidates c where c.organization_id = q.organization_id and c.detection_id = q.detection_id
        and ((c.state = 'pending' and ${isAvailableTo({ orgId: sql`q.organization_id`, detectionId: sql`q.detection_id`, runId: sql`q.run_id` })})
          or (c.state = 'raised' and c.created_at >= ${new Date(now.getTime() - raisedMaxMs)})) limit 1), true)`;
}

/** A run that found nothing, with the revision of the definition that it used. */
export type QuietRun = { run: ActiveRun; revision: number };

/** Stores runs of a batch as completed without a row, as `startRun` and `finishRun` would, and deletes their queue entries. */
export async function finishQuietRuns(tx: Tx, orgId: OrgId, runs: readonly QuietRun[], now: Date): Promise<void> {
  const column = (pick: (run: ActiveRun) => unknown): string[] => runs.map(({ run }) => JSON.stringify(pick(run)));
  const [first] = runs;
  if (!first) return;
  const { judging, suppressed, entities } = first.run.progress;
  await sql`
    with input as (
      select * from unnest(${runs.map(({ run }) => run.id)}::uuid[], ${runs.map(({ run }) => run.claim.dueAt.toISOString())}::timestamptz[],
        ${runs.map(({ run }) => run.detectionId)}::uuid[], ${runs.map(({ run }) => run.claim.attempt)}::int[],
        ${runs.map(({ revision }) => revision)}::int[], ${runs.map(({ run }) => run.model)}::text[],
        ${runs.map(({ run }) => run.progress.windows[0]!.from)}::timestamptz[], ${runs.map(({ run }) => run.progress.windows[0]!.to)}::timestamptz[],
        ${column(({ progress }) => progress.windows)}::text[], ${column(({ progress }) => progress.warnings)}::text[],
        ${column(({ progress }) => progress.phases)}::text[], ${column(({ progress }) => toQueryWarnings(progress.warnings))}::text[])
        as i (run_id, due_at, detection_id, attempt, revision, model, window_from, window_to, windows, warnings, phases, query_warnings)
    ), finished as (
      update runs r set status = 'completed', status_reason = null, attempt = i.attempt, failure = null, started_at = ${now},
        finished_at = ${now}, lag_ms = (extract(epoch from (${now}::timestamptz - r.due_at)) * 1000)::bigint, revision = i.revision,
        prompt_version = (v.definition::json->>'promptVersion')::int, model_alias = v.definition::json->>'modelAlias',
        query = v.definition::json->>'detectionQuery', model = i.model, windows = i.windows, window_from = i.window_from,
        window_to = i.window_to, entities = ${JSON.stringify(entities)}, warnings = i.warnings, phases = i.phases,
        suppressed = ${JSON.stringify(suppressed)}, judging = ${JSON.stringify(judging)}, rows_total = 0, truncated = false,
        hit_count = 0, triggered = false, score = null, score_basis = null, score_criteria = '[]'
      from input i join agent_revisions v on v.organization_id = ${orgId} and v.agent_id = i.detection_id and v.revision = i.revision
      where r.organization_id = ${orgId} and r.due_at = i.due_at and r.id = i.run_id
      returning i.run_id, i.detection_id, i.revision, i.query_warnings
    ), updated_facts as (
      insert into run_facts (organization_id, detection_id, last_run_at)
      select ${orgId}::uuid, detection_id, ${now}::timestamptz from finished
      on conflict (organization_id, detection_id) do update set last_run_at = greatest(run_facts.last_run_at, excluded.last_run_at)
    ), warned as (
      ${upsertManyQueryWarningsSql(orgId, sql`select detection_id, revision, query_warnings as warnings from finished`)}
    ), dequeued as (
      ${deleteQueueEntries(orgId, sql`select run_id from finished`)}
    )
    ${addToRunDays(sql`select ${orgId}::uuid, detection_id, ${utcDay(now)}, '', 1, 0, 0::numeric, 0 from finished`)}`.execute(
    tx,
  );
}
