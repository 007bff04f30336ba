import type { Tx } from '../../platform/db/db.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import type { EventType } from '../../platform/notifications/event-types.ts';
import type { Cursor, SourceRow } from './source-row.ts';
import { readSource } from './sources.store.ts';
import { toSource } from './source-view.ts';

const silentLeastMs = 7 * 86_400_000;
const silentFactor = 5;

/**
 * What a good pull says of the rhythm of its source. It is silent after the larger of seven days and five times its usual distance between
 * news (a running mean); `silentSince` stays until something new comes, so that a silence is told once.
 */
export function rhythmOf(
  source: SourceRow,
  cursor: Cursor,
  { now, isNew }: { now: Date; isNew: boolean },
): Pick<Cursor, 'usualMs' | 'silentSince'> {
  const last = source.last_new_at ?? source.created_at;
  const sinceMs = now.getTime() - last.getTime();
  const { usualMs } = cursor;
  // The first load says nothing about the distance.
  if (isNew)
    return {
      usualMs:
        source.last_new_at === null
          ? usualMs
          : Math.round(usualMs === undefined ? sinceMs : (usualMs * 3 + sinceMs) / 4),
      silentSince: undefined,
    };
  const isSilent = sinceMs > Math.max(silentLeastMs, silentFactor * (usualMs ?? 0));
  return { usualMs, silentSince: cursor.silentSince ?? (isSilent ? now.toISOString() : undefined) };
}

/** Tells the owner's destinations what became of a source, in the transaction of the pull. */
export async function tellSource(
  tx: Tx,
  source: SourceRow,
  { type, now }: { type: EventType; now: Date },
): Promise<void> {
  const { organization_id: orgId, id } = source;
  await emitEvents(tx, [orgId], [type], async () => {
    const owner = { orgId, keyId: null, scopes: new Set<string>() };
    return [
      {
        orgId,
        type,
        resourceId: id,
        revision: now.getTime(),
        data: toSource(await readSource(tx, source), owner, now),
      },
    ];
  });
}
