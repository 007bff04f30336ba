import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { PassThrough, type Readable, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ReadableStream } from 'node:stream/web';
import { createGunzip, createGzip } from 'node:zlib';
import type { S3Client } from '@aws-sdk/client-s3';
import { Decrypter, Encrypter } from 'age-encryption';
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

type Bytes = AsyncIterable<Uint8Array>;

/** Returns the bytes that leave a stage. Its failures, and those of the bytes before it, reach the reader. */
function through(bytes: Bytes, stage: Duplex): Bytes {
  pipeline(bytes, stage).catch(() => undefined);
  return stage.on('error', () => undefined);
}

/** Compresses with gzip, and encrypts in the age format if there is a passphrase. (https://age-encryption.org/v1) */
export async function* encode(bytes: Bytes, passphrase: string | undefined): Bytes {
  const compressed: Bytes = through(bytes, createGzip({ level: 1 }));
  if (passphrase === undefined) return yield* compressed;
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  yield* (await encrypter.encrypt(ReadableStream.from(compressed))) as Bytes;
}

/** Reverses `encode`. Throws if the passphrase is missing or wrong, or the bytes are damaged or no backup. */
export async function* decode(bytes: Bytes, passphrase: string | undefined): Bytes {
  const source = bytes[Symbol.asyncIterator]();
  const first = await source.next();
  const start = first.done ? Buffer.alloc(0) : Buffer.from(first.value);
  const rest = (async function* () {
    yield start;
    yield* { [Symbol.asyncIterator]: () => source };
  })();
  if (start.subarray(0, ageMark.length).equals(ageMark))
    yield* through(await decrypt(rest, passphrase), createGunzip());
  else if (start[0] === 0x1f && start[1] === 0x8b) yield* through(rest, createGunzip());
  else throw new Error('The file is not a backup.');
}

const ageMark = Buffer.from('age-encryption.org/v1');

async function decrypt(bytes: Bytes, passphrase: string | undefined): Promise<Bytes> {
  if (passphrase === undefined)
    throw new Error('The backup is encrypted. Set TOCSIN_BACKUP_PASSPHRASE to its passphrase.');
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  try {
    return (await decrypter.decrypt(ReadableStream.from(bytes))) as Bytes;
  } catch (error) {
    throw new Error('The backup cannot be decrypted: TOCSIN_BACKUP_PASSPHRASE is not its passphrase.', {
      cause: error,
    });
  }
}
