import { sql, type RawBuilder } from 'kysely';
import { row, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { auditInsert, type Change } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { noFigures, type ActivePrompt, type Agent, type AgentWithPrompt } from './record/detection-row.ts';
import { definitionText } from './record/definition.ts';

type Author = Pick<Caller, 'orgId' | 'keyId'>;

/** Agent, first prompt version, first revision and the audit row, in one statement. */
export async function insertAgent(tx: Tx, author: Author, agent: AgentWithPrompt, change: Change): Promise<void> {
  const columns = Object.entries(columnsOf(agent));
  await sql`
    with agent as (
      insert into agents (${sql.join(columns.map(([name]) => sql.ref(name)))}) values (${sql.join(columns.map(([, value]) => value))})
    ), prompt as (${promptInsert(author, agent)}), revision as (${revisionInsert(author, agent)})
    ${auditInsert(author, change)}`.execute(tx);
}

/** Stores what differs between the two, a new prompt version and a new revision where there is one, and the audit row, in one statement. */
export async function updateAgent(
  tx: Tx,
  author: Author,
  { before, after }: { before: AgentWithPrompt; after: AgentWithPrompt },
  change: Change,
): Promise<void> {
  const changed = changedColumns(before, after);
  if (changed.length === 0) return;
  const set = sql.join(changed.map(([name, value]) => sql`${sql.ref(name)} = ${value}`));
  const parts = [
    sql`agent as (update agents set ${set} where organization_id = ${after.organization_id} and id = ${after.id})`,
    // A new active prompt may also be an older version.
    ...(before.latest_prompt_version === after.latest_prompt_version
      ? []
      : [sql`prompt as (${promptInsert(author, after)})`]),
    ...(before.revision === after.revision ? [] : [sql`revision as (${revisionInsert(author, after)})`]),
  ];
  await sql`with ${sql.join(parts)} ${auditInsert(author, change)}`.execute(tx);
}

function promptInsert(author: Author, agent: AgentWithPrompt): RawBuilder<unknown> {
  return sql`
    insert into agent_prompts (organization_id, id, agent_id, version, prompt, description, created_at, key_id)
    values (${agent.organization_id}, ${agent.active_prompt_id}, ${agent.id}, ${agent.prompt_version}, ${agent.prompt},
      ${agent.prompt_description}, ${agent.prompt_created_at}, ${author.keyId})`;
}

function revisionInsert(author: Author, agent: AgentWithPrompt): RawBuilder<unknown> {
  return sql`
    insert into agent_revisions (organization_id, agent_id, revision, definition, key_id, created_at)
    values (${agent.organization_id}, ${agent.id}, ${agent.revision}, ${definitionText(agent)}, ${author.keyId}, ${agent.updated_at})`;
}

// A Record with each key once: a column that the type gains and this list lacks does not compile.
const joined: Record<keyof ActivePrompt, true> = {
  prompt: true,
  prompt_version: true,
  prompt_description: true,
  prompt_created_at: true,
};
const figures = new Set(Object.keys(noFigures));

function columnsOf(agent: AgentWithPrompt): Agent {
  const own = Object.entries(agent).filter(([name]) => !(name in joined) && !figures.has(name));
  return Object.fromEntries(own) as Agent;
}

/** Columns of `agents` that differ, with their new values. */
export function changedColumns(before: AgentWithPrompt, after: AgentWithPrompt): [string, unknown][] {
  const old: Record<string, unknown> = columnsOf(before);
  return Object.entries(columnsOf(after)).filter(([name, value]) => !isSame(old[name], value));
}

function isSame(left: unknown, right: unknown): boolean {
  if (left instanceof Date && right instanceof Date) return left.getTime() === right.getTime();
  if (Array.isArray(left) && Array.isArray(right))
    return left.length === right.length && left.every((value, index) => value === right[index]);
  return left === right;
}

/** A detection or suggestion of this fingerprint or key that is there, or was until after `since`. */
export function findKin(
  tx: Tx,
  orgId: OrgId,
  { fingerprint, key, since }: { fingerprint: string; key: string; since: Date },
): Promise<{ id: string; gone: boolean } | undefined> {
  const isKin = sql`(suggestion_fingerprint = ${fingerprint} or suggestion_key = ${key})`;
  return row(
    tx,
    sql<{ id: string; gone: boolean }>`
      select id, deleted_at is not null as gone from agents
      where organization_id = ${orgId} and ${isKin} and (deleted_at is null or deleted_at > ${since})
      order by deleted_at desc nulls first limit 1`,
  );
}
