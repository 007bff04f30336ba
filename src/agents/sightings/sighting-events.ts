import { createHash } from 'node:crypto';
import { composeEvent } from '../../detection/log-ingest/events/parse-event.ts';
import { createEventBatch } from '../../detection/log-ingest/body/event-batch.ts';
import { sightingsDataset } from '../../detection/log-store/catalog/catalog.ts';
import { storeBatch, type ReceiveLogsDeps } from '../../detection/log-ingest/receive-logs.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import { createNameReader } from '../../feed/model/value-names.ts';
import { applyOverride, type AppliedOverride } from '../../feed/items/snapshot/apply-overrides.ts';
import { listNetworks, type ObservableIndicator } from '../../feed/model/values/observables.ts';
import { buckets } from '../../feed/model/vocabulary.ts';
import { inOrg, type Tx } from '../../platform/db/db.ts';
import { AppError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import type { Sighting } from './find-sightings.ts';
import { leaveOutHarmless, type SweepFindings } from './save-sightings.ts';
import { listEventIds, listKnownSightings, type Sweep } from './sightings.store.ts';

type SightingPlace = Pick<Sweep, 'orgId' | 'connectionId'>;

const rowCharsMax = 4_000;
const dayMs = 86_400_000;

/**
 * Writes an event of each new sighting into the dataset of sightings, from which a detection makes hits, and calls `store` in the same transaction
 * with those that are not harmless. Without new sightings, or if the quota of logs is used up, it only calls `store`.
 */
export async function storeWithEvents(
  deps: ReceiveLogsDeps & { log: Logger },
  place: SightingPlace,
  all: readonly SweepFindings[],
  store: (tx: Tx, findings: readonly SweepFindings[]) => Promise<void>,
): Promise<void> {
  const { orgId } = place;
  const { findings, events } = await inOrg(deps.db, orgId, async (tx) => {
    const findings = await leaveOutHarmless(tx, all);
    const events = new Map<string, SightingEvent>();
    for (const found of findings) await addEvents(tx, events, place, found);
    return { findings, events: [...events.values()] };
  });
  const storeFindings = (tx: Tx): Promise<void> => store(tx, findings);
  if (events.length === 0) return inOrg(deps.db, orgId, storeFindings);
  const id = uuidv7();
  const nowMicros = deps.clock().getTime() * 1000;
  const folder = deps.segmentStore.folderOf(orgId);
  const batch = createEventBatch({ id, folder, dataset: sightingsDataset, nowMicros });
  for (const [index, event] of events.entries()) {
    const composed = composeEvent({ ...event }, nowMicros);
    if (typeof composed !== 'string') await batch.add(composed, index + 1);
  }
  const file = (await batch.finish())!;
  const bodyHash = createHash('sha256').update(id).digest();
  const written = {
    id,
    dataset: sightingsDataset,
    history: false,
    bodyHash,
    file,
    observed: batch.observed(),
    rejected: 0,
  };
  try {
    await storeBatch(deps, orgId, written, storeFindings);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'quota_exceeded') throw error;
    deps.log.warn({ orgId, events: events.length }, 'sightings have no events, because the quota of logs is used up');
    await inOrg(deps.db, orgId, storeFindings);
  }
}

/** Adds the events of sightings that are not stored yet. Of several items that state the value, the one with the highest confidence counts. */
async function addEvents(
  tx: Tx,
  events: Map<string, SightingEvent>,
  place: SightingPlace,
  found: SweepFindings,
): Promise<void> {
  const { sightings } = found;
  if (sightings.length === 0) return;
  const known = await listKnownSightings(tx, place, sightings);
  const rows = sightings.map((sighting) => ({ ...sighting, connectionId: place.connectionId }));
  const ids = await listEventIds(tx, place.orgId, rows);
  const compose = createSightingComposer(place, found);
  for (const [index, sighting] of sightings.entries()) {
    if (known.has(index)) continue;
    const event = compose(sighting);
    const id = ids[index]!;
    if (event && event.confidence > (events.get(id)?.confidence ?? -Infinity)) events.set(id, { id, ...event });
  }
}

/** Returns a function that composes the event of a sighting of an item. It returns undefined for a value that the item does not state. */
export function createSightingComposer(
  place: Pick<SightingPlace, 'connectionId'>,
  { items, overrides, now }: Pick<SweepFindings, 'items' | 'overrides' | 'now'>,
): (sighting: Sighting) => SightingEvent | undefined {
  const itemsById = new Map(items.map((item) => [item.id, item]));
  const seenItems = new Map<string, ReturnType<typeof toSightedItem>>();
  return (sighting) => {
    const { itemId, value } = sighting;
    if (!seenItems.has(itemId)) seenItems.set(itemId, toSightedItem(itemsById.get(itemId)!, overrides.get(itemId)));
    const { item, indicators, readNames } = seenItems.get(itemId)!;
    const indicator = indicators.get(value);
    return indicator && composeSightingEvent(place, sighting, { item, indicator, readNames, now });
  };
}

/** Returns an item as the organization sees it, with its indicators and networks by their values. */
function toSightedItem(shared: FeedItem, override: AppliedOverride | undefined) {
  const item = applyOverride(shared, override);
  const stated = [...buckets.flatMap((bucket) => item.iocs[bucket]), ...listNetworks(item)];
  // The first of equal values counts.
  const indicators = new Map(stated.toReversed().map((one) => [one.normalizedValue.toLowerCase(), one]));
  return { item, indicators, readNames: createNameReader(item) };
}

type SightedItem = { item: FeedItem; readNames: ReturnType<typeof createNameReader> };

type SightingEvent = { confidence: number } & Record<string, unknown>;

function composeSightingEvent(
  { connectionId }: Pick<SightingPlace, 'connectionId'>,
  { type, value, match, observed, dataset, eventKey, event }: Sighting,
  { item, indicator, readNames, now }: SightedItem & { indicator: ObservableIndicator; now: Date },
): SightingEvent {
  const { firstSeen, lastSeen, role } = { firstSeen: undefined, lastSeen: undefined, role: undefined, ...indicator };
  const [malware, actor] = [readNames(indicator, 'malware'), readNames(indicator, 'actor')];
  const reportedAt = lastSeen ?? firstSeen ?? item.source.publishTime;
  return {
    '@timestamp': now.toISOString(),
    indicator: value,
    type,
    match,
    observed,
    status: indicator.status,
    confidence: indicator.confidence,
    ...(role === undefined ? {} : { role }),
    ...(malware.length > 0 ? { malware: malware.join(', ') } : {}),
    ...(actor.length > 0 ? { actor: actor.join(', ') } : {}),
    ...(firstSeen === undefined ? {} : { first_seen: firstSeen }),
    ...(lastSeen === undefined ? {} : { last_seen: lastSeen }),
    ...(reportedAt === undefined
      ? {}
      : { age_days: Math.max(0, Math.floor((now.getTime() - Date.parse(reportedAt)) / dayMs)) }),
    severity: item.event.severity,
    item_id: item.id,
    title: item.event.title,
    publisher: item.source.publisher,
    tlp: item.source.tlp,
    connection_id: connectionId,
    dataset,
    row_key: eventKey,
    row: event.slice(0, rowCharsMax).toWellFormed(),
  };
}
