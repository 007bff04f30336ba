import { isPoolBusy, ThreadError } from '../../../platform/lib/threads/thread-protocol.ts';
import { reasonOf } from '../../../platform/lib/external-error.ts';
import type { ParseResult } from '../../formats/source-format.ts';
import { cutReason, isCutText } from '../../formats/rss/read-entry-text.ts';
import type { Extractor } from '../../ingestion/extractor/extractor.ts';
import type { SkippedEntry, SourceRecord, UnreadText } from '../../model/source-record.ts';

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
  const lane = async (): Promise<void> => {
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
  await Promise.all(Array.from({ length: concurrentTexts }, lane));
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
