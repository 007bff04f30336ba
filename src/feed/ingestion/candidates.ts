import type { Candidate } from './pull-plan.ts';
import { tlpOfRecord, toItem } from '../items/writing/item-document.ts';
import { contentHash, recordHash } from '../items/writing/hashes.ts';
import type { Skipped, SourceRecord } from '../model/source-record.ts';
import type { Origin } from '../sources/source-row.ts';

// A row of an index holds no more than 2,704 bytes.
const nameMaxBytes = 2_000;
/** A page holds up to a hundred documents, so one has a bound. */
const documentMaxChars = 4_000_000;
// A document is made of what its text says; one with a short text needs no measuring.
const measuredFromChars = 100_000;

/** What the feed would make of records: the hashes that tell a change, and the pool of those who may see it. */
export function toCandidates(
  records: SourceRecord[],
  source: Origin,
  ownPool: string,
): { candidates: Candidate[]; tooLarge: Skipped[] } {
  const candidates: Candidate[] = [];
  const tooLarge: Skipped[] = [];
  // Stamps are no part of the hash.
  const epoch = new Date(0);
  const stamps = { id: '', version: 0, createdAt: epoch, addedToFeedAt: epoch, lastUpdated: epoch };
  for (const record of records) {
    if ([record.recordId, record.canonicalKey].some((name) => Buffer.byteLength(name) > nameMaxBytes)) {
      tooLarge.push({ entry: record.recordId.slice(0, 100), reason: `its id is longer than ${nameMaxBytes} bytes` });
      continue;
    }
    const item = toItem(record, source, { ...stamps, status: record.withdrawn ? 'retracted' : 'active' });
    if (record.storedText.length > measuredFromChars && JSON.stringify(item).length > documentMaxChars) {
      tooLarge.push({ entry: record.recordId, reason: `the item would be larger than ${documentMaxChars} characters` });
      continue;
    }
    const isOwn = source.visibility === 'private' || tlpOfRecord(record, source) === 'RED';
    candidates.push({
      record,
      recordHash: recordHash(record),
      contentHash: contentHash(item, record.storedText),
      poolId: isOwn ? ownPool : source.pool_id,
    });
  }
  return { candidates, tooLarge };
}
