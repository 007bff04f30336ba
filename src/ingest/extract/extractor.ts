import { availableParallelism } from 'node:os';
import { createThreads } from '../../lib/threads.ts';
import type { ExtractedItem, ReportText } from './extract-item.ts';

/** Reads texts in threads of their own: the service answers others meanwhile, and a text that takes too long is given up. */
export type Extractor = {
  /** Rejects with a ThreadError (lib/threads.ts) where the text could not be read. */
  read: (report: ReportText, signal?: AbortSignal) => Promise<ExtractedItem>;
  close: () => Promise<void>;
};

const timeoutMs = 20_000;
const threadsMax = Math.min(4, Math.max(1, availableParallelism() - 1));

export function createExtractor(): Extractor {
  const threads = createThreads<ReportText, ExtractedItem>({
    file: new URL('thread.ts', import.meta.url),
    threadsMax,
    waitingMax: 64,
    memoryMb: 512,
  });
  return { read: (report, signal) => threads.run(report, { timeoutMs, signal }), close: threads.close };
}
