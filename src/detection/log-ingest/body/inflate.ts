import { createHash } from 'node:crypto';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { pipeline, Readable, type Transform } from 'node:stream';
import { appError } from '../../../platform/lib/errors.ts';

export const receivedBytesMax = 32 * 1024 * 1024;
const inflatedBytesMax = 256 * 1024 * 1024;
const sliceBytes = 64 * 1024;

/** A decompressed body in slices. `hash` returns the SHA-256 of the plain bytes once all slices were read. */
type InflatedBody = { slices: AsyncIterable<Buffer>; hash: () => Buffer };

/**
 * Decompresses a body. Gzip and zstd are recognized by their first bytes, whatever the headers say. The slices throw malformed_json for a broken
 * body and payload_too_large for more than `bytesMax` plain bytes.
 */
export function inflateBody(body: Buffer, bytesMax = inflatedBytesMax): InflatedBody {
  const sha = createHash('sha256');
  async function* slices(): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const slice of openSource(body)) {
      bytes += slice.length;
      if (bytes > bytesMax)
        throw appError(
          'payload_too_large',
          `The decompressed body is larger than ${bytesMax} bytes. Send it in several requests.`,
        );
      sha.update(slice);
      yield slice;
    }
  }
  return { slices: slices(), hash: () => sha.digest() };
}

const isGzip = (body: Uint8Array): boolean => body[0] === 0x1f && body[1] === 0x8b;
const isZstd = (body: Uint8Array): boolean =>
  body[0] === 0x28 && body[1] === 0xb5 && body[2] === 0x2f && body[3] === 0xfd;

/** Returns whether a body is gzip or zstd. */
export const isCompressed = (body: Uint8Array): boolean => isGzip(body) || isZstd(body);

function openSource(body: Buffer): Iterable<Buffer> | AsyncIterable<Buffer> {
  if (isGzip(body)) return decompress(body, createGunzip({ chunkSize: sliceBytes }), 'gzip');
  if (isZstd(body)) return decompress(body, createZstdDecompress({ chunkSize: sliceBytes }), 'zstd');
  return splitIntoSlices(body);
}

async function* decompress(body: Buffer, stream: Transform, format: string): AsyncGenerator<Buffer> {
  pipeline(Readable.from(splitIntoSlices(body)), stream, () => undefined);
  try {
    for await (const slice of stream) yield slice as Buffer;
  } catch {
    throw appError('malformed_json', `The body is not valid ${format}.`);
  } finally {
    stream.destroy();
  }
}

function* splitIntoSlices(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += sliceBytes) yield body.subarray(at, at + sliceBytes);
}

/** Throws 415 for a Content-Encoding other than gzip and zstd. */
export function requireKnownEncoding(headers: Record<string, string | string[] | undefined>): void {
  const encoding = String(headers['content-encoding'] ?? 'identity')
    .trim()
    .toLowerCase();
  if (!['identity', 'gzip', 'x-gzip', 'zstd'].includes(encoding))
    throw appError('unsupported_media_type', 'The supported values of Content-Encoding are gzip and zstd.');
}

/** Returns the bytes of a body. Throws 400 if there are none. */
export function requireBytes(body: unknown): Buffer {
  if (Buffer.isBuffer(body) && body.length > 0) return body;
  throw appError('validation_failed', 'The request body is empty.', {
    errors: [{ pointer: '', code: 'required', detail: 'A body with events is required.' }],
  });
}
