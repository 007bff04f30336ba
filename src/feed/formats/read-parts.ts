import type { SkippedEntry, SourceRecord } from '../model/source-record.ts';
import { isZip, readZip, type ZipBounds } from '../../platform/lib/storage/zip.ts';
import type { DraftResult, ParseResult, RecordDraft, SourceFormat } from './source-format.ts';
import type { SourceDocument } from './fetch-session.ts';
import { reasonOf, withinLimits } from '../../platform/lib/external-error.ts';

const textMaxChars = 4_000_000;

/**
 * Parses the documents of a source one by one. A document that cannot be parsed is skipped, or throws if it is the only one. If a record
 * occurs in several documents, the newest version wins.
 */
export function draftParts(parts: SourceDocument[], draftPart: (part: SourceDocument) => DraftResult): DraftResult {
  const drafts = new Map<string, RecordDraft>();
  const skipped: SkippedEntry[] = [];
  for (const part of parts) {
    try {
      const result = draftPart(part);
      skipped.push(...result.skipped);
      for (const draft of result.drafts) {
        const known = drafts.get(draft.recordId);
        drafts.set(draft.recordId, known ? pickNewest(known, draft, skipped) : draft);
      }
    } catch (error) {
      if (parts.length === 1 && !part.isListed) throw error;
      skipped.push(toSkipped(part.name, error));
    }
  }
  return { drafts: [...drafts.values()], skipped };
}

/** Returns the newer of two records with one id. Adds the other one to `skipped` unless it is an older version. */
function pickNewest(known: RecordDraft, draft: RecordDraft, skipped: SkippedEntry[]): RecordDraft {
  const [before, after] = [buildDraft(known), buildDraft(draft)];
  if ('skipped' in after) {
    skipped.push(after.skipped);
    return known;
  }
  if ('skipped' in before) {
    skipped.push(before.skipped);
    return toDraft(after.record);
  }
  const isSameTime = before.record.modifiedAt === after.record.modifiedAt;
  if (isSameTime && before.record.storedText !== after.record.storedText) {
    skipped.push({ entry: draft.recordId, reason: 'another record of the document has the same id and time' });
    return toDraft(before.record);
  }
  const isNewer = (after.record.modifiedAt ?? '') >= (before.record.modifiedAt ?? '');
  return toDraft(isNewer ? after.record : before.record);
}

export const toDraft = (record: SourceRecord): RecordDraft => ({
  recordId: record.recordId,
  publishTime: record.publishTime,
  modifiedAt: record.modifiedAt,
  build: () => record,
});

/** Builds a record, or returns why it is skipped, such as a text beyond the limit. */
export function buildDraft(draft: RecordDraft): { record: SourceRecord } | { skipped: SkippedEntry } {
  try {
    const record = withinLimits(draft.build);
    if (record.storedText.length <= textMaxChars) return { record };
    const reason = `its text is longer than ${textMaxChars} characters`;
    return { skipped: { entry: draft.recordId, reason } };
  } catch (error) {
    return { skipped: toSkipped(draft.recordId, error) };
  }
}

/** Builds all records of a result. */
export function buildDrafts({ drafts, skipped, ...rest }: DraftResult): ParseResult {
  const built = drafts.map(buildDraft);
  return {
    ...rest,
    records: built.flatMap((outcome) => ('record' in outcome ? [outcome.record] : [])),
    skipped: [...skipped, ...built.flatMap((outcome) => ('skipped' in outcome ? [outcome.skipped] : []))],
  };
}

/** Returns the `parse` of a format that has a `draft`. */
export const toParse =
  (draft: NonNullable<SourceFormat['draft']>): SourceFormat['parse'] =>
  (parts, context) =>
    buildDrafts(draft(parts, context));

/** Returns a skipped entry. Faults of the service are not shown. */
export const toSkipped = (entry: string, error: unknown): SkippedEntry => ({
  entry,
  reason: reasonOf(error),
});

/** Returns the matching files of a zip archive, or the document itself if it is not an archive. */
export const unzipPart = (part: SourceDocument, fileNames: RegExp, bounds: ZipBounds): SourceDocument[] =>
  isZip(part.bytes) ? readZip(part.bytes, (name) => fileNames.test(name), bounds) : [part];
