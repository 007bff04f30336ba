import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { Author } from '../../../platform/http/caller.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { belongsTo, type Expiry } from '../../../platform/retention/organization-retention.store.ts';
import type { PageRequest } from '../../../platform/lib/page-request.ts';
import type { AgentCall, AgentCallFilter } from './agent-calls.schema.ts';

type Time = 'createdAt' | 'expiresAt' | 'decidedAt';
/** A row of `agent_calls`. `input` is JSON text. */
export type AgentCallRow = Omit<AgentCall, Time | 'input' | 'state'> & {
  input: string;
  state: Exclude<AgentCall['state'], 'expired'>;
  createdAt: Date;
  expiresAt: Date;
  decidedAt: Date | null;
};

const columns = sql`c.id, c.agent_id as "agentId", (select name from agents a where a.organization_id = c.organization_id and a.id = c.agent_id) as "agentName",
  c.run_id as "runId", c.hit_id as "hitId", c.tool, c.input, c.input_hash as "inputHash", c.reason, c.state, c.result, c.created_at as "createdAt",
  c.expires_at as "expiresAt", c.decided_at as "decidedAt", c.key_id as "keyId", c.actor`;

type NewCall = Pick<
  AgentCallRow,
  'id' | 'agentId' | 'runId' | 'hitId' | 'tool' | 'input' | 'inputHash' | 'reason' | 'createdAt' | 'expiresAt'
>;

/** Stores a call that waits for a person. Does nothing if the run has proposed the same before. */
export async function insertCall(tx: Tx, orgId: OrgId, call: NewCall): Promise<void> {
  const { id, agentId, runId, hitId, tool, input, inputHash, reason, createdAt, expiresAt } = call;
  await sql`
    insert into agent_calls (organization_id, id, agent_id, run_id, hit_id, tool, input, input_hash, reason, created_at, expires_at)
    values (${orgId}, ${id}, ${agentId}, ${runId}, ${hitId}, ${tool}, ${input}, ${inputHash}, ${reason}, ${createdAt}, ${expiresAt})
    on conflict do nothing`.execute(tx);
}

export async function countCalls(tx: Tx, orgId: OrgId, runId: string): Promise<number> {
  const row = await queryRow<{ n: number }>(tx)`
      select count(*) as n from agent_calls where organization_id = ${orgId} and run_id = ${runId}`;
  return row!.n;
}

/** Lists `limit` + 1 calls, newest first. `now` decides which have expired. */
export function listCalls(
  tx: Tx,
  orgId: OrgId,
  { state, hitId, agentId, runId, now }: Pick<AgentCallFilter, 'state' | 'hitId' | 'agentId' | 'runId'> & { now: Date },
  { limit, after }: PageRequest,
): Promise<AgentCallRow[]> {
  const isExpired = sql`(c.state = 'waiting' and c.expires_at <= ${now})`;
  const states: RawBuilder<unknown>[] =
    state === undefined ? [] : [state === 'expired' ? isExpired : sql`(c.state = ${state} and not ${isExpired})`];
  const conditions = [
    sql`c.organization_id = ${orgId}`,
    ...states,
    ...(hitId === undefined ? [] : [sql`c.hit_id = ${hitId}`]),
    ...(agentId === undefined ? [] : [sql`c.agent_id = ${agentId}`]),
    ...(runId === undefined ? [] : [sql`c.run_id = ${runId}`]),
    ...(after ? [sql`(c.created_at, c.id) < (${after.at}, ${after.id}::uuid)`] : []),
  ];
  return queryRows<AgentCallRow>(tx)`
      select ${columns} from agent_calls c where ${sql.join(conditions, sql` and `)} order by c.created_at desc, c.id desc limit ${limit + 1}`;
}

/** Returns a call and locks it until the transaction ends. */
export async function lockCall(tx: Tx, orgId: OrgId, id: string): Promise<AgentCallRow | undefined> {
  return queryRow<AgentCallRow>(tx)`
      select ${columns} from agent_calls c where c.organization_id = ${orgId} and c.id = ${id} for update of c`;
}

/** Stores the decision of a person about a locked call. */
export async function decideCall(
  tx: Tx,
  { orgId, keyId, subject }: Author,
  id: string,
  { state, at }: { state: 'approved' | 'declined'; at: Date },
): Promise<void> {
  await sql`
    update agent_calls set state = ${state}, decided_at = ${at}, key_id = ${keyId}, actor = ${subject ?? null}
    where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

/** Deletes at most `limit` calls whose runs have expired. */
export async function deleteOldCallsAcrossOrgs(tx: Tx, expiry: Expiry, limit: number): Promise<void> {
  await sql`
    delete from agent_calls where (organization_id, id) in (
      select organization_id, id from agent_calls
        where created_at < ${expiry.before} and ${belongsTo(expiry)} limit ${limit})`.execute(tx);
}

/** Stores how an approved call ended. */
export async function endCall(
  tx: Tx,
  orgId: OrgId,
  id: string,
  { state, result }: { state: 'done' | 'failed'; result: string },
): Promise<void> {
  await sql`
    update agent_calls set state = ${state}, result = ${result}
      where organization_id = ${orgId} and id = ${id} and state = 'approved'`.execute(tx);
}
