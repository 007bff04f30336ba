import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { BucketAddress } from '../../../platform/lib/storage/logs-url.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import { toOrgId, uuidPattern } from '../../../platform/lib/org-id.ts';
import {
  claimCacheFolder,
  createSegmentCache,
  hashFile,
  type CacheMetrics,
  type SegmentCache,
} from './segment-cache.ts';
import type { Bucket } from './s3-bucket.ts';
import type { SegmentStore, StoredFiles, StoredSegment } from './segment-store.ts';

const downloadsMax = 8;
const idKey = 'directory-id';

type S3StoreOptions = {
  cacheFolder: string;
  cacheBytes: number;
  log: Logger;
  metrics?: CacheMetrics | undefined;
};

/**
 * Creates the store of a bucket. An object's key is the organization's ID and the path of the file. The local folder holds the files that this
 * process wrote or read last.
 */
export function createS3Store(
  address: BucketAddress,
  { cacheFolder, cacheBytes, log, metrics }: S3StoreOptions,
): SegmentStore {
  let opened: { folder: string; cache: SegmentCache; release: () => void } | undefined;
  let openedBucket: Promise<Bucket> | undefined;
  // The client is loaded only where it is used, because it is large.
  const bucket = (): Promise<Bucket> =>
    (openedBucket ??= import('./s3-bucket.ts').then(({ createBucket }) => createBucket(address, log)));
  const open = (): { folder: string; cache: SegmentCache } => {
    if (opened) return opened;
    const { folder, lock } = claimCacheFolder(cacheFolder);
    const download = async (path: string, target: string): Promise<void> => (await bucket()).getFile(path, target);
    const cache = createSegmentCache({ folder, bytesMax: cacheBytes, download, metrics });
    opened = { folder, cache, release: lock.release };
    return opened;
  };
  const folderOf = (orgId: string): string => join(open().folder, orgId);
  const keyOf = (orgId: string, path: string): string => `${orgId}/${path}`;

  return {
    location: `s3://${address.bucket}/${address.prefix}`,
    folderOf,
    async put(orgId, path) {
      const key = keyOf(orgId, path);
      const file = join(folderOf(orgId), path);
      const hash = await hashFile(file);
      await (await bucket()).putFile(key, file, hash);
      open().cache.add({ path: key, ...hash });
      return hash.sha256;
    },
    putText: async (orgId, path, text) => (await bucket()).putText(keyOf(orgId, path), text),
    lease: (orgId, segments) => leaseAll(open().cache, orgId, segments),
    async remove(orgId, path) {
      const key = keyOf(orgId, path);
      await (await bucket()).remove(key);
      open().cache.remove(key);
    },
    async *list() {
      for await (const page of (await bucket()).list()) yield* groupByOrg(page);
    },
    listCopies: () => [
      ...groupByOrg(
        open()
          .cache.paths()
          .map((key) => ({ key, modifiedAt: new Date(0) })),
      ),
    ],
    removeCopy: (orgId, path) => open().cache.remove(keyOf(orgId, path)),
    readId: async () => (await (await bucket()).getText(idKey))?.trim(),
    writeId: async (id) => (await bucket()).putText(idKey, `${id}\n`),
    async probe() {
      const [objects, key] = [await bucket(), `probe-${randomUUID()}`];
      await objects.putText(key, key);
      const read = await objects.getText(key);
      await objects.remove(key);
      if (read !== key) throw new Error(`The bucket ${address.bucket} returned other bytes than were stored.`);
    },
    close() {
      opened?.release();
      void openedBucket?.then((objects) => objects.close());
    },
  };
}

/** Leases all files or none, with a few downloads at a time. */
async function leaseAll(cache: SegmentCache, orgId: string, segments: readonly StoredSegment[]): Promise<() => void> {
  const releases: (() => void)[] = [];
  const release = (): void => releases.forEach((one) => one());
  const waiting = [...segments];
  let failure: { error: unknown } | undefined;
  const work = async (): Promise<void> => {
    for (let next = waiting.pop(); next && !failure; next = waiting.pop()) {
      const { path, bytes, sha256 } = next;
      try {
        releases.push(await cache.use({ path: `${orgId}/${path}`, bytes, sha256 }));
      } catch (error) {
        failure = { error };
      }
    }
  };
  await Promise.all(Array.from({ length: downloadsMax }, work));
  if (!failure) return release;
  release();
  throw failure.error;
}

function* groupByOrg(objects: { key: string; modifiedAt: Date }[]): Iterable<StoredFiles> {
  const groups = Map.groupBy(objects, ({ key }) => key.split('/', 1)[0]!);
  for (const [org, group] of groups) {
    if (!uuidPattern.test(org)) continue;
    const files = group.map(({ key, modifiedAt }) => ({ path: key.slice(org.length + 1), modifiedAt }));
    yield { orgId: toOrgId(org), files };
  }
}
