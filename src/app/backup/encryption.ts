import { ReadableStream } from 'node:stream/web';
import { createGunzip, createGzip } from 'node:zlib';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Decrypter, Encrypter } from 'age-encryption';

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
