import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { requireSkills } from '../skills/skills.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageCursor, PageRequest } from '../../platform/lib/page-request.ts';
import type { AgentView, AgentRow } from './record/detection-row.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { openQuota } from '../../platform/orgs/limits/quotas.ts';

const statsDays = 30;
const dayMs = 86_400_000;

/** `now` is slot time. The statistics cover its UTC day and the 29 days before. */
export type ViewScope = { orgId: OrgId; now: Date };

const statsRange = (now: Date): { first: string; today: string } => ({
  first: new Date(now.getTime() - (statsDays - 1) * dayMs).toISOString().slice(0, 10),
  today: now.toISOString().slice(0, 10),
});

// The statistics come from the daily roll-up in the same statement, so a list costs one round trip.
function selectViews(
  { orgId, now }: ViewScope,
  { where, order }: { where: RawBuilder<unknown>; order: RawBuilder<unknown> },
): RawBuilder<AgentView> {
  const { first, today } = statsRange(now);
  return sql<AgentView>`
    select a.*, p.prompt, p.version as prompt_version, p.description as prompt_description, p.created_at as prompt_created_at,
      f.last_run_at, d.runs, d.hits, d.avg_score, coalesce(v.true_positives, 0) as true_positives, coalesce(v.benign, 0) as benign,
      coalesce(v.false_positives, 0) as false_positives,
      case when w.revision = a.revision then w.warnings end as query_warnings, ${connectedColumn} as siem_connected,
      case when a.agent_type = 'response' then (
        select json_agg(json_build_object('id', t.id, 'source', t.source, 'name', t.name, 'enabled', t.enabled) order by t.created_at, t.id)::text
        from agent_triggers t where t.organization_id = a.organization_id and t.agent_id = a.id and t.source <> 'cron') end as other_triggers
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

/**
 * Returns a text that changes with every change of what `selectViews` returns of detections: a digest of the versions of the rows that it reads,
 * which PostgreSQL identifies by their place and the transaction that wrote them. Rows are not read for it, only their headers.
 */
export async function readListVersion(tx: Tx, { orgId, now }: ViewScope): Promise<string> {
  const { first, today } = statsRange(now);
  const digest = (table: RawBuilder<unknown>, where = sql`true`): RawBuilder<unknown> => sql`(
    select concat(count(*), '/', sum(hashtidextended(t.ctid, (t.tableoid::bigint << 32) | t.xmin::text::bigint)))
    from ${table} t where t.organization_id = ${orgId} and ${where})`;
  const tables = ['agents', 'agent_prompts', 'run_facts', 'query_warnings', 'hit_reviews', 'connections'];
  const row = await queryRow<{ version: string }>(tx)`
    select concat_ws(' ', ${first}::text, ${sql.join(tables.map((table) => digest(sql.table(table))))},
      ${digest(sql`run_days`, sql`t.day between ${first} and ${today}`)}) as version`;
  return row!.version;
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

type DetectionQuery = DetectionConditions & {
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

/** Returns every agent that is not deleted, including built-in agents and open suggestions, or only the built-in ones, or those that respond. */
export function listAgents(
  tx: Tx,
  scope: ViewScope,
  { isBuiltIn, isResponse, ...page }: PageRequest & { isBuiltIn: boolean; isResponse: boolean },
): Promise<AgentView[]> {
  const conditions = [
    sql`a.deleted_at is null`,
    ...(isBuiltIn ? [sql`a.is_built_in`] : []),
    ...(isResponse ? [sql`a.agent_type = 'response'`] : []),
  ];
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

type AgentConnection = Pick<AgentRow, 'organization_id' | 'connection_id' | 'siem_type'>;

/** Returns whether the connection that the agent queries exists. Throws 400 if `connection_id` is not a connection of the organization. */
export async function findConnected(tx: Tx, agent: AgentConnection): Promise<boolean> {
  const { organization_id: orgId, connection_id: connectionId, siem_type: siemType } = agent;
  const isLocalType = siemType === null || siemType.toLowerCase() === 'local';
  // The embedded log store has the id of the organization.
  if (connectionId === orgId || (connectionId === null && isLocalType)) return true;
  const found = await queryRow(tx)`select 1 from connections where organization_id = ${orgId}
      and id = tocsin_connection(${orgId}, ${connectionId}::uuid, ${siemType}::text)`;
  if (!found && connectionId !== null)
    throw fieldError('/connectionId', 'unknown_connection', `There is no connection ${connectionId}.`);
  return found !== undefined;
}

/** The condition of `findConnected` as a column of a query over `agents a`. */
export const connectedColumn = sql`(coalesce(a.connection_id = a.organization_id, coalesce(lower(a.siem_type), 'local') = 'local')
  or exists (select from connections c where c.organization_id = a.organization_id
    and c.id = tocsin_connection(a.organization_id, a.connection_id, a.siem_type)))`;

/** Throws 400 if the agent has a skill that does not exist. */
export const checkSkills = (tx: Tx, orgId: OrgId, { skills }: Pick<AgentRow, 'skills'>): Promise<void> =>
  requireSkills(tx, orgId, skills === null ? [] : (JSON.parse(skills) as string[]));

export const changesConnection = (before: AgentConnection, after: AgentConnection): boolean =>
  before.connection_id !== after.connection_id || before.siem_type !== after.siem_type;

/** Returns whether an agent counts towards the quota of enabled detections. */
export const isCounted = (agent: AgentView): boolean =>
  agent.agent_type === 'detection' && agent.enabled && !agent.is_suggestion && agent.deleted_at === null;

/** Throws 409 if the organization has as many enabled detections as its quota allows. */
export const requireDetectionQuota = async (tx: Tx, orgId: OrgId): Promise<void> =>
  (await openDetectionQuota(tx, orgId))();

/** Returns a function that counts one more enabled detection, and throws 409 if these are more than the quota allows. */
export const openDetectionQuota = (tx: Tx, orgId: OrgId): Promise<() => void> =>
  openQuota(tx, orgId, 'enabledDetections', () => countEnabled(tx, orgId));

async function countEnabled(tx: Tx, orgId: OrgId): Promise<number> {
  const row = await queryRow<{ n: number }>(tx)`
    select count(*) as n from agents
    where organization_id = ${orgId} and agent_type = 'detection' and enabled and not is_suggestion and deleted_at is null`;
  return row!.n;
}

const readersMax = 1_000;

/** Returns the enabled detections that query the embedded store with a query that contains a text, in any case. At most 1,000. */
export function listReaders(
  tx: Tx,
  orgId: OrgId,
  text: string,
): Promise<{ id: string; name: string; query: string }[]> {
  return queryRows<{ id: string; name: string; query: string }>(tx)`
    select id, name, detection_query as query from agents
    where organization_id = ${orgId} and agent_type = 'detection' and enabled and not is_suggestion and deleted_at is null
      and tocsin_connection(organization_id, connection_id, siem_type) is null
      and position(lower(${text}) in lower(detection_query)) > 0
    order by name, id limit ${readersMax}`;
}
