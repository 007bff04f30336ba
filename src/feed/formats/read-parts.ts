import type { SkippedEntry, SourceRecord } from '../model/source-record.ts';
import { isZip, readZip, type ZipBounds } from '../../platform/lib/zip.ts';
import type { ParseResult } from './source-format.ts';
import type { SourceDocument } from './source-document.ts';

const textMaxChars = 4_000_000;

/**
 * Parses the documents of a source one by one. A document that cannot be parsed is skipped, or throws if it is the only one. If a record
 * occurs in several documents, the newest version wins. A record whose text exceeds the limit is skipped.
 */
export function readParts(parts: SourceDocument[], readPart: (part: SourceDocument) => ParseResult): ParseResult {
  const records = new Map<string, SourceRecord>();
  const skipped: SkippedEntry[] = [];
  const tooLong: SkippedEntry[] = [];
  for (const part of parts) {
    try {
      const result = readPart(part);
      skipped.push(...result.skipped);
      for (const record of result.records) {
        const known = records.get(record.recordId);
        if (record.storedText.length > textMaxChars)
          tooLong.push({ entry: record.recordId, reason: `its text is longer than ${textMaxChars} characters` });
        else if (known && known.modifiedAt === record.modifiedAt && known.storedText !== record.storedText)
          skipped.push({ entry: record.recordId, reason: 'another record of the document has the same id and time' });
        else if (!known || (record.modifiedAt ?? '') >= (known.modifiedAt ?? '')) records.set(record.recordId, record);
      }
    } catch (error) {
      if (parts.length === 1 && !part.isListed) throw error;
      skipped.push(toSkipped(part.name, error));
    }
  }
  return { records: [...records.values()], skipped: [...skipped, ...tooLong] };
}

export const toSkipped = (entry: string, error: unknown): SkippedEntry => ({
  entry,
  reason: error instanceof Error ? error.message : String(error),
});

/** Returns the matching files of a zip archive, or the document itself if it is not an archive. */
export const unzipPart = (part: SourceDocument, fileNames: RegExp, bounds: ZipBounds): SourceDocument[] =>
  isZip(part.bytes) ? readZip(part.bytes, (name) => fileNames.test(name), bounds) : [part];
