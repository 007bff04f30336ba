import { createHash } from 'node:crypto';
import { composeEvent } from '../../detection/log-ingest/events/parse-event.ts';
import { createEventBatch } from '../../detection/log-ingest/body/event-batch.ts';
import { sightingsDataset } from '../../detection/log-store/catalog/catalog.ts';
import { storeBatch, type ReceiveLogsDeps } from '../../detection/log-ingest/receive-logs.ts';
import { applyOverride } from '../../feed/items/snapshot/apply-overrides.ts';
import { listNetworks } from '../../feed/model/values/observables.ts';
import { buckets } from '../../feed/model/vocabulary.ts';
import { inOrg, type Tx } from '../../platform/db/db.ts';
import { AppError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { sightingEventId, type Sighting } from './find-sightings.ts';
import { findNewSightings, type SweepFindings } from './save-sightings.ts';
import type { Sweep } from './sightings.store.ts';

type SightingPlace = Pick<Sweep, 'orgId' | 'connectionId'>;

const rowCharsMax = 4_000;
const dayMs = 86_400_000;

/**
 * Writes an event of each new sighting into the dataset of sightings, from which a detection makes hits, and calls `store` in the same transaction.
 * Without new sightings it only calls `store`, and so it does if the organization has used up its quota of logs.
 */
export async function storeWithEvents(
  deps: ReceiveLogsDeps & { log: Logger },
  place: SightingPlace,
  findings: readonly SweepFindings[],
  store: (tx: Tx) => Promise<void>,
): Promise<void> {
  const { orgId } = place;
  const events = await inOrg(deps.db, orgId, async (tx) => {
    const all: Map<string, object> = new Map();
    for (const found of findings)
      for (const sighting of await findNewSightings(tx, place, found.sightings)) addEvent(all, place, sighting, found);
    return [...all.values()];
  });
  if (events.length === 0) return inOrg(deps.db, orgId, store);
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
    await storeBatch(deps, orgId, written, store);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'quota_exceeded') throw error;
    deps.log.warn({ orgId, events: events.length }, 'sightings have no events, because the quota of logs is used up');
    await inOrg(deps.db, orgId, store);
  }
}

/** Adds the event of a sighting. Of several items that state the value, the one with the highest confidence counts. */
function addEvent(
  all: Map<string, object>,
  { connectionId }: SightingPlace,
  sighting: Sighting,
  { items, overrides, now }: SweepFindings,
): void {
  const shared = items.find(({ id }) => id === sighting.itemId)!;
  const item = applyOverride(shared, overrides.get(shared.id));
  const indicator = [...buckets.flatMap((bucket) => item.iocs[bucket]), ...listNetworks(item)].find(
    ({ normalizedValue }) => normalizedValue.toLowerCase() === sighting.value,
  );
  if (!indicator) return;
  const { type, value, match, observed, dataset, eventKey, event } = sighting;
  const id = sightingEventId({ connectionId, dataset, value, eventKey });
  const earlier = all.get(id) as { confidence: number } | undefined;
  if (earlier && earlier.confidence >= indicator.confidence) return;
  const { firstSeen, lastSeen } = { firstSeen: undefined, lastSeen: undefined, ...indicator };
  const reportedAt = lastSeen ?? firstSeen ?? shared.source.publishTime;
  all.set(id, {
    '@timestamp': now.toISOString(),
    id,
    indicator: value,
    type,
    match,
    observed,
    status: indicator.status,
    confidence: indicator.confidence,
    ...(firstSeen === undefined ? {} : { first_seen: firstSeen }),
    ...(lastSeen === undefined ? {} : { last_seen: lastSeen }),
    ...(reportedAt === undefined
      ? {}
      : { age_days: Math.max(0, Math.floor((now.getTime() - Date.parse(reportedAt)) / dayMs)) }),
    severity: item.event.severity,
    item_id: shared.id,
    title: shared.event.title,
    publisher: shared.source.publisher,
    tlp: shared.source.tlp,
    connection_id: connectionId,
    dataset,
    row_key: eventKey,
    row: event.slice(0, rowCharsMax).toWellFormed(),
  });
}
