import type { Tx } from '../../platform/db/db.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { buckets } from '../model/vocabulary.ts';
import type { Candidate, HeldItem } from './pull-plan.ts';
import type { SourceRow } from '../sources/source-row.ts';
import { listCurrentTexts } from '../items/writing/feed-pools.store.ts';

const shingleWords = 4;
const changedShareMax = 0.02;

/**
 * A re-fetched article that differs in under 2 % of its shingles and in no indicator, date or title is unchanged (spec/feed.md, "version"):
 * such candidates get the hashes of what is held.
 */
export async function settleSmallChanges(
  tx: Tx,
  source: SourceRow,
  candidates: Candidate[],
  held: HeldItem[],
): Promise<void> {
  const byRecord = new Map(held.map((item) => [item.record_id, item]));
  const changed = candidates.flatMap((candidate) => {
    const item = byRecord.get(candidate.record.recordId);
    const isChanged =
      candidate.record.isProse && item && item.status !== 'retracted' && item.record_hash !== candidate.recordHash;
    return isChanged ? [{ candidate, item }] : [];
  });
  if (changed.length === 0) return;
  const current = await listCurrentTexts(
    tx,
    source,
    changed.map(({ item }) => item.id),
  );
  const byId = new Map(current.map((one) => [one.id, one]));
  for (const { candidate, item } of changed) {
    const before = byId.get(item.id);
    if (before && isSmallChange(JSON.parse(before.doc) as FeedItem, before.stored_text, candidate))
      Object.assign(candidate, { recordHash: item.record_hash, contentHash: item.content_hash });
  }
}

function isSmallChange(item: FeedItem, text: string, { record }: Candidate): boolean {
  const valuesOf = (iocs: FeedItem['iocs']): string =>
    buckets
      .flatMap((bucket) => iocs[bucket].map(({ type, normalizedValue }) => `${type} ${normalizedValue}`))
      .toSorted()
      .join('\n');
  return (
    item.event.title === record.title &&
    item.source.publishTime === record.publishTime &&
    valuesOf(item.iocs) === valuesOf(record.iocs) &&
    changedShare(text, record.storedText) < changedShareMax
  );
}

/** The share of two texts' shingles (rows of four words) that only one of them has. */
export function changedShare(a: string, b: string): number {
  const [one, two] = [shinglesOf(a), shinglesOf(b)];
  const shared = [...one].filter((shingle) => two.has(shingle)).length;
  const all = one.size + two.size - shared;
  return all === 0 ? 0 : 1 - shared / all;
}

function shinglesOf(text: string): Set<string> {
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
