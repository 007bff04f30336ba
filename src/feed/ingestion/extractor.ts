import { availableParallelism } from 'node:os';
import { siblingModule } from '../../platform/lib/program-files.ts';
import { createThreadPool } from '../../platform/lib/threads/thread-pool.ts';
import { getReferenceDataVersion } from '../reference-data/installed-data.ts';
import type { ReportFile } from '../formats/report-files/pdf-text.ts';
import type { SourceRecord, UnreadText } from '../model/source-record.ts';
import type { CompletedReport, ExtractedItem, ModelInput, ReportText } from '../extraction/extract-item.ts';
import type { CallOwner } from '../../platform/lib/threads/thread-worker.ts';
import type { SnapshotCache } from '../items/snapshot/snapshot.ts';

export type ExtractTask =
  | { kind: 'report'; report: ReportText }
  | { kind: 'file'; name: string; bytes: Uint8Array }
  | { kind: 'entry'; entry: UnreadText }
  | { kind: 'complete'; report: ReportText; model: ModelInput };

/** Extracts items from texts in worker threads, so that the main thread stays responsive and a slow text can be abandoned. */
export type Extractor = {
  /** The version of the reference data in use. */
  referenceDataVersion: number;
  /** `read` and `readEntry` reject with a ThreadError if a thread fails or is unavailable, and with an Error if the text itself is unusable. `owner` is the organization: organizations take turns. */
  read: (report: ReportText, signal?: AbortSignal, owner?: string) => Promise<ExtractedItem>;
  /** Reads the text of a report from a file. */
  readFile: (file: { name: string; bytes: Uint8Array }, owner: string) => Promise<ReportFile>;
  /** Extracts the record of a feed entry from its page or its own text. */
  readEntry: (entry: UnreadText, signal?: AbortSignal, owner?: string) => Promise<SourceRecord>;
  /** Extracts an item from a report and completes it with what a model read. Without answers, it returns what the lexicon reads. */
  complete: (report: ReportText, model: ModelInput, owner: string) => Promise<CompletedReport>;
  close: () => Promise<void>;
};

const defaultTimeoutMs = 20_000;
const threadsMax = Math.min(4, Math.max(1, availableParallelism() - 1));

/** Reads the installed reference data from `dataDir`. A text may take `timeoutMs`. */
export function createExtractor(dataDir: string, timeoutMs = defaultTimeoutMs): Extractor {
  const threads = createThreadPool<ExtractTask, unknown>({
    file: siblingModule('extraction-thread', import.meta),
    workerData: dataDir,
    threadsMax,
    waitingMax: 64,
    memoryMb: 512,
  });
  return {
    referenceDataVersion: getReferenceDataVersion(dataDir),
    read: async (report, signal, owner = '') =>
      (await threads.run({ kind: 'report', report }, { timeoutMs, signal, owner })) as ExtractedItem,
    readFile: async (file, owner) => (await threads.run({ kind: 'file', ...file }, { timeoutMs, owner })) as ReportFile,
    readEntry: async (entry, signal, owner = '') =>
      (await threads.run({ kind: 'entry', entry }, { timeoutMs, signal, owner })) as SourceRecord,
    complete: async (report, model, owner) =>
      (await threads.run({ kind: 'complete', report, model }, { timeoutMs, owner })) as CompletedReport,
    close: threads.close,
  };
}

/** A call from feed work in a thread to the main thread. `changed`: a transaction changed the feed. */
type MainThreadCall =
  | { kind: 'report'; report: ReportText; owner: string | undefined }
  | { kind: 'entry'; entry: UnreadText; owner: string | undefined }
  | { kind: 'changed' };

type MainThread = { extractor: Extractor; snapshots: SnapshotCache };
type MainThreadProxy = {
  extractor: Omit<Extractor, 'close' | 'complete' | 'readFile'>;
  snapshots: Pick<SnapshotCache, 'invalidate'>;
};

/** Returns the function that answers the calls of `createMainThreadProxy`, in the main thread. */
export const createCallAnswerer =
  ({ extractor, snapshots }: MainThread) =>
  async (request: unknown): Promise<unknown> => {
    const call = request as MainThreadCall;
    switch (call.kind) {
      case 'report':
        return extractor.read(call.report, undefined, call.owner);
      case 'entry':
        return extractor.readEntry(call.entry, undefined, call.owner);
      case 'changed':
        return snapshots.invalidate();
    }
  };

/** Returns the extraction threads and the snapshot cache of the main thread, for use in a thread. All threads share them. */
export function createMainThreadProxy(callOwner: CallOwner, referenceDataVersion: number): MainThreadProxy {
  const call = (request: MainThreadCall): Promise<unknown> => callOwner(request);
  return {
    extractor: {
      referenceDataVersion,
      read: async (report, _signal, owner) => (await call({ kind: 'report', report, owner })) as ExtractedItem,
      readEntry: async (entry, _signal, owner) => (await call({ kind: 'entry', entry, owner })) as SourceRecord,
    },
    snapshots: { invalidate: () => void call({ kind: 'changed' }) },
  };
}
