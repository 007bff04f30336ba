import { sql } from 'kysely';
import { row, rows, type Tx } from '../../platform/db/db.ts';
import { timeOfId } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';
import type { Run } from './runs.schema.ts';

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

// No run is due so far from now; PostgreSQL would take a year of five digits only in another spelling.
const latest = Date.UTC(9999, 0, 1);

/** A run by its id, which carries the time it was due: only that month is looked at. */
export async function findRun(tx: Tx, orgId: OrgId, id: string): Promise<RunRow | undefined> {
  const dueAt = timeOfId(id);
  if (dueAt.getTime() > latest) return undefined;
  return row(
    tx,
    sql<RunRow>`select ${columns} from runs where organization_id = ${orgId} and due_at = ${dueAt} and id = ${id}`,
  );
}

/** A detection's runs, newest first, `limit` + 1 of them. */
export function listRuns(tx: Tx, orgId: OrgId, detectionId: string, { limit, after }: PageRequest): Promise<RunRow[]> {
  return rows(
    tx,
    sql<RunRow>`
      select ${columns} from runs where organization_id = ${orgId} and detection_id = ${detectionId}
        ${after ? sql`and (due_at, id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by due_at desc, id desc limit ${limit + 1}`,
  );
}

/** What judging one candidate of a detection cost on average since then, in US dollars. */
export async function findJudgingCost(
  tx: Tx,
  ref: { orgId: OrgId; detectionId: string },
  since: Date,
): Promise<number> {
  const found = await row(
    tx,
    sql<{ cost: number }>`
      select coalesce(sum(cost_usd) / nullif(sum(json_array_length(entities::json)), 0), 0) as cost from runs
      where organization_id = ${ref.orgId} and detection_id = ${ref.detectionId} and due_at >= ${since} and status = 'completed'`,
  );
  return found?.cost ?? 0;
}

export type KnownDetection = { id: string; deleted: boolean; suggestion: boolean };

/** The detection of this id, deleted or not; `lock`: it can neither be deleted nor changed until the transaction ends. */
export function findDetectionState(
  tx: Tx,
  orgId: OrgId,
  id: string,
  lock = false,
): Promise<KnownDetection | undefined> {
  return row(
    tx,
    sql<KnownDetection>`
      select id, deleted_at is not null as deleted, is_suggestion as suggestion from agents
      where organization_id = ${orgId} and id = ${id} and agent_type = 'detection' and not is_built_in ${lock ? sql`for share` : sql``}`,
  );
}
