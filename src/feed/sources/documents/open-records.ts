import {
  removeUnbelievableDates,
  removeUnbelievableTime,
  type SkippedEntry,
  type SourceRecord,
  type UnreadText,
  cutReason,
  isCutText,
} from '../../model/source-record.ts';
import type { Extractor } from '../../ingestion/extractor.ts';
import type { SourceRow } from '../../ingestion/source-row.ts';
import type { FetchedDocuments } from './fetch-documents.ts';
import type { Parser } from './parser.ts';
import { toChunks, type ParsedSource } from './record-chunks.ts';
import { isPoolBusy, ThreadError } from '../../../platform/lib/threads/thread-protocol.ts';
import { reasonOf } from '../../../platform/lib/external-error.ts';
import type { ParseResult } from '../../formats/source-format.ts';

type OpenRecordsDeps = { parser: Parser; extractor: Pick<Extractor, 'readEntry'> };
type OpenRecordsOptions = { now: Date; signal: AbortSignal | undefined };

/** Parses the documents of a source, and extracts its texts. Structured records are read in chunks while they are built. */
export async function openRecords(
  { parser, extractor }: OpenRecordsDeps,
  source: SourceRow,
  fetched: Exclude<FetchedDocuments, { kind: 'not-modified' }>,
  { now, signal }: OpenRecordsOptions,
): Promise<ParsedSource> {
  const { parts } = fetched;
  const { kind, reliability, name: sourceName } = source;
  const task = { kind, parts, context: { reliability, sourceName, now } };
  const isEmpty = fetched.kind === 'collected' && parts.length === 0;
  const opened = isEmpty ? noRecords : await parser.open(task, signal);
  const { head, chunks } = opened;
  const collection = fetched.kind === 'collected' ? fetched.collection : undefined;
  const whole = collection
    ? { ...head, skipped: [...collection.skipped, ...head.skipped], unchanged: collection.unchanged }
    : head;
  if (!whole.texts || whole.texts.length === 0) return { ...opened, head: whole };
  const texts = whole.texts.map((text) => removeUnbelievableTime(text, now));
  const parsed = (await Array.fromAsync(chunks)).flatMap(({ records }) => records);
  const options = { owner: source.organization_id, signal };
  const { records, ...rest } = await extractTexts(extractor, { ...whole, texts, records: parsed }, options);
  return {
    head: { ...rest, count: records.length },
    chunks: toChunks(records.map((record) => removeUnbelievableDates(record, now))),
  };
}

const noRecords: ParsedSource = { head: { count: 0, skipped: [] }, chunks: [] };

const concurrentTexts = 2;
// A step of a pull ends after ten minutes, part of which are spent on fetching.
const timeMaxMs = 180_000;
const outOfTime = new ThreadError('timeout', 'was not extracted: the other texts took too long');

/** `owner` is the organization whose texts they are. */
type ExtractTextsOptions = { owner: string; signal: AbortSignal | undefined };

/**
 * Extracts the texts of a parse result in threads and adds their records. A text that cannot be extracted or is cut is listed in `skipped` with
 * the reason; one that ran out of time is also `late`. Throws if the thread pool is full or the signal aborts.
 */
export async function extractTexts(
  extractor: Pick<Extractor, 'readEntry'>,
  parsed: ParseResult,
  { owner, signal }: ExtractTextsOptions,
): Promise<ParseResult> {
  const texts = parsed.texts ?? [];
  if (texts.length === 0) return parsed;
  const startedMs = performance.now();
  const records: (SourceRecord | undefined)[] = texts.map(() => undefined);
  const skipped: SkippedEntry[] = [];
  const late: string[] = [];
  let next = 0;
  const extractQueued = async (): Promise<void> => {
    while (next < texts.length) {
      const [index, text] = [next, texts[next]!];
      next += 1;
      const isOutOfTime = performance.now() - startedMs > timeMaxMs;
      const record = isOutOfTime ? outOfTime : await extractText(extractor, text, { owner, signal });
      if (record instanceof Error) {
        skipped.push({
          entry: text.recordId,
          reason: record instanceof ThreadError ? record.message : reasonOf(record),
        });
        if (record instanceof ThreadError && record.reason === 'timeout') late.push(text.recordId);
      } else {
        records[index] = record;
        if (isCutText(record)) skipped.push({ entry: text.recordId, reason: cutReason });
      }
    }
  };
  await Promise.all(Array.from({ length: concurrentTexts }, extractQueued));
  return {
    ...parsed,
    records: [...parsed.records, ...records.filter((record) => record !== undefined)],
    skipped: [...parsed.skipped, ...skipped],
    late,
  };
}

async function extractText(
  extractor: Pick<Extractor, 'readEntry'>,
  text: UnreadText,
  { owner, signal }: ExtractTextsOptions,
): Promise<SourceRecord | Error> {
  try {
    return await extractor.readEntry(text, signal, owner);
  } catch (error) {
    if (isPoolBusy(error)) throw error;
    return error instanceof Error ? error : new Error(String(error));
  }
}
