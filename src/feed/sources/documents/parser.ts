import { siblingModule } from '../../../platform/lib/program-files.ts';
import { createThreadPool, type ThreadPool } from '../../../platform/lib/threads/thread-pool.ts';
import { getReferenceDataVersion } from '../../reference-data/installed-data.ts';
import type { DigestInput, SourceDocument } from '../../formats/fetch-session.ts';
import type { ParseResult } from '../../formats/source-format.ts';
import { sourceFormats, type SourceKind } from '../../formats/registry.ts';
import {
  parseInChunks,
  type ParsedHead,
  type ParsedSource,
  type RecordChunk,
  type SourceDocuments,
} from './record-chunks.ts';
import { withinLimits } from '../../../platform/lib/external-error.ts';

/** `inChunks`: to receive a `ParsedHead` and then each `RecordChunk` as calls of the task. */
export type ParseTask = SourceDocuments & { inChunks?: true };
export type DigestTask = { kind: SourceKind; documents: DigestInput[] };

/** Parses the documents of sources. Large documents are parsed in worker threads, so that the caller's thread stays responsive, and all of them if reference data is installed. */
export type Parser = {
  /** Rejects with an `ExternalError` if the documents cannot be read, with a `ThreadError` if parsing takes too long or too much memory. */
  parse: (task: ParseTask, signal?: AbortSignal) => Promise<ParseResult>;
  /**
   * Parses documents whose records are read in chunks. The thread builds chunks while the caller works on previous ones, and waits when it is
   * a few chunks ahead. Rejects like `parse`; reading the chunks may also fail.
   */
  open: (task: ParseTask, signal?: AbortSignal) => Promise<ParsedSource>;
  /** Runs the format's `digest`. Rejects like `parse`. */
  digest: (task: DigestTask, signal?: AbortSignal) => Promise<unknown>;
  close: () => Promise<void>;
};

// A document crafted to be slow takes seconds for a megabyte, which would block the main thread.
const inlineMaxBytes = 64 * 1024;
// The memory of a thread that parsed more is returned.
const keptThreadMaxBytes = 8 * 1024 * 1024;
const packedFactor = 10;
// About a batch that a pull writes, so that the thread does not wait while one is built and written.
const chunksAheadMax = 6;
const timeoutMinMs = 120_000;
const timeoutMsPerMiB = 4_000;
const magic = { gzip: [0x1f, 0x8b], zip: [0x50, 0x4b] };

/** `dataDir` contains the installed reference data. */
export function createParser(dataDir: string): Parser {
  const threads: ParseThreads = createThreadPool<ParseTask | DigestTask, unknown>({
    file: siblingModule('parse-thread', import.meta),
    workerData: dataDir,
    threadsMax: 2,
    waitingMax: 32,
    memoryMb: 2_048,
  });
  // Only the threads read the installed lists.
  const isInstalled = getReferenceDataVersion(dataDir) > 0;
  return {
    parse: async (task, signal) =>
      !isInstalled && isSmall(task.parts)
        ? withinLimits(() => sourceFormats[task.kind].parse(task.parts, task.context))
        : ((await threads.run(task, { ...limitsOf(task.parts), signal })) as ParseResult),
    open: async (task, signal) =>
      !isInstalled && isSmall(task.parts) ? parseInChunks(task) : openInThread(threads, task, signal),
    digest: async (task, signal) =>
      isSmall(task.documents)
        ? withinLimits(() => sourceFormats[task.kind].digest?.(task.documents))
        : threads.run(task, { ...limitsOf(task.documents), signal }),
    close: threads.close,
  };
}

type ParseThreads = ThreadPool<ParseTask | DigestTask, unknown>;

async function openInThread(
  threads: ParseThreads,
  task: ParseTask,
  signal: AbortSignal | undefined,
): Promise<ParsedSource> {
  // A message is accepted while the reader is at most this many behind.
  const { readable, writable } = new TransformStream<unknown, unknown>(undefined, undefined, {
    highWaterMark: chunksAheadMax,
  });
  const writer = writable.getWriter();
  const answerCall = (message: unknown): Promise<void> => writer.write(message);
  const limits = limitsOf(task.parts);
  threads
    .run({ ...task, inChunks: true }, { ...limits, signal, answerCall })
    .then(
      () => writer.close(),
      (error: unknown) => writer.abort(error),
    )
    // The reader has stopped.
    .catch(() => undefined);
  const messages = readable.values();
  const { value: head } = (await messages.next()) as { value: ParsedHead };
  const close = async (): Promise<void> => {
    await messages.return?.().catch(() => undefined);
  };
  return { head, chunks: messages as AsyncIterable<RecordChunk>, close };
}

const limitsOf = (parts: Pick<SourceDocument, 'bytes'>[]): { timeoutMs: number; isLarge: boolean } => ({
  timeoutMs: timeoutOf(parts),
  isLarge: parts.reduce((sum, { bytes }) => sum + bytes.length * (isPacked(bytes) ? packedFactor : 1), 0) > keptThreadMaxBytes, // prettier-ignore
});

/** Large documents get more time: a machine that is busy otherwise must read them too. */
export const timeoutOf = (parts: { bytes: { length: number } }[]): number =>
  timeoutMinMs + Math.ceil(countBytes(parts) / 2 ** 20) * timeoutMsPerMiB;

const countBytes = (parts: { bytes: { length: number } }[]): number =>
  parts.reduce((sum, { bytes }) => sum + bytes.length, 0);

/** Returns whether documents can be parsed in the main thread. A compressed document may be of any size. */
const isSmall = (parts: Pick<SourceDocument, 'bytes'>[]): boolean =>
  parts.every(({ bytes }) => !isPacked(bytes)) && countBytes(parts) <= inlineMaxBytes;

const isPacked = (bytes: Buffer): boolean =>
  Object.values(magic).some((start) => start.every((byte, index) => bytes[index] === byte));
