import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { listCurrentOverrides } from '../items/overrides/override-rows.store.ts';
import type { FeedItem } from '../model/item.schema.ts';

export type RelevantItem = { item: FeedItem; relevance: { score: number; reasons: unknown } };

/** Emits `feed.item.relevant` for items that became relevant to an organization, except those that it retracted for itself. */
export async function notifyRelevantItems(tx: Tx, orgId: OrgId, relevantItems: RelevantItem[]): Promise<void> {
  await emitEvents(tx, [orgId], ['feed.item.relevant'], async () => {
    const ids = relevantItems.map(({ item }) => item.id);
    const overrides = await listCurrentOverrides(tx, ids);
    return relevantItems.flatMap(({ item, relevance }) => {
      const override = overrides.get(item.id);
      if (override?.status === 'retracted') return [];
      const severity = override?.severity ?? item.event.severity;
      const event = {
        orgId,
        type: 'feed.item.relevant' as const,
        resourceId: item.id,
        revision: item.version,
        severity,
      };
      return { ...event, data: { ...item, relevance } };
    });
  });
}
