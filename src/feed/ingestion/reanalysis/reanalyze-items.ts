import { acrossOrgs, type Tx } from '../../../platform/db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import { fullHour, settleIndicators } from '../../model/expiry.ts';
import type { FeedItem } from '../../model/item.schema.ts';
import { forgetViews } from '../../items/snapshot/snapshot.ts';
import { searchHead } from '../../items/search/search-text.ts';
import { loop } from '../../../platform/lib/loop.ts';
import { isBusy } from '../../../platform/lib/threads/thread-pool.ts';
import { moveCounts } from '../../items/writing/counts.ts';
import { settlePools } from '../../deduplication/recompute-pools.ts';
import { traitsOf } from '../../deduplication/traits.ts';
import { isTextKind } from '../../items/writing/item-document.ts';
import type { ExtractedItem } from '../../extraction/extract-item.ts';
import { changedParts, contentHash } from '../../items/writing/hashes.ts';
import { readingOf } from '../../sources/pull/reader-version.ts';
import { advancePools, lockPools } from '../../items/writing/feed-pools.store.ts';
import { writeItems, type ItemWrite } from '../../items/writing/write-items.ts';
import { writeTerms } from '../../items/writing/write-terms.ts';
import { findStale, listStale, updateTraits, type StoredItem } from './reanalysis.store.ts';

const idleMs = 60_000;
const batchMax = 20;

type Work = Pick<Deps, 'db' | 'clock' | 'extractor' | 'log'>;

/** Analyses again what was read by an older version of the program, or by older knowledge, until the signal ends it. */
export const reanalysisLoop = (deps: Deps, signal: AbortSignal): Promise<void> =>
  loop({ name: 'reanalysis', idleMs, signal, log: deps.log }, () => reanalyseSome(deps, signal));

/**
 * Analyses some stored items again, from their stored texts. What comes out otherwise is a version of cause `reanalysis`: it corrects nothing,
 * sends nothing and counts in no pull. Answers false where nothing is left. The fields of a structured record are read again by the next pull
 * of its source; here only what it is found and compared by is made anew.
 */
export async function reanalyseSome(deps: Work, signal?: AbortSignal): Promise<boolean> {
  const items = await acrossOrgs(deps.db, (tx) => listStale(tx, textReading(deps), batchMax));
  for (const item of items) {
    const extracted = await read(deps, item, signal);
    await acrossOrgs(deps.db, (tx) => reanalyse(tx, item, extracted, deps));
  }
  if (items.length > 0) forgetViews(deps.db);
  return items.length > 0;
}

const textReading = ({ extractor }: Work): number => readingOf(true, extractor.knowledge);

/** A text that cannot be read stays as it was read before. */
async function read(
  { extractor, log }: Work,
  item: StoredItem,
  signal?: AbortSignal,
): Promise<ExtractedItem | undefined> {
  if (!isTextKind(item.kind) || item.status === 'retracted') return undefined;
  const { event, source } = JSON.parse(item.doc) as FeedItem;
  try {
    return await extractor.read(
      { text: item.stored_text, title: event.title, publishTime: source.publishTime, sourceUrl: source.url },
      signal,
    );
  } catch (error) {
    if (signal?.aborted || isBusy(error)) throw error;
    log.warn({ err: error, itemId: item.id }, 'a stored text could not be analysed again');
    return undefined;
  }
}

async function reanalyse(tx: Tx, stale: StoredItem, extracted: ExtractedItem | undefined, deps: Work): Promise<void> {
  const [pool] = await lockPools(tx, [stale.pool_id]);
  const item = await findStale(tx, stale, textReading(deps));
  if (!item) return;
  const at = new Date(Math.max(deps.clock().getTime(), pool!.last_added_at.getTime() + 1));
  const { duplicateOf: _root, ...before } = JSON.parse(item.doc) as FeedItem;
  const content = extracted ? withReading(before, extracted) : before;
  const hash = contentHash(content, item.stored_text);
  const isText = isTextKind(item.kind);
  const traits = {
    ...traitsOf(content, { storedText: item.stored_text, isText, aliases: item.aliases }),
    reading: readingOf(isText, deps.extractor.knowledge),
  };
  // What the content hash was made from is kept; it tells whether there is anything new.
  const isChanged = extracted !== undefined && hash !== item.content_hash;
  const seq = pool!.seq + 1;
  const gone = isChanged
    ? await writeItems(tx, [
        writeOf(item, { before, content, hash, severityRule: extracted.severityRule, traits, seq, at }),
      ])
    : await writeTraits(tx, item, traits);
  if (isChanged)
    await moveCounts(tx, [
      {
        before: keyOf(item),
        after: { ...keyOf(item), severity: content.event.severity, platforms: content.classification.platforms },
      },
    ]);
  const seqByPool = new Map([[item.pool_id, seq]]);
  const settled = await settlePools(tx, [{ id: item.id, poolId: item.pool_id }], { gone, at, seqByPool });
  if (isChanged || settled.size > 0) await advancePools(tx, [item.pool_id], at);
}

function withReading(item: FeedItem, extracted: ExtractedItem): FeedItem {
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
    provenance: {
      supportingPassages: extracted.passages.map((charSpan) => ({
        text: extracted.storedText.slice(charSpan.start, charSpan.end),
        sourceUrl,
        charSpan,
      })),
    },
  };
}

type Traits = ReturnType<typeof traitsOf> & { reading: number };

async function writeTraits(tx: Tx, item: StoredItem, traits: Traits): Promise<Awaited<ReturnType<typeof writeTerms>>> {
  await updateTraits(tx, item.id, traits);
  // An item that is read again may have had other terms before, whatever its version.
  const { id, organization_id: organizationId, pool_id: poolId } = item;
  return writeTerms(tx, [{ id, organizationId, poolId, version: item.version + 1, terms: traits.terms }]);
}

type Reread = {
  before: FeedItem;
  content: FeedItem;
  hash: string;
  severityRule: string;
  traits: Traits;
  seq: number;
  at: Date;
};

function writeOf(item: StoredItem, { before, content, hash, severityRule, traits, seq, at }: Reread): ItemWrite {
  const version = item.version + 1;
  const after: FeedItem = { ...content, version, lastUpdated: at.toISOString() };
  const nextExpiryAt = settleIndicators(after, fullHour(at));
  const storedText = item.stored_text;
  return {
    ...keyOf(item),
    ...traits,
    id: item.id,
    organizationId: item.organization_id,
    sourceId: item.source_id,
    recordId: item.record_id,
    generation: item.generation,
    canonicalKey: item.canonical_key,
    version,
    contentHash: hash,
    recordHash: item.record_hash,
    recordModifiedAt: item.record_modified_at?.toISOString() ?? null,
    related: null,
    severity: after.event.severity,
    severityRule,
    platforms: after.classification.platforms,
    title: after.event.title,
    publishTime: after.source.publishTime ?? null,
    doc: JSON.stringify(after),
    storedText,
    objects: null,
    searchHead: searchHead(after),
    nextExpiryAt,
    missingPulls: item.missing_pulls,
    seq,
    addedToFeedAt: item.added_to_feed_at,
    createdAt: item.created_at,
    at,
    cause: 'reanalysis',
    changed: changedParts({ item: before, storedText }, { item: after, storedText }),
  };
}

const keyOf = (item: StoredItem) => ({
  poolId: item.pool_id,
  severity: item.severity,
  status: item.status,
  publisher: item.publisher,
  sourceName: item.source_name,
  platforms: item.platforms,
});
