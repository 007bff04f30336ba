import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageCursor, PageRequest } from '../../platform/lib/page-request.ts';
import type { AgentView } from './record/detection-row.ts';
import { connectedColumn } from './detection-connections.store.ts';

const statsDays = 30;
const dayMs = 86_400_000;

/** `now` is slot time. The statistics cover its UTC day and the 29 days before. */
export type ViewScope = { orgId: OrgId; now: Date };

// The statistics come from the daily roll-up in the same statement, so a list costs one round trip.
function selectViews(
  { orgId, now }: ViewScope,
  { where, order }: { where: RawBuilder<unknown>; order: RawBuilder<unknown> },
): RawBuilder<AgentView> {
  const today = now.toISOString().slice(0, 10);
  const first = new Date(now.getTime() - (statsDays - 1) * dayMs).toISOString().slice(0, 10);
  return sql<AgentView>`
    select a.*, p.prompt, p.version as prompt_version, p.description as prompt_description, p.created_at as prompt_created_at,
      f.last_run_at, d.runs, d.hits, d.avg_score, coalesce(v.true_positives, 0) as true_positives, coalesce(v.benign, 0) as benign,
      coalesce(v.false_positives, 0) as false_positives,
      case when w.revision = a.revision then w.warnings end as query_warnings, ${connectedColumn} as siem_connected
    from agents a
    join agent_prompts p on p.organization_id = a.organization_id and p.id = a.active_prompt_id
    left join run_facts f on f.organization_id = a.organization_id and f.detection_id = a.id
    left join query_warnings w on w.organization_id = a.organization_id and w.detection_id = a.id
    left join hit_reviews v on v.organization_id = a.organization_id and v.detection_id = a.id
    cross join lateral (
      select coalesce(sum(runs), 0) as runs, coalesce(sum(triggered), 0) as hits,
        round(sum(score_sum) filter (where score_basis = f.score_basis) / nullif(sum(scores) filter (where score_basis = f.score_basis), 0), 1) as avg_score
      from run_days where organization_id = a.organization_id and detection_id = a.id and day between ${first} and ${today}
    ) d
    where a.organization_id = ${orgId} and ${where}
    ${order}`;
}

const isLive = sql`a.agent_type = 'detection' and not a.is_suggestion and a.deleted_at is null`;

/** Returns an agent of any kind, deleted or not. */
export function findAgent(tx: Tx, scope: ViewScope, id: string): Promise<AgentView | undefined> {
  return queryRow(tx, selectViews(scope, { where: sql`a.id = ${id}`, order: sql`` }));
}

/** Like `findAgent`, but locks the row until the transaction ends. Other transactions can still insert references to it. */
export async function lockAgent(tx: Tx, scope: ViewScope, id: string): Promise<AgentView | undefined> {
  // A single statement that waits for the lock would join the new row to the old prompt and find nothing.
  await sql`select 1 from agents where organization_id = ${scope.orgId} and id = ${id} for no key update`.execute(tx);
  return findAgent(tx, scope, id);
}

export type DetectionConditions = {
  category?: string | undefined;
  tag?: string | undefined;
  enabled?: boolean | undefined;
  siemType?: string | undefined;
  q?: string | undefined;
};

/** Conditions on a row of `agents a`: it is a detection that is neither deleted nor a suggestion, and matches the filters. */
export const detectionConditions = (filter: DetectionConditions): RawBuilder<unknown>[] => [
  isLive,
  ...(filter.category === undefined ? [] : [sql`a.detection_category = ${filter.category}`]),
  ...(filter.tag === undefined ? [] : [sql`${filter.tag.toLowerCase()} = any(a.tags)`]),
  ...(filter.enabled === undefined ? [] : [sql`a.enabled = ${filter.enabled}`]),
  ...(filter.siemType === undefined ? [] : [sql`a.siem_type = ${filter.siemType}`]),
  ...(filter.q === undefined
    ? []
    : [sql`strpos(lower(a.name || chr(10) || a.description), lower(${filter.q}::text)) > 0`]),
];

export type DetectionQuery = DetectionConditions & {
  /** Null returns all rows. */
  limit: number | null;
  after: PageCursor | null;
};

/** Returns detections that are neither deleted nor suggestions, newest first. With a limit, returns one extra row, which shows that another page follows. */
export function listDetections(tx: Tx, scope: ViewScope, filter: DetectionQuery): Promise<AgentView[]> {
  const conditions = detectionConditions(filter);
  return listNewestFirst(tx, scope, conditions, filter);
}

export const listOpenSuggestions = (tx: Tx, scope: ViewScope, page: PageRequest): Promise<AgentView[]> =>
  listNewestFirst(tx, scope, [sql`a.is_suggestion and a.deleted_at is null`], page);

/** Returns all dismissed suggestions, most recently dismissed first. */
export function listDismissed(tx: Tx, scope: ViewScope): Promise<AgentView[]> {
  const where = sql`a.is_suggestion and a.deleted_at is not null`;
  return queryRows(tx, selectViews(scope, { where, order: sql`order by a.deleted_at desc, a.id desc` }));
}

/** Returns every agent that is not deleted, including built-in agents and open suggestions, or only the built-in ones. */
export function listAgents(
  tx: Tx,
  scope: ViewScope,
  { isBuiltIn, ...page }: PageRequest & { isBuiltIn: boolean },
): Promise<AgentView[]> {
  const conditions = [sql`a.deleted_at is null`, ...(isBuiltIn ? [sql`a.is_built_in`] : [])];
  return listNewestFirst(tx, scope, conditions, page);
}

function listNewestFirst(
  tx: Tx,
  scope: ViewScope,
  conditions: RawBuilder<unknown>[],
  { limit, after }: { limit: number | null; after: PageCursor | null },
): Promise<AgentView[]> {
  const older = after === null ? [] : [sql`(a.created_at, a.id) < (${after.at}, ${after.id}::uuid)`];
  const where = sql.join([...conditions, ...older], sql` and `);
  const order = sql`order by a.created_at desc, a.id desc ${limit === null ? sql`` : sql`limit ${limit + 1}`}`;
  return queryRows(tx, selectViews(scope, { where, order }));
}
