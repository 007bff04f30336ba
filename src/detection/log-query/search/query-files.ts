import { engineError } from '../../log-engine/engine-failures.ts';
import { withLocalFiles, type SegmentStore, type StoredSegment } from '../../log-store/files/segment-store.ts';

/** Like `withLocalFiles`, but throws `engine_failed`, which is retried, if a file cannot be had. The storage logs why. */
export function withQueryFiles<T>(
  store: SegmentStore,
  orgId: string,
  segments: readonly StoredSegment[],
  work: () => Promise<T>,
): Promise<T> {
  const lease: SegmentStore['lease'] = (org, files) =>
    store.lease(org, files).catch(() => {
      throw engineError('The log storage did not return the files of the window. Try again later.');
    });
  return withLocalFiles({ lease }, orgId, segments, work);
}
