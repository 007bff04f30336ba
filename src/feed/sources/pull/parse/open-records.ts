import { removeUnbelievableDates, removeUnbelievableTime } from '../../../ingestion/believable-dates.ts';
import type { Extractor } from '../../../ingestion/extractor/extractor.ts';
import type { SourceRow } from '../../../ingestion/source-row.ts';
import { extractTexts } from '../extract-texts.ts';
import type { FetchedDocuments } from '../fetch-documents.ts';
import type { Parser } from './parser.ts';
import { toChunks, type ParsedSource } from './record-chunks.ts';

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
