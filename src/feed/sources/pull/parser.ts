import { createThreads } from '../../../platform/lib/threads/thread-pool.ts';
import type { Digestible } from '../../formats/fetch-session.ts';
import type { ParseContext, Parsed, Part } from '../../model/source-record.ts';
import { sourceFormats, type SourceKind } from '../../formats/registry.ts';

export type ParseTask = { kind: SourceKind; parts: Part[]; context: ParseContext };
export type DigestTask = { kind: SourceKind; documents: Digestible[] };

/** Parses the documents of sources; large ones in threads of their own, so that the service answers others meanwhile. */
export type Parser = {
  /** Rejects with what the format throws, or where it takes too long or too much memory. */
  parse: (task: ParseTask, signal?: AbortSignal) => Promise<Parsed>;
  /** What the format's `digest` makes of documents on the way; rejects as `parse` does. */
  digest: (task: DigestTask, signal?: AbortSignal) => Promise<unknown>;
  close: () => Promise<void>;
};

// What is made to take long takes seconds for a megabyte, during which nobody else is answered.
const inlineMaxBytes = 64 * 1024;
const timeoutMs = 120_000;
const magic = { gzip: [0x1f, 0x8b], zip: [0x50, 0x4b] };

/** `dataDir`: where the knowledge lies that `tocsin knowledge update` took. */
export function createParser(dataDir: string): Parser {
  const threads = createThreads<ParseTask | DigestTask, unknown>({
    file: new URL('parse-thread.ts', import.meta.url),
    workerData: dataDir,
    threadsMax: 2,
    waitingMax: 32,
    memoryMb: 2_048,
  });
  return {
    parse: async (task, signal) =>
      isSmall(task.parts)
        ? sourceFormats[task.kind].parse(task.parts, task.context)
        : ((await threads.run(task, { timeoutMs, signal })) as Parsed),
    digest: async (task, signal) =>
      isSmall(task.documents)
        ? sourceFormats[task.kind].digest?.(task.documents)
        : threads.run(task, { timeoutMs, signal }),
    close: threads.close,
  };
}

/** What is packed may be of any size. */
const isSmall = (parts: Pick<Part, 'bytes'>[]): boolean =>
  parts.every(({ bytes }) => !isPacked(bytes)) &&
  parts.reduce((sum, { bytes }) => sum + bytes.length, 0) <= inlineMaxBytes;

const isPacked = (bytes: Buffer): boolean =>
  Object.values(magic).some((start) => start.every((byte, at) => bytes[at] === byte));
