import { isBusy } from '../lib/threads.ts';
import type { Extractor } from './extract/extractor.ts';
import type { Parsed, Skipped, SourceRecord, UnreadText } from './record.ts';

const atOnce = 2;
// A lease is ten minutes, and fetching has had its share of it.
const timeMaxMs = 180_000;

/**
 * Reads the texts that a parser left unread, in threads, and puts their records to the others. One that cannot be read is skipped with
 * the reason. Throws where the threads have no room, or the signal ends the work.
 */
export async function readTexts(extractor: Extractor, parsed: Parsed, signal?: AbortSignal): Promise<Parsed> {
  const texts = parsed.texts ?? [];
  if (texts.length === 0) return parsed;
  const began = performance.now();
  const records: (SourceRecord | undefined)[] = texts.map(() => undefined);
  const skipped: Skipped[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < texts.length) {
      const [index, text] = [next, texts[next]!];
      next += 1;
      const isLate = performance.now() - began > timeMaxMs;
      const read = isLate ? 'was not read: the others took too long' : await readOne(extractor, text, signal);
      if (typeof read === 'string') skipped.push({ entry: text.recordId, reason: read });
      else records[index] = read;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return {
    ...parsed,
    records: [...parsed.records, ...records.filter((record) => record !== undefined)],
    skipped: [...parsed.skipped, ...skipped],
  };
}

async function readOne(extractor: Extractor, text: UnreadText, signal?: AbortSignal): Promise<SourceRecord | string> {
  try {
    return await extractor.readEntry(text, signal);
  } catch (error) {
    if (isBusy(error)) throw error;
    return error instanceof Error ? error.message : String(error);
  }
}
