import type { Tx } from '../../platform/db/db.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import type { RelevanceReason } from '../../feed/model/overrides.schema.ts';
import { withOwnPoolLocked } from '../../feed/relevance/profile.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import type { Sighting } from './find-sightings.ts';
import { clearExposed, markExposed } from '../../feed/items/writing/overrides.store.ts';
import { withdrawEvents } from '../../detection/runs/judging/withdrawn-events.store.ts';
import {
  deleteWithdrawnSightings,
  hasSightings,
  insertSightings,
  listEventIds,
  type Sweep,
} from './sightings.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { applyOverride } from '../../feed/items/snapshot/apply-overrides.ts';
import { listNetworks } from '../../feed/model/values/observables.ts';
import { buckets, isHarmlessHere } from '../../feed/model/vocabulary.ts';
import type { ItemTargets } from './sweep-targets.ts';
import { listFalsePositives } from '../../feed/indicators/indicators.store.ts';

const reasonsMax = 10;
const indicatorsPerEventMax = 50;

/** Sightings of items. */
export type SweepFindings = Omit<ItemTargets, 'targets'> & { sightings: Sighting[]; now: Date };

/** Stores new sightings, marks their items as exposed, and emits one `feed.item.exposed` event for each newly exposed item. */
export async function saveSightings(
  tx: Tx,
  sweep: Pick<Sweep, 'orgId' | 'connectionId'>,
  { sightings, items, overrides, now }: SweepFindings,
): Promise<void> {
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

/**
 * Deletes sightings of values that items call harmless, or that their items no longer state, such as those of a retracted item. The events of rows
 * that are sightings no longer are withdrawn, with what waits for a verdict and the open hits.
 */
export async function withdrawSightings(
  tx: Tx,
  orgId: OrgId,
  { items, overrides, now }: Omit<SweepFindings, 'sightings'>,
): Promise<void> {
  const stated = items.flatMap((item) => {
    const own = applyOverride(item, overrides.get(item.id));
    const indicators = [...buckets.flatMap((bucket) => own.iocs[bucket]), ...listNetworks(own)];
    return indicators.map((indicator) => ({
      itemId: item.id,
      value: indicator.normalizedValue.toLowerCase(),
      status: isHarmlessHere(indicator) ? ('revoked' as const) : indicator.status,
    }));
  });
  const standing = stated.filter(({ status }) => status === 'active' || status === 'expired');
  const harmless = stated.flatMap(({ status, value }) => (status === 'false_positive' ? value : []));
  const itemIds = items.map(({ id }) => id);
  if (!(await hasSightings(tx, orgId, { itemIds, harmless }))) return;
  await withOwnPoolLocked(tx, orgId, async () => {
    const { unseenItems, rows } = await deleteWithdrawnSightings(tx, orgId, { itemIds, standing, harmless });
    await clearExposed(tx, orgId, unseenItems, now);
    const eventIds = await listEventIds(tx, orgId, rows);
    await withdrawEvents(tx, orgId, { eventIds, reason: withdrawnReason, now });
    return unseenItems.length > 0;
  });
}

const withdrawnReason =
  'The sighting was withdrawn: the feed, or the organization, no longer considers the indicator malicious.';

/** Leaves out sightings by a host that itself is a false positive, such as a harmless name below a listed domain. */
export async function leaveOutHarmless(tx: Tx, findings: readonly SweepFindings[]): Promise<SweepFindings[]> {
  const hosts = findings.flatMap(({ sightings }) => sightings.map(({ observedHost }) => observedHost));
  if (hosts.length === 0) return [...findings];
  const harmless = await listFalsePositives(tx, [...new Set(hosts)]);
  const isSighting = ({ match, observedHost }: Sighting): boolean => match === 'exact' || !harmless.has(observedHost);
  return findings.map((found) => ({ ...found, sightings: found.sightings.filter(isSighting) }));
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
