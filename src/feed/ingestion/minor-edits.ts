import type { Tx } from '../../platform/db/db.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { joinIndicators } from './content-hash.ts';
import type { ItemCandidate } from './item-candidates.ts';
import type { SourceRow } from './source-row.ts';
import { listCurrentVersions, type StoredItem } from './stored-items.store.ts';

const shingleWords = 4;
const changedShareMax = 0.02;

/**
 * Gives candidates with minor edits the hashes of the stored item, so that they count as unchanged: fetched articles that differ in less than
 * 2 % of their shingles and in no indicator, date or title (spec/feed.md, "version").
 */
export async function ignoreMinorEdits(
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
export function changedShare(a: string, b: string): number {
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
