import { availableParallelism } from 'node:os';
import { createThreads } from '../../platform/lib/threads/thread-pool.ts';
import { knowledgeTakenAt } from '../reference-data/installed-at.ts';
import type { SourceRecord, UnreadText } from '../model/source-record.ts';
import type { ExtractedItem, ReportText } from './extract-item.ts';

export type ExtractTask = { kind: 'report'; report: ReportText } | { kind: 'entry'; entry: UnreadText };

/** Reads texts in threads of their own: the service answers others meanwhile, and a text that takes too long is given up. */
export type Extractor = {
  /** Which knowledge it reads with, as `knowledgeTakenAt` tells it. */
  knowledge: number;
  /** Both reject with a ThreadError (lib/threads.ts) where the text could not be read, and with an Error that says what is wrong with it. */
  read: (report: ReportText, signal?: AbortSignal) => Promise<ExtractedItem>;
  /** The record of a feed's entry, with its page. */
  readEntry: (entry: UnreadText, signal?: AbortSignal) => Promise<SourceRecord>;
  close: () => Promise<void>;
};

const timeoutMs = 20_000;
const threadsMax = Math.min(4, Math.max(1, availableParallelism() - 1));

/** `dataDir`: where the large lists lie that `tocsin knowledge update` took. */
export function createExtractor(dataDir: string): Extractor {
  const threads = createThreads<ExtractTask, unknown>({
    file: new URL('extraction-thread.ts', import.meta.url),
    workerData: dataDir,
    threadsMax,
    waitingMax: 64,
    memoryMb: 512,
  });
  return {
    knowledge: knowledgeTakenAt(dataDir),
    read: async (report, signal) =>
      (await threads.run({ kind: 'report', report }, { timeoutMs, signal })) as ExtractedItem,
    readEntry: async (entry, signal) =>
      (await threads.run({ kind: 'entry', entry }, { timeoutMs, signal })) as SourceRecord,
    close: threads.close,
  };
}
