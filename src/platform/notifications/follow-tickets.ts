import { inOrg, type Db, type Tx } from '../db/db.ts';
import { runLoop } from '../lib/concurrency/loop.ts';
import { ExternalError, reasonOf } from '../lib/external-error.ts';
import type { Logger } from '../lib/logging/logger.ts';
import type { OrgId } from '../lib/org-id.ts';
import { attemptMs, createRequest, toSingleLine, type AttemptDeps } from './delivery-attempt.ts';
import { kindOf } from './destination-kinds.ts';
import { openSecrets } from './destination-secrets.ts';
import { truncate } from './chat-message.ts';
import {
  claimFollowedAcrossOrgs,
  finishFollowing,
  listFollowedTickets,
  lockTicket,
  updateFollowedTicket,
  type FollowedDestination,
  type FollowedTicket,
} from './follow-tickets.store.ts';
import type { RemoteComment, RemoteTicket } from './kinds/destination-kind.ts';
import { TicketsUnreadableError } from './kinds/ticket-flow.ts';

/** What somebody did with the ticket of a resource. `author` and `body` come from another system. `origin` says where they are there. */
export type TicketComment = {
  resourceId: string;
  author: string;
  body: string;
  origin: { destinationId: string; ticket: string; commentId?: number };
};

export type FollowTicketsDeps = AttemptDeps & {
  db: Db;
  log: Logger;
  /** Adds a comment to the resource of a ticket. Returns false if it takes none. */
  addTicketComment: (tx: Tx, orgId: OrgId, comment: TicketComment) => Promise<boolean>;
};

/** Destinations that are read side by side, each of another organization. */
const destinationsAtOnce = 8;
const idleMs = 5000;
const intervalMs = 60_000;
const pauseMaxMs = 3_600_000;
/** Lists of tickets may include a change some minutes after it happened. */
const overlapMs = 5 * 60_000;
const authorMaxChars = 100;
const errorMaxChars = 500;

/** Reads what people do with open tickets in other systems until the signal aborts, once a minute for each destination. */
export function followTicketsLoop(deps: FollowTicketsDeps, signal: AbortSignal): Promise<void> {
  return runLoop(
    { name: 'follow-tickets', idleMs, signal, log: deps.log },
    async () => (await followDue(deps, signal)) > 0,
  );
}

/** Reads the tickets of destinations that are due. Returns their number. */
export async function followDue(deps: FollowTicketsDeps, signal?: AbortSignal): Promise<number> {
  const claimed = await claimFollowedAcrossOrgs(deps.db, destinationsAtOnce);
  await Promise.all(
    claimed.map(async (destination) => {
      const deadline = AbortSignal.timeout(attemptMs);
      const untilEnd = signal ? AbortSignal.any([signal, deadline]) : deadline;
      const result = await readTickets(deps, destination, untilEnd).then(
        (until) => ({ until, error: null, pauseMs: intervalMs, failures: 0 }),
        (error: unknown) => toFailure(deps, destination, error),
      );
      await inOrg(deps.db, destination.organization_id, (tx) => finishFollowing(tx, destination, result));
    }),
  );
  return claimed.length;
}

function toFailure(
  { log }: FollowTicketsDeps,
  { id, tickets_failures, tickets_until }: FollowedDestination,
  error: unknown,
) {
  if (!(error instanceof ExternalError)) log.error({ err: error, destinationId: id }, 'tickets could not be read');
  const failures = tickets_failures + 1;
  const demandedMs = (error instanceof TicketsUnreadableError ? error.retryAfterMs : undefined) ?? 0;
  const pauseMs = Math.min(pauseMaxMs, Math.max(intervalMs * 2 ** failures, demandedMs));
  return { until: tickets_until, error: toSingleLine(reasonOf(error)).slice(0, errorMaxChars), pauseMs, failures };
}

/** Adds what changed at a destination. Returns the time of the last change that was read. */
async function readTickets(
  deps: FollowTicketsDeps,
  destination: FollowedDestination,
  signal: AbortSignal,
): Promise<Date> {
  const { organization_id: orgId, kind, settings } = destination;
  const { url, credentials = {} } = openSecrets(deps.secrets, destination);
  const request = createRequest({ allow: deps.config.fetchAllow, isConfidential: true, signal });
  const reader = kindOf(kind).readTickets!({ url, settings, credentials, request });
  const from = destination.tickets_until ?? destination.created_at;
  const since = new Date(from.getTime() - overlapMs);
  const { tickets, isComplete } = await reader.listChanged(since);
  const known = await inOrg(deps.db, orgId, (tx) =>
    listFollowedTickets(
      tx,
      destination,
      tickets.map(({ reference }) => reference),
    ),
  );
  for (const remote of tickets) {
    const ticket = known.get(remote.reference);
    if (!ticket || ticket.read_at?.getTime() === remote.updatedAt.getTime()) continue;
    const comments = await reader.listComments(remote.reference, { since, afterId: ticket.comment_id });
    await inOrg(deps.db, orgId, (tx) => storeTicket(tx, deps, destination, { ticket, remote, comments }));
  }
  const last = Math.max(from.getTime(), ...tickets.map(({ updatedAt }) => updatedAt.getTime()));
  // The next page begins with the last change of this one, and later where all of this page changed at the same time.
  return new Date(isComplete ? last : Math.max(last + overlapMs, from.getTime() + 1000));
}

type Reading = { ticket: FollowedTicket; remote: RemoteTicket; comments: RemoteComment[] };

/** Stores comments that are new, and whether the ticket was closed or reopened by somebody else than this service. */
async function storeTicket(
  tx: Tx,
  { addTicketComment, log }: FollowTicketsDeps,
  destination: FollowedDestination,
  { ticket: { resource_id: resourceId }, remote, comments }: Reading,
): Promise<void> {
  const { id: destinationId, organization_id: orgId, kind } = destination;
  const { label } = kindOf(kind);
  const { reference } = remote;
  const stored = await lockTicket(tx, destination, resourceId);
  if (stored?.reference !== reference) return;
  const add = async (author: string, body: string, commentId?: number): Promise<void> => {
    const origin = { destinationId, ticket: reference, ...(commentId !== undefined && { commentId }) };
    if (!(await addTicketComment(tx, orgId, { resourceId, author, body, origin })))
      log.warn({ resourceId, ...origin }, 'a comment on a ticket was not added');
  };
  for (const { id, author, body } of comments) {
    const text = toStorable(body).trim();
    if (id <= stored.comment_id || text === '') continue;
    await add(`${truncate(toSingleLine(toStorable(author)), authorMaxChars)} (${label})`, text, id);
  }
  // While this service tells the other one about the resource, a state may be its own work.
  const isOwn = stored.is_busy || stored.updated_at >= destination.claimed_at;
  const isRead = !isOwn && stored.state !== 'closed';
  if (isRead && stored.closed_there !== null && remote.isClosed !== stored.closed_there) {
    const status = truncate(toSingleLine(toStorable(remote.status)), authorMaxChars);
    const verb = remote.isClosed ? 'closed' : 'reopened';
    await add(label, `Ticket ${reference} was ${verb}${status === '' ? '' : ` (${status})`}.`);
  }
  await updateFollowedTicket(tx, destination, resourceId, {
    readAt: isOwn ? null : remote.updatedAt,
    commentId: Math.max(stored.comment_id, ...comments.map(({ id }) => id)),
    closedThere: isRead ? remote.isClosed : stored.closed_there,
  });
}

/** Removes what PostgreSQL cannot store. */
const toStorable = (text: string): string => text.replaceAll('\0', '').toWellFormed();
