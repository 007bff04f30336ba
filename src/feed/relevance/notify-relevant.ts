import type { Tx } from '../../platform/db/db.ts';
import { listSaidNow } from '../items/overrides/apply-overrides.ts';
import type { FeedItem } from '../model/item.schema.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';

/** An item that came to be relevant, and why. */
export type Told = { item: FeedItem; relevance: { score: number; reasons: unknown } };

/** Tells an organization of items that are relevant from now on, but for those that it retracted. */
export async function tellRelevant(tx: Tx, orgId: OrgId, told: Told[]): Promise<void> {
  await emitEvents(tx, [orgId], ['feed.item.relevant'], async () => {
    const said = await listSaidNow(
      tx,
      told.map(({ item }) => item.id),
    );
    return told.flatMap(({ item, relevance }) => {
      const word = said.get(item.id);
      if (word?.status === 'retracted') return [];
      return [
        {
          orgId,
          type: 'feed.item.relevant',
          resourceId: item.id,
          revision: item.version,
          data: { ...item, relevance },
          severity: word?.severity ?? item.event.severity,
        },
      ];
    });
  });
}
