import { setTimeout as sleep } from 'node:timers/promises';
import { inOrg, type Db } from '../../db/db.ts';
import { uuidAt } from '../../lib/ids.ts';
import type { Logger } from '../../lib/logging/logger.ts';
import type { OrgId } from '../../lib/org-id.ts';
import { extendListening, listEventsAfter, type EventRow } from './events.store.ts';

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
export type EventHub = {
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
