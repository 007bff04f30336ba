import { join } from 'node:path';
import type { BucketAddress } from '../../../platform/lib/storage/logs-url.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import type { CacheMetrics } from './segment-cache.ts';
import { createFileStore } from './file-store.ts';
import { createS3Store } from './s3-store.ts';
import type { SegmentStore } from './segment-store.ts';

/** Settings of the log storage. Without `bucket`, the files are in the data directory, which otherwise has copies of them. */
type LogStorageConfig = { dataDir: string; logs: { bucket: BucketAddress | null; cacheBytes: number } };

export function createSegmentStore(
  { dataDir, logs: { bucket, cacheBytes } }: LogStorageConfig,
  { log, metrics }: { log: Logger; metrics?: CacheMetrics },
): SegmentStore {
  if (bucket === null) return createFileStore(join(dataDir, 'logs'));
  return createS3Store(bucket, { cacheFolder: join(dataDir, 'log-cache'), cacheBytes, log, metrics });
}
