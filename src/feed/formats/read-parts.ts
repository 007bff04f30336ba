import type { SkippedEntry, SourceRecord } from '../model/source-record.ts';
import type { ParseResult } from './source-format.ts';
import type { SourceDocument } from './source-document.ts';

const textMaxChars = 4_000_000;

/**
 * Reads the parts of a source one by one. A part that cannot be read is named, and refuses the whole only where it is the source's only one. Of a
 * record that stands in several parts the newest counts; one that is too large to keep is named.
 */
export function readParts(parts: SourceDocument[], readPart: (part: SourceDocument) => ParseResult): ParseResult {
  const records: SourceRecord[] = [];
  const skipped: SkippedEntry[] = [];
  for (const part of parts) {
    try {
      const read = readPart(part);
      records.push(...read.records);
      skipped.push(...read.skipped);
    } catch (error) {
      if (parts.length === 1 && !part.isListed) throw error;
      skipped.push({ entry: part.name, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  const kept = new Map<string, SourceRecord>();
  for (const record of records) {
    const known = kept.get(record.recordId);
    if (record.storedText.length > textMaxChars)
      skipped.push({ entry: record.recordId, reason: `its text is longer than ${textMaxChars} characters` });
    else if (!known || (record.modifiedAt ?? '') >= (known.modifiedAt ?? '')) kept.set(record.recordId, record);
  }
  return { records: [...kept.values()], skipped };
}
