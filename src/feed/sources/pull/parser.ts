import { siblingModule } from '../../../platform/lib/sibling-module.ts';
import { createThreadPool } from '../../../platform/lib/threads/thread-pool.ts';
import { getReferenceDataVersion } from '../../reference-data/reference-data-version.ts';
import type { DigestInput } from '../../formats/fetch-session.ts';
import type { ParseContext, ParseResult } from '../../formats/source-format.ts';
import type { SourceDocument } from '../../formats/source-document.ts';
import { sourceFormats, type SourceKind } from '../../formats/registry.ts';

export type ParseTask = { kind: SourceKind; parts: SourceDocument[]; context: ParseContext };
export type DigestTask = { kind: SourceKind; documents: DigestInput[] };

/** Parses the documents of sources. Large documents are parsed in worker threads, so that the caller's thread stays responsive, and all of them if reference data is installed. */
export type Parser = {
  /** Rejects with the error of the format, or if parsing takes too long or too much memory. */
  parse: (task: ParseTask, signal?: AbortSignal) => Promise<ParseResult>;
  /** Runs the format's `digest`. Rejects like `parse`. */
  digest: (task: DigestTask, signal?: AbortSignal) => Promise<unknown>;
  close: () => Promise<void>;
};

// A document crafted to be slow takes seconds for a megabyte, which would block the main thread.
const inlineMaxBytes = 64 * 1024;
const timeoutMinMs = 120_000;
const timeoutMsPerMiB = 4_000;
const magic = { gzip: [0x1f, 0x8b], zip: [0x50, 0x4b] };

/** `dataDir` contains the installed reference data. */
export function createParser(dataDir: string): Parser {
  const threads = createThreadPool<ParseTask | DigestTask, unknown>({
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
        ? sourceFormats[task.kind].parse(task.parts, task.context)
        : ((await threads.run(task, { timeoutMs: timeoutOf(task.parts), signal })) as ParseResult),
    digest: async (task, signal) =>
      isSmall(task.documents)
        ? sourceFormats[task.kind].digest?.(task.documents)
        : threads.run(task, { timeoutMs: timeoutOf(task.documents), signal }),
    close: threads.close,
  };
}

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
