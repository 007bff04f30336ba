import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { timeOfId } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';
import type { DetectionKey } from '../scheduling/detection-key.ts';
import type { Run } from './runs.schema.ts';

type TimeField = 'slotAt' | 'windowFrom' | 'windowTo' | 'startedAt' | 'finishedAt';
type JsonField = 'windows' | 'phases' | 'entities' | 'scoreCriteria' | 'suppressed' | 'warnings';

/** A row of `runs`. Lists and objects are JSON text. */
export type RunRow = Omit<Run, 'clock' | 'failure' | TimeField | JsonField> &
  Record<TimeField, Date | null> &
  Record<JsonField | 'judging', string> & { failure: string | null; dueAt: Date; onEventTime: boolean };

const columns = sql`id, detection_id as "detectionId", due_at as "dueAt", trigger, status, status_reason as "statusReason", key_id as "keyId", actor, slot_at as "slotAt",
  window_from as "windowFrom", window_to as "windowTo", on_event_time as "onEventTime", windows, attempt, started_at as "startedAt",
  finished_at as "finishedAt", lag_ms as "lagMs", phases, judging, query, rows_total as "rowsTotal", truncated, entities, triggered,
  hit_count as "hitCount", score, score_basis as "scoreBasis", score_criteria as "scoreCriteria", revision,
  prompt_version as "promptVersion", model_alias as "modelAlias", model, suppressed, tokens, cost_usd as "costUsd", warnings, failure`;

/** Latest time that PostgreSQL accepts in ISO form. No run is due that late. */
const dueAtMax = Date.UTC(9999, 0, 1);

/** Finds a run by ID. The ID contains the time at which the run was due, so only the partition of that month is read. */
export async function findRun(tx: Tx, orgId: OrgId, id: string): Promise<RunRow | undefined> {
  const dueAt = timeOfId(id);
  if (dueAt.getTime() > dueAtMax) return undefined;
  return queryRow<RunRow>(
    tx,
  )`select ${columns} from runs where organization_id = ${orgId} and due_at = ${dueAt} and id = ${id}`;
}

/** Lists `limit` + 1 runs of a detection, newest first. */
export function listRuns(tx: Tx, orgId: OrgId, detectionId: string, { limit, after }: PageRequest): Promise<RunRow[]> {
  return queryRows<RunRow>(tx)`
      select ${columns} from runs where organization_id = ${orgId} and detection_id = ${detectionId}
        ${after ? sql`and (due_at, id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by due_at desc, id desc limit ${limit + 1}`;
}

/** Returns the average cost in US dollars of judging one candidate of a detection since a time, or 0 without such runs. */
export async function findJudgingCost(tx: Tx, { orgId, detectionId }: DetectionKey, since: Date): Promise<number> {
  const found = await queryRow<{ cost: number }>(tx)`
      select coalesce(sum(cost_usd) / nullif(sum(json_array_length(entities::json)), 0), 0) as cost from runs
      where organization_id = ${orgId} and detection_id = ${detectionId} and due_at >= ${since} and status = 'completed'`;
  return found?.cost ?? 0;
}
