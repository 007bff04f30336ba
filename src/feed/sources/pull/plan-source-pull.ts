import type { TransactionWork } from '../../../platform/db/db.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { ParseResult } from '../../formats/source-format.ts';
import { buildItemCandidates } from '../../ingestion/item-candidates.ts';
import { ignoreMinorEdits } from '../../ingestion/minor-edits.ts';
import { isMissingTooManyRows, planPull, planUnchangedPull, type PullPlan } from '../../ingestion/pull-plan.ts';
import type { PullCursor, SourceRow } from '../../ingestion/source-row.ts';
import { listStoredItems, type StoredItem } from '../../ingestion/stored-items.store.ts';
import { ensurePrivatePool } from '../../items/writing/feed-pools.store.ts';
import type { SkippedEntry, SourceRecord } from '../../model/source-record.ts';
import { BadPull } from './bad-pull.ts';

type InTransaction = <T>(work: TransactionWork<T>) => Promise<T>;

/**
 * Compares the records with the stored items of the source. `parsed` is undefined if the documents did not change since the last good pull.
 * Holds no transaction while it builds the items.
 */
export async function planSourcePull(
  inTransaction: InTransaction,
  source: SourceRow,
  parsed: ParseResult | undefined,
  cursor: PullCursor,
): Promise<PullPlan> {
  const { stored, privatePoolId } = await inTransaction(async (tx) => ({
    stored: await listStoredItems(tx, source),
    privatePoolId: parsed ? await ensurePrivatePool(tx, source.organization_id, uuidv7()) : '',
  }));
  if (!parsed) return planUnchangedPull(stored, cursor.records ?? 0);
  const { kept, skipped, presentIds } = filterRecords(parsed.records, source);
  checkCatalog(parsed, stored, { presentIds, newest: cursor.newest });
  const { candidates, tooLarge } = buildItemCandidates(kept, source, privatePoolId);
  await inTransaction((tx) => ignoreMinorEdits(tx, source, candidates, stored));
  return planPull({
    stored,
    candidates,
    presentIds,
    isCatalog: parsed.catalog !== undefined,
    unread: parsed.unchanged ?? 0,
    skipped: [...parsed.skipped, ...skipped, ...tooLarge],
  });
}

function checkCatalog(
  { catalog }: ParseResult,
  stored: StoredItem[],
  { presentIds, newest }: { presentIds: ReadonlySet<string>; newest: string | undefined },
): void {
  if (!catalog) return;
  const { declared, rows, released } = catalog;
  if (declared !== rows) throw new BadPull(`the catalog declares ${declared} rows but has ${rows}`);
  if (newest !== undefined && released < newest)
    throw new BadPull(`the catalog of ${released} is older than the newest one seen (${newest})`);
  if (isMissingTooManyRows(stored, presentIds)) throw new BadPull('the catalog lacks 5 % or more of the known rows');
}

/** `presentIds` are the ids of all records, including the filtered ones: a filtered record is not missing from the source. */
type FilteredRecords = { kept: SourceRecord[]; skipped: SkippedEntry[]; presentIds: Set<string> };

/**
 * Applies a source's `include` and `exclude` lists, which are JSON arrays of words. Keeps a record if its title or text contains an included
 * word, or if the list is empty, and no excluded word. Case is ignored.
 */
function filterRecords(records: SourceRecord[], source: { include: string; exclude: string }): FilteredRecords {
  const include = parseWords(source.include);
  const exclude = parseWords(source.exclude);
  const presentIds = new Set(records.map(({ recordId }) => recordId));
  if (include.length + exclude.length === 0) return { kept: records, skipped: [], presentIds };
  const filtered: FilteredRecords = { kept: [], skipped: [], presentIds };
  for (const record of records) {
    const text = `${record.title}\n${record.storedText}`.toLowerCase();
    const isIncluded = include.length === 0 || include.some((word) => text.includes(word));
    if (isIncluded && !exclude.some((word) => text.includes(word))) filtered.kept.push(record);
    else filtered.skipped.push({ entry: record.recordId, reason: 'excluded by include or exclude' });
  }
  return filtered;
}

const parseWords = (json: string): string[] => (JSON.parse(json) as string[]).map((word) => word.toLowerCase());
