import type { CallOwner } from '../../../platform/lib/threads/thread-worker.ts';
import type { ExtractedItem, ReportText } from '../../extraction/extract-item.ts';
import type { SnapshotCache } from '../../items/snapshot/snapshot.ts';
import type { SourceRecord, UnreadText } from '../../model/source-record.ts';
import type { Extractor } from './extractor.ts';

/** A call from feed work in a thread to the main thread. `changed`: a transaction changed the feed. */
type MainThreadCall =
  | { kind: 'report'; report: ReportText; owner: string | undefined }
  | { kind: 'entry'; entry: UnreadText; owner: string | undefined }
  | { kind: 'changed' };

type MainThread = { extractor: Extractor; snapshots: SnapshotCache };
type MainThreadProxy = { extractor: Omit<Extractor, 'close'>; snapshots: Pick<SnapshotCache, 'invalidate'> };

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
