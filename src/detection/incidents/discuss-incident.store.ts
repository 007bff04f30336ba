import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { currentActor } from '../../platform/orgs/sessions/persons.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';
import {
  inboxes,
  type Inbox,
  type IncidentComment,
  type IncidentDetail,
  type IncidentInbox,
} from './incidents.schema.ts';

/** Returns the condition for rows of an incident and those merged into it. */
export const ofIncident = (orgId: OrgId, incidentId: string): RawBuilder<unknown> => sql`
  organization_id = ${orgId} and incident_id in (select id from incidents where organization_id = ${orgId} and (id = ${incidentId} or merged_into = ${incidentId}))`;

export type CommentRow = Omit<IncidentComment, 'at'> & { at: Date };

export async function insertComment(tx: Tx, orgId: OrgId, comment: CommentRow): Promise<void> {
  const { id, incidentId, at, body, keyId, actor, personId } = comment;
  await sql`
    insert into incident_comments (organization_id, id, incident_id, at, body, key_id, actor, person_id)
    values (${orgId}, ${id}, ${incidentId}, ${at}, ${body}, ${keyId}, ${actor}, ${personId})`.execute(tx);
}

type Mentions = { incidentId: string; mentioned: readonly string[]; authorId: string | null; at: Date };

/** Makes people watch an incident whose comment mentions them. For its author, the comment counts as read. */
export async function storeMentions(
  tx: Tx,
  orgId: OrgId,
  { incidentId, mentioned, authorId, at }: Mentions,
): Promise<void> {
  await sql`
    insert into incident_watchers as w (organization_id, incident_id, person_id, watching, mentioned_at)
    select ${orgId}, ${incidentId}, person_id, true, case when person_id is distinct from ${authorId}::uuid then ${at}::timestamptz end
    from unnest(${mentioned}::uuid[]) as person_id
    on conflict (organization_id, incident_id, person_id) do update
      set watching = true, mentioned_at = coalesce(excluded.mentioned_at, w.mentioned_at)`.execute(tx);
}

type Follower = { incidentId: string; personId: string };

/** Makes a person watch an incident and those merged into it, or not. */
export async function storeWatching(
  tx: Tx,
  orgId: OrgId,
  { incidentId, personId, watching }: Follower & { watching: boolean },
): Promise<void> {
  await sql`
    insert into incident_watchers (organization_id, incident_id, person_id, watching)
    select organization_id, id, ${personId}::uuid, ${watching}::boolean from incidents
    where organization_id = ${orgId} and (id = ${incidentId} or merged_into = ${incidentId})
    on conflict (organization_id, incident_id, person_id) do update set watching = excluded.watching`.execute(tx);
}

/** Marks the mentions of a person in an incident and those merged into it as read. */
export async function markMentionsRead(tx: Tx, orgId: OrgId, { incidentId, personId }: Follower): Promise<void> {
  await sql`
    update incident_watchers set mentioned_at = null
      where ${ofIncident(orgId, incidentId)} and person_id = ${personId}`.execute(tx);
}

/** Lists the people who watch an incident or one merged into it, by name. */
export function listWatchers(
  tx: Tx,
  orgId: OrgId,
  incidentId: string,
  limit: number,
): Promise<IncidentDetail['watchers']> {
  return queryRows<IncidentDetail['watchers'][number]>(tx)`
      select id as "personId", name from persons where organization_id = ${orgId}
        and id in (select person_id from incident_watchers where watching and ${ofIncident(orgId, incidentId)})
      order by lower(name), id limit ${limit}`;
}

/** Lists `limit` + 1 comments on an incident and those merged into it, newest first. */
export function listComments(
  tx: Tx,
  orgId: OrgId,
  incidentId: string,
  { limit, after }: PageRequest,
): Promise<CommentRow[]> {
  return queryRows<CommentRow>(tx)`
      select id, incident_id as "incidentId", at, body, key_id as "keyId", ${currentActor} as actor, person_id as "personId" from incident_comments e
      where ${ofIncident(orgId, incidentId)} ${after ? sql`and (at, id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by at desc, id desc limit ${limit + 1}`;
}

export async function countComments(tx: Tx, orgId: OrgId, incidentId: string): Promise<number> {
  const row = await queryRow<{ n: number }>(tx)`
      select count(*) as n from incident_comments where organization_id = ${orgId} and incident_id = ${incidentId}`;
  return row!.n;
}

/** Returns the condition for incidents that a person watches or, with `isUnread`, that mention the person in comments the person has not read. */
export const isFollowed = (
  orgId: OrgId,
  personId: string | null,
  { isUnread = false } = {},
): RawBuilder<unknown> => sql`
  c.id = any(array(select coalesce(o.merged_into, o.id)
    from incident_watchers w join incidents o on o.organization_id = w.organization_id and o.id = w.incident_id
    where w.organization_id = ${orgId} and w.person_id = ${personId}::uuid and ${isUnread ? sql`w.mentioned_at is not null` : sql`w.watching`}))`;

/** The person whose inbox is read, and the current time. `personId` is null for a key. */
export type InboxReader = { orgId: OrgId; personId: string | null; now: Date };

/** Returns the condition for what waits for a person. */
export function isInInbox(inbox: Inbox, { orgId, personId, now }: InboxReader): RawBuilder<unknown> {
  const conditions: Record<Inbox, RawBuilder<unknown>> = {
    mine: sql`c.owner_id = ${personId}::uuid`,
    mentioned: isFollowed(orgId, personId, { isUnread: true }),
    watching: isFollowed(orgId, personId),
    unowned: sql`c.owner is null`,
    late: sql`c.due_at < ${now}`,
  };
  return inbox === 'mentioned' ? conditions[inbox] : sql`(c.state <> 'closed' and ${conditions[inbox]})`;
}

/** Counts what waits for a person. */
export async function countInbox(tx: Tx, reader: InboxReader): Promise<IncidentInbox> {
  const counted = inboxes.map((inbox) => sql`count(*) filter (where ${isInInbox(inbox, reader)}) as ${sql.ref(inbox)}`);
  const row = await queryRow<IncidentInbox>(tx)`
      select ${sql.join(counted)} from incidents c
      where c.organization_id = ${reader.orgId} and c.merged_into is null and (c.state <> 'closed' or ${isInInbox('mentioned', reader)})
        and (c.touched or exists (select from incident_hits i where i.organization_id = c.organization_id and i.incident_id = c.id))`;
  return row!;
}
