import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { uuidPattern, type OrgId } from '../../platform/lib/org-id.ts';
import { truncate } from '../../platform/notifications/chat-message.ts';
import type { TicketComment } from '../../platform/notifications/follow-tickets.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import { listMentionedPersons, lockPerson } from '../../platform/orgs/sessions/persons.store.ts';
import { emitIncidentEvents, emitMention } from './incident-events.ts';
import type {
  IncidentComment,
  IncidentDetail,
  IncidentInbox,
  NewIncidentComment,
  WatchIncident,
} from './incidents.schema.ts';
import { getInbox, getIncident, type ReadIncidentsDeps } from './read-incidents.ts';
import { lockIncident } from './incidents.store.ts';
import {
  countComments,
  insertComment,
  markMentionsRead,
  storeMentions,
  storeWatching,
} from './discuss-incident.store.ts';

const commentsMax = 1000;

/**
 * Adds a comment of a person to an incident, which the people whom it mentions watch from now on. Throws 404, and 409 if the incident has as many
 * comments as it may.
 */
export async function addIncidentComment(
  { db, clock }: { db: Db; clock: Clock },
  caller: Caller,
  id: string,
  { body }: NewIncidentComment,
): Promise<IncidentComment> {
  const { orgId, keyId, subject: actor = null, personId = null } = caller;
  const at = clock();
  return inOrg(db, orgId, async (tx) => {
    const incidentId = await getIncidentId(tx, caller, id);
    if ((await countComments(tx, orgId, incidentId)) >= commentsMax)
      throw appError('conflict', `Incident ${incidentId} has ${commentsMax} comments, as many as it may have.`);
    const comment = { id: uuidv7(at), incidentId, at, body, keyId, actor, personId };
    await insertComment(tx, orgId, comment);
    const people = await listMentionedPersons(tx, orgId, listMentions(body));
    const mentioned = people.map((person) => person.id);
    await storeMentions(tx, orgId, { incidentId, mentioned, authorId: personId, at });
    await emitIncidentEvents(tx, orgId, [incidentId]);
    const others = people.filter((person) => person.id !== personId);
    if (others.length > 0)
      await emitMention(tx, orgId, incidentId, { author: actor, mentioned: others.map(({ name }) => name) });
    // The text is only in the comment, where it can be erased.
    await insertAudit(tx, caller, {
      action: 'incident.commented',
      resourceType: 'incident',
      resourceId: incidentId,
      before: null,
      after: { id: comment.id, ...(mentioned.length > 0 && { mentioned }) },
    });
    return { ...comment, at: at.toISOString() };
  });
}

const commentMaxChars = 8000;

/**
 * Adds what somebody did with a ticket of an incident in another system as a comment. It mentions nobody, because its text comes from outside. Returns false if the
 * resource of the ticket is no incident, or has as many comments as it may.
 */
export async function addTicketComment(
  tx: Tx,
  orgId: OrgId,
  { resourceId, author, body, origin }: TicketComment,
): Promise<boolean> {
  const incident = uuidPattern.test(resourceId) ? await lockIncident(tx, orgId, resourceId) : undefined;
  if (!incident || (await countComments(tx, orgId, incident.id)) >= commentsMax) return false;
  const at = new Date();
  const id = uuidv7(at);
  const text = truncate(body, commentMaxChars);
  await insertComment(tx, orgId, {
    id,
    incidentId: incident.id,
    at,
    body: text,
    keyId: null,
    actor: author,
    personId: null,
  });
  await emitIncidentEvents(tx, orgId, [incident.id]);
  const audited = { resourceType: 'incident', resourceId: incident.id, before: null, after: { id, ...origin } };
  await insertAudit(tx, { orgId, keyId: null }, { action: 'incident.commented', ...audited });
  return true;
}

const mentionsMax = 50;

/** Returns the names after `@` in Markdown, in lower case, at most 50. Code mentions nobody. */
export function listMentions(body: string): string[] {
  const prose = body.replaceAll(/```[^]*?(?:```|$)|~~~[^]*?(?:~~~|$)|`[^`]*`/g, ' ');
  const names = prose.matchAll(
    /(?<![\p{L}\p{N}_@./+-])@(?:"([^"\n]{1,255})"|([\p{L}\p{N}_][\p{L}\p{N}_.+-]*(?:@[\p{L}\p{N}_.-]+)?))/gu,
  );
  const found = [...names].map(([, quoted, plain = '']) => (quoted ?? plain.replace(/[.+-]+$/, '')).toLowerCase());
  return [...new Set(found)].slice(0, mentionsMax);
}

/** Makes a person watch an incident or not, by default the caller. Throws 404, 400 for nobody, and 403 for another person without `hits:write`. */
export async function watchIncident(
  deps: ReadIncidentsDeps,
  caller: Caller,
  id: string,
  input: WatchIncident,
): Promise<IncidentDetail> {
  await inOrg(deps.db, caller.orgId, async (tx) => setWatching(tx, caller, await getIncidentId(tx, caller, id), input));
  return getIncident(deps, caller, id);
}

/** Like `watchIncident`, for an incident that is known. */
export async function setWatching(
  tx: Tx,
  caller: Caller,
  incidentId: string,
  { watching, personId = caller.personId }: WatchIncident,
): Promise<void> {
  const { orgId } = caller;
  if (personId === undefined) throw fieldError('/personId', 'required', 'personId is required with an API key.');
  if (personId !== caller.personId && !caller.scopes.has('hits:write'))
    throw appError('forbidden', 'The scope hits:write is required to decide what another person watches.');
  if (!(await lockPerson(tx, orgId, personId)))
    throw fieldError('/personId', 'unknown', `No person has the ID ${personId}.`);
  await storeWatching(tx, orgId, { incidentId, personId, watching });
  await insertAudit(tx, caller, {
    action: 'incident.watched',
    resourceType: 'incident',
    resourceId: incidentId,
    before: null,
    after: { personId, watching },
  });
}

/** Marks what comments on an incident say to the caller as read. Returns what waits for the caller then. Throws 404. */
export async function readMentions(deps: ReadIncidentsDeps, caller: Caller, id: string): Promise<IncidentInbox> {
  const { orgId, personId } = caller;
  await inOrg(deps.db, orgId, async (tx) => {
    const incidentId = await getIncidentId(tx, caller, id);
    if (personId !== undefined) await markMentionsRead(tx, orgId, { incidentId, personId });
  });
  return getInbox(deps, caller);
}

async function getIncidentId(tx: Tx, { orgId }: Caller, id: string): Promise<string> {
  const incident = await lockIncident(tx, orgId, id);
  if (!incident) throw appError('not_found', `Incident ${id} not found.`);
  return incident.id;
}
