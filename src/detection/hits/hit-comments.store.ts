import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';
import { currentActor } from '../../platform/orgs/sessions/persons.store.ts';
import type { HitComment } from './hits.schema.ts';

export type CommentRow = Omit<HitComment, 'at'> & { at: Date };

export async function insertComment(tx: Tx, orgId: OrgId, comment: CommentRow): Promise<void> {
  const { id, hitId, at, body, keyId, actor, personId, agentId, runId } = comment;
  await sql`
    insert into hit_comments (organization_id, id, hit_id, at, body, key_id, actor, person_id, agent_id, run_id)
    values (${orgId}, ${id}, ${hitId}, ${at}, ${body}, ${keyId}, ${actor}, ${personId}, ${agentId}, ${runId})`.execute(
    tx,
  );
}

/** Lists `limit` + 1 comments on a hit, newest first. */
export function listComments(
  tx: Tx,
  orgId: OrgId,
  hitId: string,
  { limit, after }: PageRequest,
): Promise<CommentRow[]> {
  return queryRows<CommentRow>(tx)`
      select id, hit_id as "hitId", at, body, key_id as "keyId", ${currentActor} as actor, person_id as "personId", agent_id as "agentId", run_id as "runId"
      from hit_comments e
      where organization_id = ${orgId} and hit_id = ${hitId} ${after ? sql`and (at, id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by at desc, id desc limit ${limit + 1}`;
}

export async function countComments(tx: Tx, orgId: OrgId, hitId: string): Promise<number> {
  const row = await queryRow<{ n: number }>(tx)`
      select count(*) as n from hit_comments where organization_id = ${orgId} and hit_id = ${hitId}`;
  return row!.n;
}
