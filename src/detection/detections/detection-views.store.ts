import { sql, type RawBuilder } from 'kysely';
import { row, rows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Mark } from '../../platform/lib/page-request.ts';
import type { AgentView } from './record/detection-row.ts';
import { connectedColumn } from './detection-connections.store.ts';

const figureDays = 30;
const dayMs = 86_400_000;

/** `now` is slot time: the figures count its UTC day and the 29 before. */
export type Scope = { orgId: OrgId; now: Date };

type Selection = { where: RawBuilder<unknown>; order: RawBuilder<unknown> };

// The figures come from the roll-up, by index, in the same statement: a list costs one round trip.
function viewOf({ orgId, now }: Scope, { where, order }: Selection): RawBuilder<AgentView> {
  const today = now.toISOString().slice(0, 10);
  const first = new Date(now.getTime() - (figureDays - 1) * dayMs).toISOString().slice(0, 10);
  return sql<AgentView>`
    select a.*, p.prompt, p.version as prompt_version, p.description as prompt_description, p.created_at as prompt_created_at,
      f.last_run_at, d.runs, d.hits, d.avg_score, coalesce(v.true_positives, 0) as true_positives, coalesce(v.benign, 0) as benign,
      coalesce(v.false_positives, 0) as false_positives, ${connectedColumn} as siem_connected
    from agents a
    join agent_prompts p on p.organization_id = a.organization_id and p.id = a.active_prompt_id
    left join run_facts f on f.organization_id = a.organization_id and f.detection_id = a.id
    left join hit_reviews v on v.organization_id = a.organization_id and v.detection_id = a.id
    cross join lateral (
      select coalesce(sum(runs), 0) as runs, coalesce(sum(triggered), 0) as hits,
        round(sum(score_sum) filter (where score_basis = f.score_basis) / nullif(sum(scores) filter (where score_basis = f.score_basis), 0), 1) as avg_score
      from run_days where organization_id = a.organization_id and detection_id = a.id and day between ${first} and ${today}
    ) d
    where a.organization_id = ${orgId} and ${where}
    ${order}`;
}

const newestFirst = sql`order by a.created_at desc, a.id desc`;
const isLive = sql`a.agent_type = 'detection' and not a.is_suggestion and a.deleted_at is null`;

/** One agent of any kind, deleted ones too. */
export function findAgent(tx: Tx, scope: Scope, id: string): Promise<AgentView | undefined> {
  return row(tx, viewOf(scope, { where: sql`a.id = ${id}`, order: sql`` }));
}

/** The same, its row locked to the end of the transaction. References to it stay possible meanwhile. */
export async function lockAgent(tx: Tx, scope: Scope, id: string): Promise<AgentView | undefined> {
  // Two statements: one that waited would join the new row to the old prompt and find nothing.
  await sql`select 1 from agents where organization_id = ${scope.orgId} and id = ${id} for no key update`.execute(tx);
  return findAgent(tx, scope, id);
}

export type DetectionSelection = {
  category?: string | undefined;
  tag?: string | undefined;
  enabled?: boolean | undefined;
  siemType?: string | undefined;
  q?: string | undefined;
  /** Null: all of them. */
  limit: number | null;
  after: Mark | null;
};

/** Detections that are neither deleted nor suggestions, newest first; with a limit one more than it. */
export function listDetections(tx: Tx, scope: Scope, by: DetectionSelection): Promise<AgentView[]> {
  const where = [
    isLive,
    ...(by.category === undefined ? [] : [sql`a.detection_category = ${by.category}`]),
    ...(by.tag === undefined ? [] : [sql`${by.tag.toLowerCase()} = any(a.tags)`]),
    ...(by.enabled === undefined ? [] : [sql`a.enabled = ${by.enabled}`]),
    ...(by.siemType === undefined ? [] : [sql`a.siem_type = ${by.siemType}`]),
    ...(by.q === undefined ? [] : [sql`strpos(lower(a.name || chr(10) || a.description), lower(${by.q}::text)) > 0`]),
    ...pageConditions(by.after),
  ];
  return rows(
    tx,
    viewOf(scope, { where: sql.join(where, sql` and `), order: sql`${newestFirst} ${limitOf(by.limit)}` }),
  );
}

export function listOpenSuggestions(
  tx: Tx,
  scope: Scope,
  page: { limit: number; after: Mark | null },
): Promise<AgentView[]> {
  const where = [sql`a.is_suggestion and a.deleted_at is null`, ...pageConditions(page.after)];
  return rows(
    tx,
    viewOf(scope, { where: sql.join(where, sql` and `), order: sql`${newestFirst} ${limitOf(page.limit)}` }),
  );
}

/** Latest dismissed first, all of them. */
export function listDismissed(tx: Tx, scope: Scope): Promise<AgentView[]> {
  const where = sql`a.is_suggestion and a.deleted_at is not null`;
  return rows(tx, viewOf(scope, { where, order: sql`order by a.deleted_at desc, a.id desc` }));
}

/** Every agent that is not deleted, built-in ones and open suggestions included. */
export function listAgents(tx: Tx, scope: Scope, page: { limit: number; after: Mark | null }): Promise<AgentView[]> {
  const where = [sql`a.deleted_at is null`, ...pageConditions(page.after)];
  return rows(
    tx,
    viewOf(scope, { where: sql.join(where, sql` and `), order: sql`${newestFirst} ${limitOf(page.limit)}` }),
  );
}

const pageConditions = (after: Mark | null): RawBuilder<unknown>[] =>
  after === null ? [] : [sql`(a.created_at, a.id) < (${after.at}, ${after.id}::uuid)`];

const limitOf = (limit: number | null): RawBuilder<unknown> => (limit === null ? sql`` : sql`limit ${limit + 1}`);
