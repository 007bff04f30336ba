import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { inOrg, type Db } from '../../db/db.ts';
import { appError, fieldError } from '../../lib/errors.ts';
import { uuidPattern, type OrgId } from '../../lib/org-id.ts';
import type { Caller } from '../../http/caller.ts';
import { listEventsAfter, type EventRow, extendListening, listEventsBefore } from './events.store.ts';
import { listVisibleTypes } from '../event-types.ts';
import { isKeyActive } from '../../orgs/orgs.store.ts';
import type { SessionAuthenticator } from '../../orgs/sessions/session-authenticator.ts';
import { readPageRequest, toPage } from '../../lib/page-request.ts';
import type { EventList, EventsQuery } from './events.schema.ts';
import { uuidAt } from '../../lib/ids.ts';
import type { Logger } from '../../lib/logging/logger.ts';

const streamsPerOrganizationMax = 100;
const streamsMax = 500;
const backlogMax = 1000;
/** A client that reads slower than this much behind is disconnected. It can resume. */
const bufferedBytesMax = 4 * 1024 * 1024;
const heartbeatMs = 15_000;
const retryMs = 3_000;

type StreamEventsDeps = {
  db: Db;
  hub: EventHub;
  /** Returns whether the caller's key or session has not ended. */
  isActive: (caller: Caller) => Promise<boolean>;
};

type EventStreams = {
  send: (
    caller: Caller,
    types: string | undefined,
    exchange: { request: FastifyRequest; reply: FastifyReply },
  ) => Promise<void>;
  /** Ends all streams. */
  close: () => void;
};

type Stream = { caller: Caller; end: () => void };

/**
 * Creates the streams of one process: server-sent events of the organization, with the id of each so that a client resumes by Last-Event-ID. A
 * stream ends when its key or session ends, when the client reads too slowly, and at shutdown.
 */
export function createEventStreams(deps: StreamEventsDeps): EventStreams {
  const streams = new Set<Stream>();
  return {
    async send(caller, types, { request, reply }) {
      requireFreeStream(streams, caller);
      const lastId = readLastEventId(request);
      const visible = new Set<string>(listVisibleTypes(caller, types));
      const raw = startStream(reply);
      const write = createEventWriter(raw, visible);
      followEvents(deps, streams, caller, { raw, write });
      if (lastId === undefined) return;
      const backlog = await readBacklog(deps.db, caller, lastId);
      // The client connects again and requests the same events.
      if (backlog) write(backlog);
      else raw.destroy();
    },
    close: () => {
      for (const { end } of streams) end();
    },
  };
}

function requireFreeStream(streams: ReadonlySet<Stream>, { orgId }: Caller): void {
  const own = [...streams].filter(({ caller }) => caller.orgId === orgId).length;
  if (own >= streamsPerOrganizationMax || streams.size >= streamsMax)
    throw appError(
      'rate_limited',
      'Too many event streams are open. Close one, or poll this route without Accept: text/event-stream.',
      { headers: { 'retry-after': '30' } },
    );
}

function startStream(reply: FastifyReply): ServerResponse {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  raw.write(`retry: ${retryMs}\n\n`);
  return raw;
}

/** Returns a function that writes events of the visible types, each once, and disconnects a client that reads too slowly. */
function createEventWriter(raw: ServerResponse, visible: ReadonlySet<string>): (events: EventRow[]) => void {
  const sent = new Set<string>();
  return (events) => {
    for (const { id, type, body } of events) {
      if (!visible.has(type) || sent.has(id)) continue;
      if (sent.size >= 2 * backlogMax) sent.delete(sent.values().next().value!);
      sent.add(id);
      raw.write(`id: ${id}\nevent: ${type}\ndata: ${body}\n\n`);
    }
    if (raw.writableLength > bufferedBytesMax) raw.destroy();
  };
}

/** Writes new events, and heartbeats as long as the caller is active, until the connection closes. */
function followEvents(
  { hub, isActive }: StreamEventsDeps,
  streams: Set<Stream>,
  caller: Caller,
  { raw, write }: { raw: ServerResponse; write: (events: EventRow[]) => void },
): void {
  const stopListening = hub.listen(caller.orgId, write);
  const heartbeat = setInterval(() => {
    void isActive(caller).then(
      (active) => (active ? raw.write(': heartbeat\n\n') : raw.destroy()),
      () => raw.destroy(),
    );
  }, heartbeatMs).unref();
  const stream: Stream = { caller, end: () => void raw.end() };
  streams.add(stream);
  raw.once('close', () => {
    clearInterval(heartbeat);
    stopListening();
    streams.delete(stream);
  });
}

/** Returns the events after one, or undefined if the database is unavailable. */
const readBacklog = (db: Db, { orgId }: Caller, afterId: string): Promise<EventRow[] | undefined> =>
  inOrg(db, orgId, (tx) => listEventsAfter(tx, orgId, { afterId, seen: [], limit: backlogMax })).catch(() => undefined);

function readLastEventId({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id'];
  if (id === undefined || id === '') return undefined;
  if (typeof id === 'string' && uuidPattern.test(id)) return id.toLowerCase();
  throw fieldError('header/last-event-id', 'invalid', 'Last-Event-ID must be the id of an event.');
}

export type CallerCheckDeps = { db: Db; sessions: Pick<SessionAuthenticator, 'isActive'> };

/** Returns a function that reports whether the key or session of a caller has not ended since it was authenticated. */
export const createCallerCheck =
  ({ db, sessions }: CallerCheckDeps) =>
  ({ orgId, keyId, sessionId }: Caller): Promise<boolean> => {
    if (sessionId !== undefined) return sessions.isActive(orgId, sessionId);
    return keyId === null ? Promise.resolve(true) : inOrg(db, orgId, (tx) => isKeyActive(tx, orgId, keyId));
  };

/** Returns a page of the stored events that the caller may read, newest first, and makes later events be stored. */
export async function listEvents({ db }: { db: Db }, caller: Caller, query: EventsQuery): Promise<EventList> {
  const request = readPageRequest(query);
  await extendListening(db, caller.orgId);
  const types = listVisibleTypes(caller, query.types);
  const rows = await inOrg(db, caller.orgId, (tx) => listEventsBefore(tx, caller.orgId, types, request));
  const { page, nextCursor } = toPage(rows, request.limit, (row) => row);
  return { events: page.map(({ body }) => JSON.parse(body) as EventList['events'][number]), nextCursor };
}

/** A transaction may commit an event this long after its ID was created, so the hub reads that span again. */
const overlapMs = 15_000;
const extendMs = 60_000;
const batchMax = 500;

type Listener = (events: EventRow[]) => void;
type Channel = { listeners: Set<Listener>; stop: AbortController };

/**
 * Reads the new events of the organizations that have a listener in this process, once per interval and organization however many listeners it
 * has. It works across processes, because events come from the database.
 */
type EventHub = {
  /** Calls `listener` with new events until the returned function is called. */
  listen: (orgId: OrgId, listener: Listener) => () => void;
  close: () => void;
};

export type EventHubDeps = { db: Db; log: Logger; intervalMs?: number };

export function createEventHub({ db, log, intervalMs = 1000 }: EventHubDeps): EventHub {
  const channels = new Map<OrgId, Channel>();
  async function read(orgId: OrgId, { listeners, stop: { signal } }: Channel): Promise<void> {
    const startId = uuidAt(new Date(Date.now() - 1000));
    let seen: string[] = [];
    let extendedAt = 0;
    while (!signal.aborted) {
      try {
        if (performance.now() - extendedAt > extendMs || extendedAt === 0) {
          await extendListening(db, orgId);
          extendedAt = performance.now();
        }
        const recentId = uuidAt(new Date(Date.now() - overlapMs));
        const afterId = recentId > startId ? recentId : startId;
        seen = seen.filter((id) => id > afterId);
        const events = await inOrg(db, orgId, (tx) => listEventsAfter(tx, orgId, { afterId, seen, limit: batchMax }));
        seen.push(...events.map(({ id }) => id));
        if (events.length > 0) for (const listener of listeners) listener(events);
      } catch (error) {
        log.warn({ err: error }, 'reading the events of a stream failed');
      }
      await sleep(intervalMs, undefined, { signal }).catch(() => undefined);
    }
  }
  return {
    listen(orgId, listener) {
      const open = channels.get(orgId);
      const channel = open ?? { listeners: new Set(), stop: new AbortController() };
      channel.listeners.add(listener);
      if (!open) {
        channels.set(orgId, channel);
        void read(orgId, channel);
      }
      return () => {
        channel.listeners.delete(listener);
        if (channel.listeners.size > 0 || channels.get(orgId) !== channel) return;
        channels.delete(orgId);
        channel.stop.abort();
      };
    },
    close: () => {
      for (const { stop } of channels.values()) stop.abort();
      channels.clear();
    },
  };
}
