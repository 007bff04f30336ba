import { isMarkedRetracted } from '../model/retraction-marks.ts';
import type { SkippedEntry, SourceRecord } from '../model/source-record.ts';
import { hashRecord } from './content-hash.ts';
import { effectivePublisher, effectiveTlp, toFeedItem } from './item-document.ts';
import type { ItemOrigin } from './source-row.ts';

/** A record with the hashes that reveal a change, and the pool of the organizations that may see it. */
export type ItemCandidate = { record: SourceRecord; recordHash: string; contentHash: string; poolId: string };

// A row of a PostgreSQL index has at most 2,704 bytes.
const idMaxBytes = 2_000;
// A page has up to 100 documents.
const documentMaxChars = 4_000_000;
// The size of a document follows from its text, so only documents with a long text are measured.
const measuredFromChars = 100_000;

/**
 * Builds the candidates of records. Records that are too large are returned separately. A record whose title is marked as retracted is withdrawn,
 * whatever its format.
 */
export function buildItemCandidates(
  records: SourceRecord[],
  source: ItemOrigin,
  privatePoolId: string,
): { candidates: ItemCandidate[]; tooLarge: SkippedEntry[] } {
  const candidates: ItemCandidate[] = [];
  const tooLarge: SkippedEntry[] = [];
  for (const stated of records) {
    const record = isMarkedRetracted(stated.title) ? { ...stated, withdrawn: true } : stated;
    if ([record.recordId, record.canonicalKey].some((id) => Buffer.byteLength(id) > idMaxBytes)) {
      tooLarge.push({ entry: record.recordId.slice(0, 100), reason: `its id is longer than ${idMaxBytes} bytes` });
      continue;
    }
    if (record.storedText.length > measuredFromChars && measureDocument(record, source) > documentMaxChars) {
      tooLarge.push({ entry: record.recordId, reason: `the item would be larger than ${documentMaxChars} characters` });
      continue;
    }
    const tlp = effectiveTlp(record, source);
    const isPrivate = source.visibility === 'private' || tlp === 'RED';
    candidates.push({
      record,
      ...hashRecord(record, { tlp, publisher: effectivePublisher(record, source) }),
      poolId: isPrivate ? privatePoolId : source.pool_id,
    });
  }
  return { candidates, tooLarge };
}

/** Returns the approximate number of characters of a record's document. */
function measureDocument(record: SourceRecord, source: ItemOrigin): number {
  const epoch = new Date(0);
  const stamps = { id: '', version: 0, createdAt: epoch, addedToFeedAt: epoch, lastUpdated: epoch };
  const status = record.withdrawn ? 'retracted' : 'active';
  return JSON.stringify(toFeedItem(record, source, { ...stamps, status })).length;
}
