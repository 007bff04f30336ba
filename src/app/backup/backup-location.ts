import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { parseLogsUrl, type BucketAddress } from '../../platform/lib/storage/logs-url.ts';

/** Where a backup is: a local file or an object of a bucket. An incomplete backup is never visible there. */
export type BackupLocation = {
  /** Throws if nothing can be written there, as far as this is known before. */
  check: () => Promise<void>;
  write: (bytes: AsyncIterable<Uint8Array>) => Promise<void>;
  read: () => AsyncIterable<Uint8Array>;
};

/** Returns the location that an argument of the command line names. Throws if it is not valid. */
export function openBackupLocation(text: string): BackupLocation {
  if (!text.startsWith('s3://')) return localFile(text);
  const address = parseLogsUrl(text);
  const key = typeof address === 'object' ? address?.prefix.slice(0, -1) : undefined;
  if (address === null || typeof address === 'string') throw new Error(`The address ${text} ${address}.`);
  if (!key) throw new Error(`The address ${text} must name an object: s3://BUCKET/OBJECT`);
  return storedObject(address, key);
}

/** The bytes go to a file beside the target first, which replaces the target when they are complete and synced. */
function localFile(path: string): BackupLocation {
  const partial = `${path}.partial`;
  return {
    async check() {
      const folder = dirname(resolve(path));
      const isFolder = await stat(folder).then(
        (found) => found.isDirectory(),
        () => false,
      );
      if (!isFolder) throw new Error(`The folder ${folder} does not exist. Create it, or choose another one.`);
    },
    async write(bytes) {
      try {
        const file = await open(partial, 'w', 0o600);
        await pipeline(bytes, file.createWriteStream({ flush: true }));
        await rename(partial, path);
      } catch (error) {
        await rm(partial, { force: true });
        throw error;
      }
    },
    read: () => createReadStream(path),
  };
}

const triesMax = 4;
const partBytes = 16 * 1024 * 1024;

/** The object appears when its last part is stored. */
function storedObject(address: BucketAddress, key: string): BackupLocation {
  const target = { Bucket: address.bucket, Key: key };
  return {
    check: async () => undefined,
    async write(bytes) {
      const { Upload } = await import('@aws-sdk/lib-storage');
      const client = await openClient(address);
      const body = new PassThrough();
      const upload = new Upload({ client, params: { ...target, Body: body }, partSize: partBytes, queueSize: 2 });
      try {
        // Without its last chunk the body does not end, so a failed backup is aborted and never becomes an object.
        await Promise.all([upload.done(), pipeline(bytes, body)]);
      } catch (error) {
        await upload.abort().catch(() => undefined);
        throw error;
      } finally {
        client.destroy();
      }
    },
    async *read() {
      const { GetObjectCommand } = await import('@aws-sdk/client-s3');
      const client = await openClient(address);
      try {
        const { Body } = await client.send(new GetObjectCommand(target));
        yield* Body as Readable;
      } finally {
        client.destroy();
      }
    },
  };
}

async function openClient(address: BucketAddress): Promise<S3Client> {
  const { openS3Client } = await import('../../platform/lib/storage/s3-client.ts');
  return openS3Client(address, triesMax);
}
