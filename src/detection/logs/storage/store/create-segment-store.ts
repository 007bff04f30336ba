import type { BucketAddress } from '../../../../platform/lib/logs-url.ts';
import type { Logger } from '../../../../platform/lib/logger.ts';
import type { CacheMetrics } from './cache-metrics.ts';
import { createFileStore } from './file-store.ts';
import { createS3Store } from './s3-store.ts';
import type { SegmentStore } from './segment-store.ts';

/** Settings of the log storage. Without `bucket`, the files are in `folder`. */
export type LogStorageConfig = {
  bucket: BucketAddress | null;
  folder: string;
  cacheFolder: string;
  cacheBytes: number;
};

export function createSegmentStore(
  { bucket, folder, cacheFolder, cacheBytes }: LogStorageConfig,
  { log, metrics }: { log: Logger; metrics?: CacheMetrics },
): SegmentStore {
  return bucket === null ? createFileStore(folder) : createS3Store(bucket, { cacheFolder, cacheBytes, log, metrics });
}
