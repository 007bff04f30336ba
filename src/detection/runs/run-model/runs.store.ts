import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import { timeOfId } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { PageRequest } from '../../../platform/lib/page-request.ts';
import type { DetectionKey, TimeRange } from '../../scheduling/timeline.ts';
import type { Run, RunEvent } from './runs.schema.ts';
import type { Author } from '../../../platform/http/caller.ts';
import { insertQueueEntries } from '../../scheduling/run-queue.store.ts';
import { sumOfCosts } from '../../../platform/models/model-usage.store.ts';
import { appError } from '../../../platform/lib/errors.ts';
import type { WindowList } from './run-details.schema.ts';
import type { InputValues } from '../../detections/record/input-values.ts';

type TimeField = 'slotAt' | 'windowFrom' | 'windowTo' | 'startedAt' | 'finishedAt';
type JsonField = 'windows' | 'phases' | 'entities' | 'scoreCriteria' | 'acceptance' | 'suppressed' | 'warnings';

/** A row of `runs`. Lists and objects are JSON text. */
export type RunRow = Omit<Run, 'clock' | 'failure' | 'event' | 'unscored' | TimeField | JsonField> &
  Record<TimeField, Date | null> &
  Record<JsonField | 'judging', string> & {
    failure: string | null;
    event: string | null;
    dueAt: Date;
    onEventTime: boolean;
  };

const phase = sql`case when status = 'running' then
  (select case q.phase when 'judge' then 'judging' else 'examining' end from run_queue q where q.run_id = runs.id) end`;

const columns = sql`id, detection_id as "detectionId", due_at as "dueAt", trigger, status, ${phase} as phase, status_reason as "statusReason", key_id as "keyId", actor, slot_at as "slotAt",
  window_from as "windowFrom", window_to as "windowTo", on_event_time as "onEventTime", windows, attempt, started_at as "startedAt",
  finished_at as "finishedAt", lag_ms as "lagMs", phases, judging, query, rows_total as "rowsTotal", truncated, entities, triggered,
  hit_count as "hitCount", score, score_basis as "scoreBasis", score_criteria as "scoreCriteria", acceptance, revision,
  prompt_version as "promptVersion", model_alias as "modelAlias", model, suppressed, calls, tokens, cost_usd as "costUsd", warnings, failure, event,
  custom_instructions as "customInstructions"`;

/** Latest time that PostgreSQL accepts in ISO form. No run is due that late. */
const dueAtMax = Date.UTC(9999, 0, 1);

/** Finds a run by ID. The ID contains the time at which the run was due, so only the partition of that month is read. */
export async function findRun(tx: Tx, orgId: OrgId, id: string): Promise<RunRow | undefined> {
  const dueAt = timeOfId(id);
  if (dueAt.getTime() > dueAtMax) return undefined;
  return queryRow<RunRow>(tx)`
    select ${columns} from runs where organization_id = ${orgId} and due_at = ${dueAt} and id = ${id}`;
}

/** Returns the query that a run pinned, or null if the run no longer exists. */
export async function findRunQuery(tx: Tx, orgId: OrgId, id: string): Promise<string | null> {
  const found = await queryRow<{ query: string | null }>(tx)`
      select v.definition::json ->> 'detectionQuery' as query from runs r join agent_revisions v
        on v.organization_id = r.organization_id and v.agent_id = r.detection_id and v.revision = r.revision
      where r.organization_id = ${orgId} and r.due_at = ${timeOfId(id)} and r.id = ${id}`;
  return found?.query ?? null;
}

/** Lists `limit` + 1 runs of a detection, newest first. */
export function listRuns(tx: Tx, orgId: OrgId, detectionId: string, { limit, after }: PageRequest): Promise<RunRow[]> {
  return queryRows<RunRow>(tx)`
      select ${columns} from runs where organization_id = ${orgId} and detection_id = ${detectionId}
        ${after ? sql`and (due_at, id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by due_at desc, id desc limit ${limit + 1}`;
}

/** Returns the average cost in US dollars of judging one candidate of a detection since a time, 0 without such runs, or null if it is unknown. */
export async function findJudgingCost(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  since: Date,
): Promise<number | null> {
  const found = await queryRow<{ cost: number | null }>(tx)`
      select ${sumOfCosts} / greatest(sum(json_array_length(entities::json)), 1) as cost from runs
      where organization_id = ${orgId} and detection_id = ${detectionId} and due_at >= ${since} and status = 'completed'`;
  return found?.cost ?? null;
}

/** A run that no slot started. `window` spans all of its windows. `onEventTime`: the request specified the window, on event time. */
type RequestedRun = {
  detectionId: string;
  runId: string;
  kind: 'manual' | 'backfill';
  now: Date;
  window: TimeRange;
  onEventTime?: boolean;
  customInstructions?: string | undefined;
  inputs?: InputValues | undefined;
};

/** Stores and queues a run. Returns false if a run of the same kind and detection is queued or running. */
export async function insertRequestedRun(
  tx: Tx,
  { orgId, keyId, subject }: Author,
  run: RequestedRun,
): Promise<boolean> {
  const { detectionId, runId, kind, now, window, inputs = {} } = run;
  const event: RunEvent | null =
    Object.keys(inputs).length === 0 ? null : { source: 'manual', triggerId: null, hitId: null, inputs };
  const agent = await queryRow<{ connectionId: string | null }>(tx)`
      select tocsin_connection(organization_id, connection_id, siem_type) as "connectionId" from agents
      where organization_id = ${orgId} and id = ${detectionId}`;
  const entry = { orgId, runId, detectionId, dueAt: now, startAt: now, connectionId: agent?.connectionId ?? null };
  const queued = await insertQueueEntries(tx, kind, [entry]);
  if (!queued.has(runId)) return false;
  await sql`
    insert into runs (organization_id, id, detection_id, due_at, trigger, status, window_from, window_to, on_event_time,
      custom_instructions, event, key_id, actor)
    values (${orgId}, ${runId}, ${detectionId}, ${now}, ${kind}, 'queued', ${window.from}, ${window.to}, ${run.onEventTime ?? false},
      ${run.customInstructions ?? null}, ${event && JSON.stringify(event)}, ${keyId}, ${subject ?? null})`.execute(tx);
  return true;
}

/** `inputs` is JSON of those that the detection declares. */
type DetectionState = { id: string; deleted: boolean; suggestion: boolean; inputs: string };

const selectState = (orgId: OrgId, id: string): RawBuilder<DetectionState> =>
  sql<DetectionState>`
    select id, deleted_at is not null as deleted, is_suggestion as suggestion, inputs from agents
    where organization_id = ${orgId} and id = ${id} and agent_type = 'detection' and not is_built_in`;

/** Returns whether a detection or response agent is deleted. */
export async function isAgentDeleted(tx: Tx, orgId: OrgId, id: string): Promise<boolean> {
  const agent = await queryRow<{ deleted: boolean }>(tx)`
      select deleted_at is not null as deleted from agents where organization_id = ${orgId} and id = ${id}`;
  return agent?.deleted ?? true;
}

/** Returns the state of a detection, deleted or not. Throws `not_found`. */
export async function getDetectionState(tx: Tx, orgId: OrgId, id: string): Promise<DetectionState> {
  const state = await queryRow<DetectionState>(tx)`${selectState(orgId, id)}`;
  if (!state) throw appError('not_found', `Detection ${id} not found.`);
  return state;
}

/** Locks a detection for a new run: it is neither changed nor deleted until the transaction ends. Throws `not_found` or `conflict`. */
export async function lockDetectionForRun(tx: Tx, orgId: OrgId, id: string): Promise<DetectionState> {
  const state = await queryRow<DetectionState>(tx)`${selectState(orgId, id)} for share`;
  if (!state) throw appError('not_found', `Detection ${id} not found.`);
  if (state.deleted) throw appError('conflict', `Detection ${id} is deleted. Restore it first.`);
  return state;
}

/**
 * Statement that adds figures to the daily roll-up of runs. `source` selects organization_id, detection_id, day, score_basis,
 * runs, triggered, score_sum and scores. The figures may be negative.
 */
export const addToRunDays = (source: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  insert into run_days as d (organization_id, detection_id, day, score_basis, runs, triggered, score_sum, scores) ${source}
  on conflict (organization_id, detection_id, day, score_basis) do update set runs = d.runs + excluded.runs,
    triggered = d.triggered + excluded.triggered, score_sum = d.score_sum + excluded.score_sum, scores = d.scores + excluded.scores`;

/** Expression for the UTC day of a time. */
export const utcDay = (time: Date): RawBuilder<unknown> => sql`(${time}::timestamptz at time zone 'UTC')::date`;

type WindowEntry = WindowList['windows'][number];
type WindowRow = Omit<WindowEntry, 'from' | 'to' | 'runAt'> & { from: Date; to: Date; runAt: Date | null };

/** Lists up to `limit` windows that overlap a range, latest first, cut to it. A gap starts where its backfill has arrived. */
export function listWindows(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { from, to, limit }: TimeRange & { limit: number },
): Promise<WindowRow[]> {
  return queryRows<WindowRow>(tx)`
      select greatest(w.from_at, ${from}::timestamptz) as "from", least(w.to_at, ${to}::timestamptz) as "to", w.state, w.reason, w.detail,
        w.gap_id as "gapId", w.slot_at as "runAt"
      from (
        select covered_from as from_at, covered_to as to_at, 'covered' as state, null as reason, null as detail, null::uuid as gap_id, null::timestamptz as slot_at
        from coverage where organization_id = ${orgId} and detection_id = ${detectionId} and covered_from < ${to}
        union all
        select window_from, window_to, 'pending', failure, null, null, slot_at
        from pending_windows where organization_id = ${orgId} and detection_id = ${detectionId} and window_from < ${to}
        union all
        select coalesce(filled_to, gap_from), gap_to, case state when 'open' then 'gap' else state end, reason, detail, id, null
        from gaps where organization_id = ${orgId} and detection_id = ${detectionId} and gap_from < ${to} and gap_to > ${from} and state <> 'filled'
      ) w
      where w.from_at < ${to} and w.to_at > ${from} and w.from_at < w.to_at
      order by w.from_at desc limit ${limit}`;
}

type TimeLineRow = { coverageFrom: Date; plannedTo: Date; nextRunAt: Date | null };

export function findTimeLine(tx: Tx, { orgId, detectionId }: DetectionKey): Promise<TimeLineRow | undefined> {
  return queryRow<TimeLineRow>(tx)`
      select coverage_from as "coverageFrom", boundary_at as "plannedTo", case when active then next_slot_at end as "nextRunAt"
      from schedules where organization_id = ${orgId} and detection_id = ${detectionId}`;
}
