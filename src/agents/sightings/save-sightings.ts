import type { Tx } from '../../platform/db/db.ts';
import type { AppliedOverride } from '../../feed/items/snapshot/apply-overrides.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import type { RelevanceReason } from '../../feed/model/overrides.schema.ts';
import { withOwnPoolLocked } from '../../feed/relevance/profile.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import type { Sighting } from './find-sightings.ts';
import { markExposed } from '../../feed/items/writing/overrides.store.ts';
import { insertSightings, type Sweep } from './sightings.store.ts';

const reasonsMax = 10;
const indicatorsPerEventMax = 50;

/** Sightings of one batch. `overrides`: the organization's overrides of the swept items, by item ID. */
export type SweepFindings = {
  sightings: Sighting[];
  items: FeedItem[];
  overrides: ReadonlyMap<string, AppliedOverride>;
  now: Date;
};

/** Stores new sightings, marks their items as exposed, and emits one `feed.item.exposed` event for each newly exposed item. */
export async function saveSightings(tx: Tx, sweep: Sweep, findings: SweepFindings): Promise<void> {
  const { sightings, items, overrides, now } = findings;
  if (sightings.length === 0) return;
  const { orgId, connectionId } = sweep;
  const itemsById = new Map(items.map((item) => [item.id, item]));
  await withOwnPoolLocked(tx, orgId, async () => {
    const sightedIds = await insertSightings(tx, sweep, sightings, now);
    const marks = sightedIds.map((id) => ({ id, reasons: buildReasons(itemsById.get(id)!, sightings) }));
    const exposedIds = await markExposed(tx, orgId, marks, now);
    await emitEvents(tx, [orgId], ['feed.item.exposed'], () =>
      exposedIds.map((id) => {
        const item = itemsById.get(id)!;
        const indicators = sightings
          .filter(({ itemId }) => itemId === id)
          .map(({ type, value, match, observed, dataset }) => ({ type, value, match, observed, dataset }))
          .slice(0, indicatorsPerEventMax);
        return {
          orgId,
          type: 'feed.item.exposed',
          resourceId: id,
          revision: item.version,
          data: { ...item, sighting: { at: now.toISOString(), connectionId, indicators } },
          severity: overrides.get(id)?.severity ?? item.event.severity,
        };
      }),
    );
    return exposedIds.length > 0;
  });
}

/** Returns a relevance reason for each sighted indicator of the item, with the passage that contains it. */
function buildReasons(item: FeedItem, sightings: Sighting[]): RelevanceReason[] {
  const values = new Set(sightings.flatMap(({ itemId, value }) => (itemId === item.id ? [value] : [])));
  const indicators = Object.values(item.iocs).flat();
  return [...values].slice(0, reasonsMax).map((matched) => {
    const indicator = indicators.find(({ normalizedValue }) => normalizedValue.toLowerCase() === matched);
    const printed = indicator?.value ?? matched;
    const passage = item.provenance.supportingPassages.findIndex(({ text }) => text.includes(printed));
    return {
      kind: 'indicator',
      matched,
      weight: 1,
      ...(passage < 0 ? {} : { evidenceRef: `provenance.supportingPassages[${passage}]` }),
    };
  });
}
