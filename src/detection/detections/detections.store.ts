import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, runTogether, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { auditInsertSql, type AuditChange } from '../../platform/orgs/audit.store.ts';
import type { Author } from '../../platform/http/caller.ts';
import { definitionText, toRecord } from './record/detection-record.ts';
import {
  emptyStats,
  type ActivePrompt,
  type AgentRow,
  type AgentView,
  type AgentWithPrompt,
} from './record/detection-row.ts';
import type { Detection, Warning } from './record/detection.schema.ts';
import type { DetectionKey } from '../scheduling/timeline.ts';
import { eraseFromExceptions } from './exceptions/exceptions.store.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { isEventType } from '../../platform/notifications/event-types.ts';
import { replaceValue } from '../../platform/db/erasure.store.ts';

/** A new agent, with its record and the statement that creates its schedule. */
export type NewAgent = {
  agent: AgentWithPrompt;
  action: string;
  record: Detection;
  schedule?: RawBuilder<unknown> | null;
};

/** Stores agents, each with its first prompt version, its first revision, its schedule and the audit row, in one statement. */
export const insertAgents = (tx: Tx, author: Author, agents: readonly NewAgent[]): Promise<void> =>
  runTogether(
    tx,
    agents.flatMap((one) => listInserts(author, one)),
  );

function listInserts(author: Author, { agent, action, record, schedule }: NewAgent): RawBuilder<unknown>[] {
  const columns = Object.entries(toAgentRow(agent));
  return [
    sql`insert into agents (${sql.join(columns.map(([name]) => sql.ref(name)))}) values (${sql.join(columns.map(([, value]) => value))})`,
    promptInsert(author, agent),
    revisionInsert(author, agent),
    ...(schedule ? [schedule] : []),
    auditInsertSql(author, toAuditChange(action, agent, null, record)),
  ];
}

/** Stores the columns that differ, a new prompt version and revision if there is one, and the audit row in one statement. */
export async function updateAgent(
  tx: Tx,
  author: Author,
  { action, before, after }: { action: string; before: AgentView; after: AgentView },
): Promise<void> {
  const changed = listChangedColumns(before, after);
  if (changed.length === 0) return;
  const set = sql.join(changed.map(([name, value]) => sql`${sql.ref(name)} = ${value}`));
  const parts = [
    sql`agent as (update agents set ${set} where organization_id = ${after.organization_id} and id = ${after.id})`,
    // The active prompt may also change to an older version, which is already stored.
    ...(before.latest_prompt_version === after.latest_prompt_version
      ? []
      : [sql`prompt as (${promptInsert(author, after)})`]),
    ...(before.revision === after.revision ? [] : [sql`revision as (${revisionInsert(author, after)})`]),
  ];
  const change = toAuditChange(action, after, toRecord(before), toRecord(after));
  await sql`with ${sql.join(parts)} ${auditInsertSql(author, change)}`.execute(tx);
}

function toAuditChange(action: string, agent: AgentRow, before: Detection | null, after: Detection): AuditChange {
  return { action, resourceType: resourceTypeOf(agent), resourceId: agent.id, before, after };
}

/** Returns the type of a resource under which an agent is audited. */
export const resourceTypeOf = ({ agent_type: type }: Pick<AgentRow, 'agent_type'>): 'detection' | 'agent' =>
  type === 'detection' ? 'detection' : 'agent';

function promptInsert(author: Author, agent: AgentWithPrompt): RawBuilder<unknown> {
  return sql`
    insert into agent_prompts (organization_id, id, agent_id, version, prompt, description, created_at, key_id, actor)
    values (${agent.organization_id}, ${agent.active_prompt_id}, ${agent.id}, ${agent.prompt_version}, ${agent.prompt},
      ${agent.prompt_description}, ${agent.prompt_created_at}, ${author.keyId}, ${author.subject ?? null})`;
}

function revisionInsert(author: Author, agent: AgentWithPrompt): RawBuilder<unknown> {
  return sql`
    insert into agent_revisions (organization_id, agent_id, revision, definition, key_id, actor, created_at)
    values (${agent.organization_id}, ${agent.id}, ${agent.revision}, ${definitionText(agent)}, ${author.keyId},
      ${author.subject ?? null}, ${agent.updated_at})`;
}

// A Record, so that a column missing here does not compile.
const promptColumns: Record<keyof ActivePrompt, true> = {
  prompt: true,
  prompt_version: true,
  prompt_description: true,
  prompt_created_at: true,
};
const statsColumns = new Set(Object.keys(emptyStats));

function toAgentRow(agent: AgentWithPrompt): AgentRow {
  const own = Object.entries(agent).filter(([name]) => !(name in promptColumns) && !statsColumns.has(name));
  return Object.fromEntries(own) as AgentRow;
}

/** Returns the columns of `agents` that differ, with their new values. */
export function listChangedColumns(before: AgentWithPrompt, after: AgentWithPrompt): [string, unknown][] {
  const oldColumns: Record<string, unknown> = toAgentRow(before);
  return Object.entries(toAgentRow(after)).filter(([name, value]) => !isSame(oldColumns[name], value));
}

function isSame(left: unknown, right: unknown): boolean {
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime();
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((value, index) => value === right[index]);
  return left === right;
}

const queriesMax = 2_000;

/** Returns the queries of the enabled detections, the latest first. */
export async function listDetectionQueries(tx: Tx, orgId: OrgId): Promise<string[]> {
  const rows = await queryRows<{ query: string }>(tx)`
      select detection_query as query from agents
      where organization_id = ${orgId} and enabled and deleted_at is null and detection_query is not null
      order by id desc limit ${queriesMax}`;
  return rows.map(({ query }) => query);
}

/** Returns the model alias of a detection. */
export async function findDetectionAlias(
  tx: Tx,
  { orgId, detectionId }: { orgId: OrgId; detectionId: string },
): Promise<string | undefined> {
  const row = await queryRow<{ alias: string }>(tx)`
      select model_alias as alias from agents where organization_id = ${orgId} and id = ${detectionId}`;
  return row?.alias;
}

/** Finds a detection or suggestion with the same fingerprint or key that exists, or that was deleted or dismissed after `since`. */
export function findLookAlike(
  tx: Tx,
  orgId: OrgId,
  { fingerprint, key, since }: { fingerprint: string; key: string; since: Date },
): Promise<{ id: string; isDeleted: boolean } | undefined> {
  const isLookAlike = sql`(suggestion_fingerprint = ${fingerprint} or suggestion_key = ${key})`;
  return queryRow<{ id: string; isDeleted: boolean }>(tx)`
      select id, deleted_at is not null as "isDeleted" from agents
      where organization_id = ${orgId} and ${isLookAlike} and (deleted_at is null or deleted_at > ${since})
      order by deleted_at desc nulls first limit 1`;
}

/** Warnings about a detection's query at one revision. */
type QueryWarnings = { revision: number; warnings: Warning[] };

/** Statement that replaces the stored warnings of a detection with `source`, a select of `revision` and `warnings`. Writes only differences. */
export const upsertQueryWarningsSql = ({ orgId, detectionId }: DetectionKey, source: RawBuilder<unknown>) =>
  upsertManyQueryWarningsSql(orgId, sql`select ${detectionId}::uuid as detection_id, one.* from (${source}) one`);

/** Like `upsertQueryWarningsSql`, for several detections: `source` is a select of `detection_id`, `revision` and `warnings`. */
export const upsertManyQueryWarningsSql = (orgId: OrgId, source: RawBuilder<unknown>) => sql`
    insert into query_warnings as w (organization_id, detection_id, revision, warnings)
    select ${orgId}::uuid, source.detection_id, source.revision, source.warnings from (${source}) source
    where source.warnings <> '[]' or exists (
      select from query_warnings k where k.organization_id = ${orgId} and k.detection_id = source.detection_id)
    on conflict (organization_id, detection_id) do update set revision = excluded.revision, warnings = excluded.warnings
    where w.revision <= excluded.revision and (w.revision, w.warnings) is distinct from (excluded.revision, excluded.warnings)`;

/** Stores the warnings of a check. Empty warnings clear those of an earlier check. */
export async function storeQueryWarnings(
  tx: Tx,
  key: DetectionKey,
  { revision, warnings }: QueryWarnings,
): Promise<void> {
  const source = sql`select ${revision}::int as revision, ${JSON.stringify(warnings)}::text as warnings`;
  await upsertQueryWarningsSql(key, source).execute(tx);
}

/** Keeps the warnings of a detection that changed in nothing they depend on. */
export async function carryQueryWarnings(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { from, to }: { from: number; to: number },
): Promise<void> {
  await sql`update query_warnings set revision = ${to}
    where organization_id = ${orgId} and detection_id = ${detectionId} and revision = ${from}`.execute(tx);
}

/** Emits the event of a change to each detection or suggestion. Does nothing for actions without an event type, such as those of built-in agents. */
export async function emitDetections(tx: Tx, action: string, records: readonly Detection[]): Promise<void> {
  if (!isEventType(action)) return;
  const orgIds = [...new Set(records.map(({ organizationId }) => organizationId))];
  await emitEvents(tx, orgIds, [action], () =>
    records.map((record) => {
      const { organizationId: orgId, id, updatedAt } = record;
      // `updatedAt` moves strictly forward with every change, but the record's revision changes only with its definition.
      const revision = new Date(updatedAt).getTime();
      return { orgId, type: action, resourceId: id, revision, data: record, detectionId: id };
    }),
  );
}

/** Deletes exceptions that contain a value and replaces it in test cases. Returns how many rows of each changed. */
export async function eraseFromDetections(
  tx: Tx,
  orgId: OrgId,
  value: string,
): Promise<{ exceptions: number; tests: number }> {
  return {
    exceptions: await eraseFromExceptions(tx, orgId, value),
    tests: await replaceValue(tx, { orgId, table: 'detection_tests', columns: ['cases'] }, value),
  };
}
