import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { timeOfId } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';
import type { DetectionKey } from '../scheduling/detection-key.ts';
import type { Run } from './runs.schema.ts';

/** A row of `runs`. Lists and objects are JSON text. */
export type RunRow = {
  id: string;
  detection_id: string;
  due_at: Date;
  trigger: Run['trigger'];
  status: Run['status'];
  status_reason: string | null;
  slot_at: Date | null;
  window_from: Date | null;
  window_to: Date | null;
  on_event_time: boolean;
  windows: string;
  attempt: number;
  started_at: Date | null;
  finished_at: Date | null;
  lag_ms: number | null;
  phases: string;
  judging: string;
  query: string | null;
  rows_total: number;
  truncated: boolean;
  entities: string;
  triggered: boolean;
  hit_count: number;
  score: number | null;
  score_basis: Run['scoreBasis'];
  score_criteria: string;
  revision: number | null;
  prompt_version: number | null;
  model_alias: string | null;
  model: string | null;
  suppressed: string;
  tokens: number;
  cost_usd: number;
  warnings: string;
  failure: string | null;
};

const columns = sql`id, detection_id, due_at, trigger, status, status_reason, slot_at, window_from, window_to, on_event_time, windows, attempt,
  started_at, finished_at, lag_ms, phases, judging, query, rows_total, truncated, entities, triggered, hit_count, score, score_basis, score_criteria,
  revision, prompt_version, model_alias, model, suppressed, tokens, cost_usd, warnings, failure`;

/** Latest time that PostgreSQL accepts in ISO form. No run is due that late. */
const dueAtMax = Date.UTC(9999, 0, 1);

/** Finds a run by ID. The ID contains the time at which the run was due, so only the partition of that month is read. */
export async function findRun(tx: Tx, orgId: OrgId, id: string): Promise<RunRow | undefined> {
  const dueAt = timeOfId(id);
  if (dueAt.getTime() > dueAtMax) return undefined;
  return queryRow(
    tx,
    sql<RunRow>`select ${columns} from runs where organization_id = ${orgId} and due_at = ${dueAt} and id = ${id}`,
  );
}

/** Lists `limit` + 1 runs of a detection, newest first. */
export function listRuns(tx: Tx, orgId: OrgId, detectionId: string, { limit, after }: PageRequest): Promise<RunRow[]> {
  return queryRows(
    tx,
    sql<RunRow>`
      select ${columns} from runs where organization_id = ${orgId} and detection_id = ${detectionId}
        ${after ? sql`and (due_at, id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by due_at desc, id desc limit ${limit + 1}`,
  );
}

/** Returns the average cost in US dollars of judging one candidate of a detection since a time, or 0 without such runs. */
export async function findJudgingCost(tx: Tx, { orgId, detectionId }: DetectionKey, since: Date): Promise<number> {
  const found = await queryRow(
    tx,
    sql<{ cost: number }>`
      select coalesce(sum(cost_usd) / nullif(sum(json_array_length(entities::json)), 0), 0) as cost from runs
      where organization_id = ${orgId} and detection_id = ${detectionId} and due_at >= ${since} and status = 'completed'`,
  );
  return found?.cost ?? 0;
}
