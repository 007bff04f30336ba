import { acrossOrgs, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import { isPoolBusy } from '../../platform/lib/threads/thread-protocol.ts';
import { recomputePools } from '../deduplication/recompute-pools.ts';
import { buildComparisonTraits } from '../deduplication/comparison-traits.ts';
import type { ExtractedItem } from '../extraction/extract-item.ts';
import type { SearchText } from '../items/search-terms/search-text.ts';
import type { SnapshotCache } from '../items/snapshot/snapshot.ts';
import { toCountedItem, moveCounts } from '../items/writing/counts.store.ts';
import { advancePools, lockPool, nextCommitTime } from '../items/writing/feed-pools.store.ts';
import type { ItemWrite } from '../items/writing/item-columns.ts';
import { updateComparisonTraits } from '../items/writing/update-items.store.ts';
import { replaceTerms, updateSearchTexts, writeItems, type RemovedTerm } from '../items/writing/write-items.store.ts';
import { toSeverityText } from '../model/source-record.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { storedColumns } from './build-item-writes.ts';
import { changedParts, contentHash, toReaderVersion } from './content-hash.ts';
import type { Extractor } from './extractor.ts';
import { isProseSource, toDocument, toItemSearchText, toPassages } from './item-document.ts';
import { findStaleItem, listStaleItems, type StaleItem } from './stored-items.store.ts';

const idleMs = 60_000;
const batchMax = 20;

type ReanalysisDeps = {
  db: Db;
  clock: Clock;
  extractor: Pick<Extractor, 'read' | 'referenceDataVersion'>;
  snapshots: Pick<SnapshotCache, 'invalidate'>;
  log: Logger;
};

/** Calls `step`, which is `reanalyzeBatch`, until the signal aborts. */
export const reanalysisLoop = (log: Logger, signal: AbortSignal, step: () => Promise<boolean>): Promise<void> =>
  runLoop({ name: 'reanalysis', idleMs, signal, log }, step);

/**
 * Extracts a batch of stale items again from their stored texts. Returns false if none is left. A different result becomes a version with the
 * cause `reanalysis`, which is no correction, emits no event and is not counted in a pull. For structured records only the search and
 * comparison traits are updated; their fields are parsed again by the next pull of their source.
 */
export async function reanalyzeBatch(deps: ReanalysisDeps, signal?: AbortSignal): Promise<boolean> {
  const items = await acrossOrgs(deps.db, (tx) => listStaleItems(tx, proseReaderVersion(deps), batchMax));
  for (const item of items) {
    const extracted = await extractText(deps, item, signal);
    await acrossOrgs(deps.db, (tx) => reanalyzeItem(tx, item, extracted, deps));
  }
  if (items.length > 0) deps.snapshots.invalidate();
  return items.length > 0;
}

const proseReaderVersion = ({ extractor }: ReanalysisDeps): number =>
  toReaderVersion(true, extractor.referenceDataVersion);

/** Returns undefined if the item is not prose, is retracted, or its text cannot be read. The item's content then stays the same. */
async function extractText(
  { extractor, log }: ReanalysisDeps,
  item: StaleItem,
  signal?: AbortSignal,
): Promise<ExtractedItem | undefined> {
  if (!isProseSource(item.kind) || item.status === 'retracted') return undefined;
  const { event, source } = JSON.parse(item.doc) as FeedItem;
  try {
    return await extractor.read(
      { text: item.stored_text, title: event.title, publishTime: source.publishTime, sourceUrl: source.url },
      signal,
      item.organization_id,
    );
  } catch (error) {
    if (signal?.aborted || isPoolBusy(error)) throw error;
    log.warn({ err: error, itemId: item.id }, 'Reanalysis of a stored text failed.');
    return undefined;
  }
}

async function reanalyzeItem(
  tx: Tx,
  stale: StaleItem,
  extracted: ExtractedItem | undefined,
  deps: ReanalysisDeps,
): Promise<void> {
  const pool = await lockPool(tx, stale.pool_id);
  const item = await findStaleItem(tx, stale, proseReaderVersion(deps));
  if (!item) return;
  const at = nextCommitTime([pool], deps.clock());
  const { duplicateOf: _root, ...before } = JSON.parse(item.doc) as FeedItem;
  const content = extracted ? applyExtraction(before, extracted) : before;
  const hash = contentHash(content, item.stored_text);
  const isProse = isProseSource(item.kind);
  const traits = {
    ...buildComparisonTraits(content, { storedText: item.stored_text, isProse, aliases: item.aliases }),
    readerVersion: toReaderVersion(isProse, deps.extractor.referenceDataVersion),
  };
  const isChanged = extracted !== undefined && hash !== item.content_hash;
  const seq = pool.seq + 1;
  let removedTerms: RemovedTerm[];
  if (isChanged) {
    const severityRule = toSeverityText(extracted);
    removedTerms = await writeItems(tx, [buildWrite(item, before, { content, hash, severityRule, traits, seq, at })]);
    const { severity } = content.event;
    const { platforms } = content.classification;
    const counted = toCountedItem(item);
    await moveCounts(tx, [{ before: counted, after: { ...counted, severity, platforms } }]);
  } else {
    const searchText = toItemSearchText(before, item.stored_text, item.kind);
    removedTerms = await writeTraits(tx, item, { traits, searchText });
  }
  const seqByPool = new Map([[item.pool_id, seq]]);
  const regrouped = await recomputePools(tx, [{ id: item.id, poolId: item.pool_id }], { removedTerms, at, seqByPool });
  if (isChanged || regrouped.size > 0) await advancePools(tx, [item.pool_id], at);
}

function applyExtraction(item: FeedItem, extracted: ExtractedItem): FeedItem {
  const { summary: _summary, tldr: _tldr, ...rest } = item;
  const sourceUrl = item.provenance.supportingPassages[0]?.sourceUrl ?? item.source.url ?? `urn:uuid:${item.id}`;
  return {
    ...rest,
    event: { ...item.event, severity: extracted.severity },
    ...(extracted.summary ? { summary: extracted.summary } : {}),
    ...(extracted.tldr ? { tldr: extracted.tldr } : {}),
    attackPath: extracted.attackPath,
    classification: extracted.classification,
    affectedProducts: extracted.affectedProducts,
    iocs: extracted.iocs,
    provenance: { supportingPassages: toPassages(extracted, sourceUrl) },
  };
}

type ReanalyzedTraits = Pick<ItemWrite, 'terms' | 'sketch' | 'identifying' | 'readerVersion'>;

/** The values by which an item is compared and found. */
type FoundBy = { traits: ReanalyzedTraits; searchText: SearchText };

async function writeTraits(tx: Tx, item: StaleItem, { traits, searchText }: FoundBy): Promise<RemovedTerm[]> {
  await updateComparisonTraits(tx, item.id, traits);
  const { id, organization_id: organizationId, pool_id: poolId } = item;
  const addedToFeedAt = item.added_to_feed_at;
  await updateSearchTexts(tx, [{ id, organizationId, poolId, addedToFeedAt, ...searchText }]);
  return replaceTerms(tx, [{ id, organizationId, poolId, terms: traits.terms }]);
}

type Reanalysis = {
  content: FeedItem;
  hash: string;
  severityRule: string;
  traits: ReanalyzedTraits;
  seq: number;
  at: Date;
};

function buildWrite(item: StaleItem, before: FeedItem, reanalysis: Reanalysis): ItemWrite {
  const { content, hash, severityRule, traits, seq, at } = reanalysis;
  const version = item.version + 1;
  const after: FeedItem = { ...content, version, lastUpdated: at.toISOString() };
  const { doc, nextExpiryAt } = toDocument(after, at);
  const storedText = item.stored_text;
  return {
    poolId: item.pool_id,
    status: item.status,
    publisher: item.publisher,
    sourceName: item.source_name,
    ...traits,
    id: item.id,
    organizationId: item.organization_id,
    sourceId: item.source_id,
    ...storedColumns(item),
    canonicalKey: item.canonical_key,
    version,
    contentHash: hash,
    severity: after.event.severity,
    severityRule,
    platforms: after.classification.platforms,
    title: after.event.title,
    publishTime: after.source.publishTime ?? null,
    doc,
    storedText,
    objects: null,
    ...toItemSearchText(after, storedText, item.kind),
    nextExpiryAt,
    seq,
    addedToFeedAt: item.added_to_feed_at,
    createdAt: item.created_at,
    at,
    cause: 'reanalysis',
    changed: changedParts({ item: before, storedText }, { item: after, storedText }),
  };
}
