import type { FastifyReply, FastifyRequest } from 'fastify';
import { inOrg, type Db } from '../../db/db.ts';
import { appError, fieldError } from '../../lib/errors.ts';
import { uuidPattern } from '../../lib/org-id.ts';
import type { Caller } from '../../orgs/caller.ts';
import type { EventHub } from './event-hub.ts';
import { listEventsAfter, type EventRow } from './events.store.ts';
import { listVisibleTypes } from './visible-types.ts';

const streamsPerOrganizationMax = 20;
const streamsMax = 500;
const backlogMax = 1000;
/** A client that reads slower than this much behind is disconnected. It can resume. */
const bufferedBytesMax = 4 * 1024 * 1024;
const heartbeatMs = 15_000;
const retryMs = 3_000;

export type StreamEventsDeps = {
  db: Db;
  hub: EventHub;
  /** Returns whether the caller's key or session has not ended. */
  isActive: (caller: Caller) => Promise<boolean>;
};

export type EventStreams = {
  send: (
    caller: Caller,
    types: string | undefined,
    exchange: { request: FastifyRequest; reply: FastifyReply },
  ) => Promise<void>;
  /** Ends all streams. */
  close: () => void;
};

/**
 * Creates the streams of one process: server-sent events of the organization, with the id of each so that a client resumes by Last-Event-ID. A
 * stream ends when its key or session ends, when the client reads too slowly, and at shutdown.
 */
export function createEventStreams({ db, hub, isActive }: StreamEventsDeps): EventStreams {
  const streams = new Set<{ caller: Caller; end: () => void }>();
  return {
    async send(caller, types, { request, reply }) {
      const own = [...streams].filter((stream) => stream.caller.orgId === caller.orgId).length;
      if (own >= streamsPerOrganizationMax || streams.size >= streamsMax)
        throw appError(
          'rate_limited',
          'Too many event streams are open. Close one, or poll this route without Accept: text/event-stream.',
          {
            headers: { 'retry-after': '30' },
          },
        );
      const lastId = readLastEventId(request);
      const visible = new Set<string>(listVisibleTypes(caller, types));
      reply.hijack();
      const { raw } = reply;
      raw.writeHead(200, {
        ...(reply.getHeaders() as Record<string, string>),
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      raw.write(`retry: ${retryMs}\n\n`);
      const sent = new Set<string>();
      const write = (events: EventRow[]): void => {
        for (const { id, type, body } of events) {
          if (!visible.has(type) || sent.has(id)) continue;
          if (sent.size >= 2 * backlogMax) sent.delete(sent.values().next().value!);
          sent.add(id);
          raw.write(`id: ${id}\nevent: ${type}\ndata: ${body}\n\n`);
        }
        if (raw.writableLength > bufferedBytesMax) end();
      };
      const stopListening = hub.listen(caller.orgId, write);
      const heartbeat = setInterval(() => {
        void isActive(caller).then(
          (active) => (active ? raw.write(': heartbeat\n\n') : end()),
          () => end(),
        );
      }, heartbeatMs).unref();
      const stream = { caller, end: () => void raw.end() };
      const end = (): void => void raw.destroy();
      streams.add(stream);
      raw.once('close', () => {
        clearInterval(heartbeat);
        stopListening();
        streams.delete(stream);
      });
      if (lastId === undefined) return;
      const backlog = await inOrg(db, caller.orgId, (tx) =>
        listEventsAfter(tx, caller.orgId, { afterId: lastId, seen: [], limit: backlogMax }),
      ).catch(() => undefined);
      // The client connects again and asks for the same events.
      if (!backlog) return end();
      write(backlog);
    },
    close: () => {
      for (const { end } of streams) end();
    },
  };
}

function readLastEventId({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id'];
  if (id === undefined || id === '') return undefined;
  if (typeof id === 'string' && uuidPattern.test(id)) return id.toLowerCase();
  throw fieldError('header/last-event-id', 'invalid', 'Last-Event-ID must be the id of an event.');
}
