import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import { type Clock, withIsoTimes } from '../../platform/lib/time/clock.ts';
import { appError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { readPageRequest, toPage, type PageQuery } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import { countComments, insertComment, listComments } from './hit-comments.store.ts';
import { lockHit } from './hit-status.store.ts';
import type { HitComment, HitCommentList, NewHitComment } from './hits.schema.ts';
import { findHit } from './read-hits.store.ts';

/** More than people write. Agents stop earlier, so that they leave room. */
const commentsMax = 1_000;
const agentCommentsMax = 900;

/** Returns a page of the comments on a hit, newest first. */
export async function getComments(
  { db }: { db: Db },
  { orgId }: Caller,
  hitId: string,
  query: PageQuery,
): Promise<HitCommentList> {
  const request = readPageRequest(query);
  const rows = await inOrg(db, orgId, async (tx) => {
    if (!(await findHit(tx, orgId, hitId))) throw appError('not_found', `Hit ${hitId} not found.`);
    return listComments(tx, orgId, hitId, request);
  });
  const { page, nextCursor } = toPage(rows, request.limit, ({ at, id }) => ({ at, id }));
  return { comments: page.map(withIsoTimes), nextCursor };
}

/** Adds a comment of a person to a hit. Throws 404, and 409 if the hit has as many as it may. */
export async function addComment(
  { db, clock }: { db: Db; clock: Clock },
  caller: Caller,
  hitId: string,
  { body }: NewHitComment,
): Promise<HitComment> {
  const { orgId, keyId, subject: actor = null, personId = null } = caller;
  const at = clock();
  const comment = { id: uuidv7(at), hitId, at, body, keyId, actor, personId, agentId: null, runId: null };
  await inOrg(db, orgId, async (tx) => {
    if (!(await lockHit(tx, orgId, hitId))) throw appError('not_found', `Hit ${hitId} not found.`);
    if ((await countComments(tx, orgId, hitId)) >= commentsMax)
      throw appError('conflict', `Hit ${hitId} has ${commentsMax} comments, as many as it may have.`);
    await insertComment(tx, orgId, comment);
    // The text is only in the comment, where it can be erased.
    const resource = { resourceType: 'hit', resourceId: hitId };
    await insertAudit(tx, caller, { action: 'hit.commented', ...resource, before: null, after: { id: comment.id } });
  });
  return withIsoTimes(comment);
}

/** Adds a comment of an agent's run, unless the hit has too many. */
export async function addAgentComment(
  tx: Tx,
  { orgId, hitId, agentId, runId }: { orgId: Caller['orgId']; hitId: string; agentId: string; runId: string },
  body: string,
  at: Date,
): Promise<void> {
  if ((await countComments(tx, orgId, hitId)) >= agentCommentsMax) return;
  const nobody = { keyId: null, actor: null, personId: null };
  await insertComment(tx, orgId, { id: uuidv7(at), hitId, at, body, ...nobody, agentId, runId });
}
