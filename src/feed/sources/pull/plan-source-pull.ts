import type { TransactionWork, Tx } from '../../../platform/db/db.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { buildItemCandidates, type ItemCandidate } from '../../ingestion/item-candidates.ts';
import {
  isMissingTooManyRows,
  listReturnedIds,
  planLostParts,
  planMissing,
  planRecords,
  planUnchanged,
  toStoredByRecord,
  type ItemAction,
  type PullFindings,
} from '../../ingestion/pull-plan.ts';
import type { PullCursor, SourceRow } from '../../ingestion/source-row.ts';
import { listStoredItems, type StoredItem, listCurrentVersions } from '../../ingestion/stored-items.store.ts';
import { ensurePrivatePool } from '../../items/writing/feed-pools.store.ts';
import type { SkippedEntry, SourceRecord } from '../../model/source-record.ts';
import { BadPull, asBadPull } from './pull-outcome.ts';
import type { ParsedHead, ParsedSource, RecordChunk } from '../documents/record-chunks.ts';
import type { FeedItem } from '../../model/item.schema.ts';
import { joinIndicators } from '../../ingestion/content-hash.ts';

type InTransaction = <T>(work: TransactionWork<T>) => Promise<T>;

/** The changes of a pull. */
export type SourcePlan = {
  /** In the order in which their items were published. Can be read once. */
  actions: AsyncIterable<ItemAction[]>;
  /** The most additions that `actions` can have. */
  additionsMax: number;
  /** Returns the findings of the whole pull. To be called when all `actions` were read. */
  findings: () => PullFindings;
};

/**
 * Compares the records with the stored items of the source while they are read. `parsed` is undefined if the documents did not change since
 * the last good pull. Holds no transaction while it builds the items. Throws a `BadPull` before the first action if the catalog is not good.
 */
export async function planSourcePull(
  inTransaction: InTransaction,
  source: SourceRow,
  parsed: ParsedSource | undefined,
  cursor: PullCursor,
): Promise<SourcePlan> {
  const { stored, privatePoolId } = await inTransaction(async (tx) => ({
    stored: await listStoredItems(tx, source),
    privatePoolId: parsed ? await ensurePrivatePool(tx, source.organization_id, uuidv7()) : '',
  }));
  if (!parsed) return planUnchangedPull(stored, cursor.records ?? 0);
  const { head } = parsed;
  const catalogIds = checkCatalog(head, stored, cursor.newest);
  const missing = catalogIds ? planMissing(stored, catalogIds) : { vanished: [], absentIds: [] };
  const storedByRecord = toStoredByRecord(stored);
  const presentIds = new Set<string>();
  const modifiedAt = new Map<string, string | undefined>();
  let records = 0;
  const skippedBy = { parsing: [...head.skipped], filters: [] as SkippedEntry[], size: [] as SkippedEntry[] };
  const planChunk = async ({ records: read, skipped }: RecordChunk): Promise<ItemAction[]> => {
    // A record that could not be built is not missing from the source.
    for (const { entry } of skipped) presentIds.add(entry);
    for (const { recordId } of read) presentIds.add(recordId);
    const filtered = filterRecords(read, source);
    const { candidates, tooLarge } = buildItemCandidates(filtered.kept, source, privatePoolId);
    records += candidates.length;
    if (candidates.some(({ record }) => record.isProse))
      await inTransaction((tx) => ignoreMinorEdits(tx, source, candidates, stored));
    for (const { record } of candidates) modifiedAt.set(record.recordId, record.modifiedAt);
    skippedBy.parsing.push(...skipped);
    skippedBy.filters.push(...filtered.skipped);
    skippedBy.size.push(...tooLarge);
    return planRecords(storedByRecord, candidates);
  };
  async function* planActions(): AsyncGenerator<ItemAction[], void, void> {
    yield missing.vanished;
    for await (const chunk of asGoodChunks(parsed!.chunks)) yield planChunk(chunk);
    yield planLostParts(stored, { modifiedAt, presentIds });
  }
  return {
    additionsMax: head.count,
    actions: planActions(),
    findings: () => ({
      returnedIds: listReturnedIds(stored, presentIds),
      absentIds: missing.absentIds,
      records,
      unread: head.unchanged ?? 0,
      skipped: [...skippedBy.parsing, ...skippedBy.filters, ...skippedBy.size],
    }),
  };
}

/** Turns an error of reading into a `BadPull`. */
async function* asGoodChunks(chunks: ParsedSource['chunks']): AsyncGenerator<RecordChunk, void, void> {
  const iterator = toAsync(chunks);
  try {
    for (;;) {
      const { value, done } = await asBadPull(() => iterator.next());
      if (done) return;
      yield value;
    }
  } finally {
    await iterator.return();
  }
}

async function* toAsync<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T, void, void> {
  yield* items;
}

function planUnchangedPull(stored: StoredItem[], records: number): SourcePlan {
  const { vanished, absentIds } = planUnchanged(stored);
  return {
    actions: toAsync([vanished]),
    additionsMax: 0,
    findings: () => ({ returnedIds: [], absentIds, records: 0, unread: records, skipped: [] }),
  };
}

/** Returns the ids of the records of a catalog, or undefined for any other source. */
function checkCatalog(
  { catalog, catalogIds }: ParsedHead,
  stored: StoredItem[],
  newest: string | undefined,
): ReadonlySet<string> | undefined {
  if (!catalog) return undefined;
  const { declared, rows, released } = catalog;
  const presentIds = new Set(catalogIds);
  if (declared !== rows) throw new BadPull(`the catalog declares ${declared} rows but has ${rows}`);
  if (newest !== undefined && released < newest)
    throw new BadPull(`the catalog of ${released} is older than the newest one seen (${newest})`);
  if (isMissingTooManyRows(stored, presentIds)) throw new BadPull('the catalog lacks 5 % or more of the known rows');
  return presentIds;
}

type FilteredRecords = { kept: SourceRecord[]; skipped: SkippedEntry[] };

/**
 * Applies a source's `include` and `exclude` lists, which are JSON arrays of words. Keeps a record if its title or text contains an included
 * word, or if the list is empty, and no excluded word. Case is ignored.
 */
function filterRecords(records: SourceRecord[], source: { include: string; exclude: string }): FilteredRecords {
  const include = parseWords(source.include);
  const exclude = parseWords(source.exclude);
  if (include.length + exclude.length === 0) return { kept: records, skipped: [] };
  const filtered: FilteredRecords = { kept: [], skipped: [] };
  for (const record of records) {
    const text = `${record.title}\n${record.storedText}`.toLowerCase();
    const isIncluded = include.length === 0 || include.some((word) => text.includes(word));
    if (isIncluded && !exclude.some((word) => text.includes(word))) filtered.kept.push(record);
    else filtered.skipped.push({ entry: record.recordId, reason: 'excluded by include or exclude' });
  }
  return filtered;
}

const parseWords = (json: string): string[] => (JSON.parse(json) as string[]).map((word) => word.toLowerCase());

const shingleWords = 4;
const changedShareMax = 0.02;

/**
 * Gives candidates with minor edits the hashes of the stored item, so that they count as unchanged: fetched articles that differ in less than
 * 2 % of their shingles and in no indicator, date or title.
 */
async function ignoreMinorEdits(
  tx: Tx,
  source: SourceRow,
  candidates: ItemCandidate[],
  stored: StoredItem[],
): Promise<void> {
  const storedByRecord = new Map(stored.map((item) => [item.record_id, item]));
  const changed = candidates.flatMap((candidate) => {
    const item = storedByRecord.get(candidate.record.recordId);
    const isChanged =
      candidate.record.isProse && item && item.status !== 'retracted' && item.record_hash !== candidate.recordHash;
    return isChanged ? [{ candidate, item }] : [];
  });
  if (changed.length === 0) return;
  const changedIds = changed.map(({ item }) => item.id);
  const current = await listCurrentVersions(tx, source, changedIds);
  const currentById = new Map(current.map((version) => [version.id, version]));
  for (const { candidate, item } of changed) {
    const before = currentById.get(item.id);
    if (before && isMinorEdit(JSON.parse(before.doc) as FeedItem, before.stored_text, candidate))
      Object.assign(candidate, { recordHash: item.record_hash, contentHash: item.content_hash });
  }
}

function isMinorEdit(item: FeedItem, text: string, { record }: ItemCandidate): boolean {
  return (
    item.event.title === record.title &&
    item.source.publishTime === record.publishTime &&
    joinIndicators(item.iocs) === joinIndicators(record.iocs) &&
    changedShare(text, record.storedText) < changedShareMax
  );
}

/** Returns the share of the shingles (sequences of four words) of two texts that occur in only one of them. */
function changedShare(a: string, b: string): number {
  const [shinglesA, shinglesB] = [listShingles(a), listShingles(b)];
  const shared = [...shinglesA].filter((shingle) => shinglesB.has(shingle)).length;
  const total = shinglesA.size + shinglesB.size - shared;
  return total === 0 ? 0 : 1 - shared / total;
}

function listShingles(text: string): Set<string> {
  const words =
    text
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length < shingleWords) return new Set([words.join(' ')]);
  return new Set(
    words.slice(shingleWords - 1).map((_word, index) => words.slice(index, index + shingleWords).join(' ')),
  );
}
