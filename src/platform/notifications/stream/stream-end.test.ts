import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, test, vi } from 'vitest';
import type { Caller } from '../../http/caller.ts';
import type { OrgId } from '../../lib/org-id.ts';
import { createEventStreams } from './stream-events.ts';
import type { EventRow } from './events.store.ts';

const caller: Caller = { orgId: 'o' as OrgId, keyId: 'k', scopes: new Set(['detections:read']), expiresAt: null };
const event: EventRow = { id: 'a', at: new Date(), type: 'run.completed', body: '{}' };

/** Starts a stream to a client that reads nothing. */
async function startStream(isActive: () => Promise<boolean>) {
  const raw = Object.assign(new PassThrough(), { writeHead: () => raw });
  let listener: (events: EventRow[]) => void = () => undefined;
  const stopped = vi.fn();
  const hub = {
    listen: (_org: OrgId, listen: typeof listener) => ((listener = listen), stopped),
    close: () => undefined,
  };
  const streams = createEventStreams({ db: undefined as never, hub, isActive });
  const reply = { raw, hijack: () => undefined, getHeaders: () => ({}) } as unknown as FastifyReply;
  await streams.send(caller, undefined, { request: { headers: {} } as FastifyRequest, reply });
  return { raw, stopped, streams, send: (events: EventRow[]) => listener(events) };
}

test('ends when the key or session has ended', async () => {
  vi.useFakeTimers();
  try {
    let active = true;
    const { raw, stopped } = await startStream(() => Promise.resolve(active));
    await vi.advanceTimersByTimeAsync(15_000);
    expect(raw.read()?.toString()).toContain(': heartbeat');
    active = false;
    await vi.advanceTimersByTimeAsync(15_000);
    expect(raw.destroyed).toBe(true);
    await vi.advanceTimersByTimeAsync(1);
    expect(stopped).toHaveBeenCalledOnce();
  } finally {
    vi.useRealTimers();
  }
});

test('disconnects a client that reads too slowly', async () => {
  const { raw, send } = await startStream(() => Promise.resolve(true));
  const closed = once(raw, 'close');
  send(Array.from({ length: 60 }, (_, n) => ({ ...event, id: `a${n}`, body: JSON.stringify('x'.repeat(100_000)) })));
  await closed;
  expect(raw.destroyed).toBe(true);
});

test('ends at shutdown, and sends an event once', async () => {
  const { raw, send, streams } = await startStream(() => Promise.resolve(true));
  send([event]);
  send([event]);
  streams.close();
  const text = (await raw.toArray()).join('');
  expect(text.match(/event: run.completed/g)).toHaveLength(1);
});
