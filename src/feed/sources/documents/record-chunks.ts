import { buildDraft, toDraft } from '../../formats/read-parts.ts';
import { sourceFormats, type SourceKind } from '../../formats/registry.ts';
import type { DraftResult, ParseContext, ParseResult, RecordDraft, SourceFormat } from '../../formats/source-format.ts';
import type { SourceDocument } from '../../formats/fetch-session.ts';
import {
  createDateFilter,
  comparePublishTimes,
  type SkippedEntry,
  type SourceRecord,
} from '../../model/source-record.ts';
import { buckets } from '../../model/vocabulary.ts';
import { withinLimits } from '../../../platform/lib/external-error.ts';

export type SourceDocuments = { kind: SourceKind; parts: SourceDocument[]; context: ParseContext };

/** The documents of a source as a whole, without their records. */
export type ParsedHead = Omit<ParseResult, 'records'> & {
  /** The number of records, including those that `RecordChunk.skipped` lists. */
  count: number;
  /** The ids of all records, if the source is a catalog. */
  catalogIds?: string[];
};

/** Some of the records. `skipped` lists the records that could not be built by their ids. */
export type RecordChunk = { records: SourceRecord[]; skipped: SkippedEntry[] };

/** The documents of a source, whose records are read in the order in which they were published. */
export type ParsedSource = {
  head: ParsedHead;
  chunks: Iterable<RecordChunk> | AsyncIterable<RecordChunk>;
  /** Ends the parsing if not all chunks were read. */
  close?: () => Promise<void>;
};

// Small enough that the next chunk is built while one is written. Writing begins with the first one.
const [firstRecordsMax, recordsMax] = [100, 250];
const weightMax = 330_000;
const indicatorWeight = 250;
export const recordWeight = 1_500;

/** Returns the approximate work of writing a record, in characters of text. */
export function weighRecord({ iocs, storedText }: SourceRecord): number {
  const indicators = buckets.reduce((sum, bucket) => sum + iocs[bucket].length, 0);
  return recordWeight + storedText.length + indicators * indicatorWeight;
}

/** Parses the documents of a source. Their records are built while the chunks are read. Throws like `SourceFormat.parse`. */
export function parseInChunks({ kind, parts, context }: SourceDocuments): ParsedSource {
  const { draft, parse }: SourceFormat = sourceFormats[kind];
  const { drafts, ...head } = withinLimits(() => (draft ? draft(parts, context) : draftRecords(parse(parts, context))));
  return {
    head: {
      ...head,
      count: drafts.length,
      ...(head.catalog ? { catalogIds: drafts.map(({ recordId }) => recordId) } : {}),
    },
    chunks: buildChunks(context.now ? drafts.map(createDraftFilter(context.now)) : drafts),
  };
}

const draftRecords = ({ records, ...rest }: ParseResult): DraftResult => ({ ...rest, drafts: records.map(toDraft) });

/** Returns a function that removes the dates of a draft which cannot be true. */
function createDraftFilter(now: Date): (draft: RecordDraft) => RecordDraft {
  const { filterDates, filterPublishTime } = createDateFilter(now);
  return ({ recordId, publishTime, modifiedAt, build }) => ({
    recordId,
    publishTime: filterPublishTime({ publishTime, modifiedAt }),
    build: () => filterDates(build()),
  });
}

/** Returns records in chunks, in the order in which they were published. */
export const toChunks = (records: SourceRecord[]): Iterable<RecordChunk> => buildChunks(records.map(toDraft));

function* buildChunks(drafts: RecordDraft[]): Generator<RecordChunk, void, void> {
  let chunk: RecordChunk = { records: [], skipped: [] };
  let weight = 0;
  let countMax = firstRecordsMax;
  for (const draft of drafts.toSorted((a, b) => comparePublishTimes(a.publishTime, b.publishTime))) {
    const built = buildDraft(draft);
    if ('skipped' in built) chunk.skipped.push(built.skipped);
    else {
      chunk.records.push(built.record);
      weight += weighRecord(built.record);
    }
    if (weight < weightMax && chunk.records.length + chunk.skipped.length < countMax) continue;
    yield chunk;
    countMax = recordsMax;
    chunk = { records: [], skipped: [] };
    weight = 0;
  }
  if (chunk.records.length + chunk.skipped.length > 0) yield chunk;
}
