import { acrossOrgs, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import { isPoolBusy } from '../../platform/lib/threads/thread-protocol.ts';
import type { ExtractedItem } from '../extraction/extract-item.ts';
import type { SnapshotCache } from '../items/snapshot/snapshot.ts';
import { lockPool } from '../items/writing/feed-pools.store.ts';
import { toSeverityText } from '../model/source-record.ts';
import { contentHash, toReaderVersion } from './content-hash.ts';
import type { Extractor } from './extractor.ts';
import { isProseSource } from './item-document.ts';
import { applyExtraction, parseItem, renewTraits, rewriteItem, toStoredReport } from './rewrite-item.ts';
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

/** Returns whether an item is stale. */
export const hasStaleItems = (deps: Pick<ReanalysisDeps, 'db' | 'extractor'>): Promise<boolean> =>
  acrossOrgs(deps.db, async (tx) => (await listStaleItems(tx, proseReaderVersion(deps), 1)).length > 0);

const proseReaderVersion = ({ extractor }: Pick<ReanalysisDeps, 'extractor'>): number =>
  toReaderVersion(true, extractor.referenceDataVersion);

/** Returns undefined if the item is not prose, is retracted, or its text cannot be read. The item's content then stays the same. */
async function extractText(
  { extractor, log }: ReanalysisDeps,
  item: StaleItem,
  signal?: AbortSignal,
): Promise<ExtractedItem | undefined> {
  if (!isProseSource(item.kind) || item.status === 'retracted') return undefined;
  try {
    return await extractor.read(toStoredReport(item), signal, item.organization_id);
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
  const readerVersion = toReaderVersion(isProseSource(item.kind), deps.extractor.referenceDataVersion);
  const before = parseItem(item);
  const content = extracted ? applyExtraction(before, extracted) : before;
  const hash = contentHash(content, item.stored_text);
  const isChanged = extracted !== undefined && hash !== item.content_hash;
  const at = deps.clock();
  // The fields that a model completed stay as long as what we extract is the same.
  if (isChanged) {
    const severityRule = toSeverityText(extracted);
    await rewriteItem(tx, pool, item, { content, hash, severityRule, readerVersion, cause: 'reanalysis', at });
  } else await renewTraits(tx, pool, item, { readerVersion, at });
}
