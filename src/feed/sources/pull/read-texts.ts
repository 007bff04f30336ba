import { isBusy, ThreadError } from '../../../platform/lib/threads/thread-pool.ts';
import type { Extractor } from '../../extraction/extractor.ts';
import type { Parsed, Skipped, SourceRecord, UnreadText } from '../../model/source-record.ts';

const atOnce = 2;
// A lease is ten minutes, and fetching has had its share of it.
const timeMaxMs = 180_000;
const othersTookLong = new ThreadError('timeout', 'was not read: the others took too long');

/**
 * Reads the texts that a parser left unread, in threads, and puts their records to the others. One that cannot be read is skipped with
 * the reason; one that there was no time for is `late` as well. Throws where the threads have no room, or the signal ends the work.
 */
export async function readTexts(extractor: Extractor, parsed: Parsed, signal?: AbortSignal): Promise<Parsed> {
  const texts = parsed.texts ?? [];
  if (texts.length === 0) return parsed;
  const began = performance.now();
  const records: (SourceRecord | undefined)[] = texts.map(() => undefined);
  const skipped: Skipped[] = [];
  const late: string[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < texts.length) {
      const [index, text] = [next, texts[next]!];
      next += 1;
      const isOver = performance.now() - began > timeMaxMs;
      const read = isOver ? othersTookLong : await readOne(extractor, text, signal);
      if (read instanceof Error) {
        skipped.push({ entry: text.recordId, reason: read.message });
        if (read instanceof ThreadError && read.reason === 'timeout') late.push(text.recordId);
      } else records[index] = read;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return {
    ...parsed,
    records: [...parsed.records, ...records.filter((record) => record !== undefined)],
    skipped: [...parsed.skipped, ...skipped],
    late,
  };
}

async function readOne(extractor: Extractor, text: UnreadText, signal?: AbortSignal): Promise<SourceRecord | Error> {
  try {
    return await extractor.readEntry(text, signal);
  } catch (error) {
    if (isBusy(error)) throw error;
    return error instanceof Error ? error : new Error(String(error));
  }
}
