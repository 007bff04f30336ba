import type { Tx } from '../../platform/db/db.ts';
import { buildComparisonTraits } from '../deduplication/comparison-traits.ts';
import { recomputePools } from '../deduplication/recompute-pools.ts';
import type { ExtractedItem, ReportText } from '../extraction/extract-item.ts';
import {
  moveCounts,
  toCountedItem,
  advancePools,
  type LockedPool,
  nextCommitTime,
} from '../items/writing/feed-pools.store.ts';
import type { ItemWrite } from '../items/writing/item-columns.ts';
import { updateComparisonTraits } from '../items/writing/update-items.store.ts';
import { replaceTerms, updateSearchTexts, writeItems, type RemovedTerm } from '../items/writing/write-items.store.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { storedColumns } from './build-item-writes.ts';
import { changedParts } from './content-hash.ts';
import { isProseSource, toDocument, toItemSearchText, toProvenance } from './item-document.ts';
import type { StaleItem } from './stored-items.store.ts';

/** Returns the document of an item without the root of its group. */
export function parseItem({ doc }: Pick<StaleItem, 'doc'>): FeedItem {
  const { duplicateOf: _root, ...item } = JSON.parse(doc) as FeedItem;
  return item;
}

/** Returns the report of a stored item, to extract it again. */
export function toStoredReport(item: Pick<StaleItem, 'doc' | 'stored_text'>): ReportText {
  const { event, source } = JSON.parse(item.doc) as FeedItem;
  return { text: item.stored_text, title: event.title, publishTime: source.publishTime, sourceUrl: source.url };
}

/** Returns an item with the fields that its text determines replaced. */
export function applyExtraction(item: FeedItem, extracted: ExtractedItem): FeedItem {
  const { summary: _summary, tldr: _tldr, advice: _advice, ...rest } = item;
  const sourceUrl = item.provenance.supportingPassages[0]?.sourceUrl ?? item.source.url ?? `urn:uuid:${item.id}`;
  return {
    ...rest,
    event: { ...item.event, severity: extracted.severity },
    ...(extracted.summary ? { summary: extracted.summary } : {}),
    ...(extracted.tldr ? { tldr: extracted.tldr } : {}),
    attackPath: extracted.attackPath,
    ...(extracted.advice ? { advice: extracted.advice } : {}),
    classification: extracted.classification,
    affectedProducts: extracted.affectedProducts,
    iocs: extracted.iocs,
    provenance: toProvenance(extracted, sourceUrl),
  };
}

/** The new content of a stored item. `hash` is that of what was extracted, so that a pull of the same record changes nothing. */
type Rewrite = {
  content: FeedItem;
  hash: string;
  severityRule: string;
  readerVersion: number;
  cause: 'reanalysis' | 'reading';
  at: Date;
};

/** Writes a new version of a stored item whose pool is locked, with its terms, counts and groups. It is no correction and emits no event. */
export async function rewriteItem(tx: Tx, pool: LockedPool, item: StaleItem, rewrite: Rewrite): Promise<void> {
  const at = nextCommitTime([pool], rewrite.at);
  const { severity } = rewrite.content.event;
  const { platforms } = rewrite.content.classification;
  const removedTerms = await writeItems(tx, [buildWrite(item, { ...rewrite, seq: pool.seq + 1, at })]);
  const counted = toCountedItem(item);
  await moveCounts(tx, [{ before: counted, after: { ...counted, severity, platforms } }]);
  await regroup(tx, pool, item, { removedTerms, at });
  await advancePools(tx, [item.pool_id], at);
}

/** Updates what a stored item is compared and found by. Its content stays the same. */
export async function renewTraits(
  tx: Tx,
  pool: LockedPool,
  item: StaleItem,
  { readerVersion, at: now }: Pick<Rewrite, 'readerVersion' | 'at'>,
): Promise<void> {
  const at = nextCommitTime([pool], now);
  const content = parseItem(item);
  const traits = { ...compareBy(item, content), readerVersion };
  const { id, organization_id: organizationId, pool_id: poolId, added_to_feed_at: addedToFeedAt } = item;
  const searchText = toItemSearchText(content, item.stored_text, item.kind);
  await updateComparisonTraits(tx, id, traits);
  await updateSearchTexts(tx, [{ id, organizationId, poolId, addedToFeedAt, ...searchText }]);
  const removedTerms = await replaceTerms(tx, [{ id, organizationId, poolId, terms: traits.terms }]);
  if (await regroup(tx, pool, item, { removedTerms, at })) await advancePools(tx, [item.pool_id], at);
}

const compareBy = ({ stored_text: storedText, kind, aliases }: StaleItem, content: FeedItem) =>
  buildComparisonTraits(content, { storedText, isProse: isProseSource(kind), aliases });

/** Recomputes the groups of an item. Returns whether any changed. */
async function regroup(
  tx: Tx,
  { seq }: LockedPool,
  { id, pool_id: poolId }: StaleItem,
  { removedTerms, at }: { removedTerms: RemovedTerm[]; at: Date },
): Promise<boolean> {
  const seqByPool = new Map([[poolId, seq + 1]]);
  return (await recomputePools(tx, [{ id, poolId }], { removedTerms, at, seqByPool })).size > 0;
}

function buildWrite(item: StaleItem, rewrite: Rewrite & { seq: number }): ItemWrite {
  const { content, hash, severityRule, readerVersion, cause, seq, at } = rewrite;
  const version = item.version + 1;
  const after: FeedItem = { ...content, version, lastUpdated: at.toISOString() };
  const { doc, nextExpiryAt } = toDocument(after, at);
  const storedText = item.stored_text;
  return {
    poolId: item.pool_id,
    status: item.status,
    publisher: item.publisher,
    sourceName: item.source_name,
    ...compareBy(item, content),
    readerVersion,
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
    cause,
    changed: changedParts({ item: parseItem(item), storedText }, { item: after, storedText }),
  };
}
