import type { Tx } from '../../platform/db/db.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import type { EventType } from '../../platform/notifications/event-types.ts';
import type { PullCursor, SourceRow } from '../ingestion/source-row.ts';
import { readSource } from './sources.store.ts';
import { toSource } from './source-view.ts';

const silentMinMs = 7 * 86_400_000;
const silentFactor = 5;

/**
 * Updates a source's usual time between new items (a running mean), and since when it has been silent. A source is silent after the larger of
 * seven days and five times its usual time. `silentSince` stays until there is a new item, so that a silence is reported once.
 */
export function updateNewsRhythm(
  source: SourceRow,
  cursor: PullCursor,
  { now, isNew }: { now: Date; isNew: boolean },
): Pick<PullCursor, 'usualMs' | 'silentSince'> {
  const last = source.last_new_at ?? source.created_at;
  const sinceMs = now.getTime() - last.getTime();
  const { usualMs } = cursor;
  // The first pull says nothing about the time between new items.
  if (isNew)
    return { usualMs: source.last_new_at === null ? usualMs : nextMean(usualMs, sinceMs), silentSince: undefined };
  const isSilent = sinceMs > Math.max(silentMinMs, silentFactor * (usualMs ?? 0));
  return { usualMs, silentSince: cursor.silentSince ?? (isSilent ? now.toISOString() : undefined) };
}

const nextMean = (usualMs: number | undefined, sinceMs: number): number =>
  Math.round(usualMs === undefined ? sinceMs : (usualMs * 3 + sinceMs) / 4);

/** Sends an event about a source to its owner's notification destinations, in the transaction of the pull. */
export async function notifySource(
  tx: Tx,
  source: SourceRow,
  { type, now }: { type: EventType; now: Date },
): Promise<void> {
  const { organization_id: orgId, id } = source;
  await emitEvents(tx, [orgId], [type], async () => {
    const owner = { orgId, keyId: null, scopes: new Set<string>(), expiresAt: null };
    const data = toSource(await readSource(tx, source), owner, now);
    return [{ orgId, type, resourceId: id, revision: now.getTime(), data }];
  });
}
