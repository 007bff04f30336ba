import { createReadStream, createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  NoSuchKey,
} from '@aws-sdk/client-s3';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import type { BucketAddress } from '../../../platform/lib/storage/logs-url.ts';
import { openS3Client } from '../../../platform/lib/storage/s3-client.ts';
import { LogStorageError } from './segment-store.ts';

/** Objects of one prefix of a bucket. Keys are relative to the prefix. All calls throw a LogStorageError. */
export type Bucket = {
  putFile: (key: string, path: string, hash: { bytes: number; sha256: string }) => Promise<void>;
  putText: (key: string, text: string) => Promise<void>;
  getFile: (key: string, target: string) => Promise<void>;
  /** Returns undefined if the object does not exist. */
  getText: (key: string) => Promise<string | undefined>;
  remove: (key: string) => Promise<void>;
  /** Lists the objects in pages of at most 1000. */
  list: () => AsyncIterable<{ key: string; modifiedAt: Date }[]>;
  close: () => void;
};

/** Opens the objects of a prefix. Failed requests are logged. */
export function createBucket(address: BucketAddress, log: Logger): Bucket {
  const { bucket, prefix, endpoint, region } = address;
  // Streams need tries of our own, which then serve all requests.
  const client = openS3Client(address, 1);
  const host = endpoint === undefined ? `S3 in ${region ?? 'the default region'}` : new URL(endpoint).host;
  const at = (key: string): { Bucket: string; Key: string } => ({ Bucket: bucket, Key: `${prefix}${key}` });
  const request = <T>(action: string, send: () => Promise<T>): Promise<T> =>
    sendToBucket({ bucket, host, log }, action, send);
  return {
    putFile: (key, path, { bytes, sha256 }) =>
      request(`store ${prefix}${key}`, async () => {
        const body = createReadStream(path);
        try {
          const checksum = Buffer.from(sha256, 'hex').toString('base64');
          await client.send(
            new PutObjectCommand({ ...at(key), Body: body, ContentLength: bytes, ChecksumSHA256: checksum }),
          );
        } finally {
          body.destroy();
        }
      }),
    putText: async (key, text) => {
      await request(`store ${prefix}${key}`, () => client.send(new PutObjectCommand({ ...at(key), Body: text })));
    },
    getFile: (key, target) =>
      request(`return ${prefix}${key}`, async () => {
        const { Body } = await client.send(new GetObjectCommand(at(key)));
        await pipeline(Body as Readable, createWriteStream(target, { mode: 0o600 }));
      }),
    getText: async (key) => {
      try {
        return await request(`return ${prefix}${key}`, async () => {
          const { Body } = await client.send(new GetObjectCommand(at(key)));
          return Body!.transformToString();
        });
      } catch (error) {
        if (error instanceof MissingObjectError) return undefined;
        throw error;
      }
    },
    remove: async (key) => {
      await request(`delete ${prefix}${key}`, () => client.send(new DeleteObjectCommand(at(key))));
    },
    async *list() {
      let token: string | undefined;
      do {
        const page = await request(`list ${prefix}`, () =>
          client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix, ContinuationToken: token })),
        );
        yield (page.Contents ?? []).map(({ Key, LastModified }) => ({
          key: Key!.slice(prefix.length),
          modifiedAt: LastModified ?? new Date(),
        }));
        token = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (token !== undefined);
    },
    close: () => client.destroy(),
  };
}

/** The object of a request does not exist. */
class MissingObjectError extends LogStorageError {}

type NamedBucket = { bucket: string; host: string; log: Logger };

const triesMax = 4;
const firstPauseMs = 200;
/** Returns whether a status does not change when the request is repeated. */
const isFinal = (status: number | undefined): boolean => status !== undefined && status < 500 && status !== 429;

/**
 * Runs a request to a bucket, up to four times if the storage does not respond or fails. `action` completes "The bucket did not …". Throws a
 * LogStorageError, or the error itself if the local disk is full.
 */
async function sendToBucket<T>(target: NamedBucket, action: string, send: () => Promise<T>): Promise<T> {
  const { bucket, host, log } = target;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      if (error instanceof NoSuchKey)
        throw new MissingObjectError(`The bucket ${bucket} at ${host} did not ${action}: the object does not exist.`);
      const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
      // The local disk is full, which is no fault of the bucket.
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') {
        log.error({ bucket }, `The local disk is full, so the bucket ${bucket} could not ${action}.`);
        throw error;
      }
      if (attempt === triesMax || isFinal(status)) throw describeFailure(target, action, error, status);
      await sleep(firstPauseMs * 2 ** (attempt - 1));
    }
  }
}

/** Logs a failed request and returns its error. */
function describeFailure(
  { bucket, host, log }: NamedBucket,
  action: string,
  error: unknown,
  status: number | undefined,
): LogStorageError {
  const { name, message, code } = error as Error & { code?: string };
  const reason = [status, name === 'Error' ? code : name, message].filter(Boolean).join(' ');
  const described = `The bucket ${bucket} at ${host} did not ${action}: ${reason}`;
  log.error({ bucket, host, reason }, described);
  return new LogStorageError(described, { cause: error });
}
