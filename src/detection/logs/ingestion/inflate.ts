import { createHash } from 'node:crypto';
import { createGunzip } from 'node:zlib';
import { pipeline, Readable } from 'node:stream';
import { appError } from '../../../platform/lib/errors.ts';

export const receivedBytesMax = 32 * 1024 * 1024;
const inflatedBytesMax = 256 * 1024 * 1024;
const sliceBytes = 64 * 1024;

/** A decompressed body in slices. `hash` returns the SHA-256 of the plain bytes once all slices were read. */
export type InflatedBody = { slices: AsyncIterable<Buffer>; hash: () => Buffer };

/**
 * Decompresses a body. Gzip is recognized by its first bytes, whatever the headers say. The slices throw malformed_json for broken gzip and
 * payload_too_large for more than `bytesMax` plain bytes.
 */
export function inflateBody(body: Buffer, bytesMax = inflatedBytesMax): InflatedBody {
  const sha = createHash('sha256');
  async function* slices(): AsyncGenerator<Buffer> {
    let bytes = 0;
    const source = body[0] === 0x1f && body[1] === 0x8b ? gunzipSlices(body) : splitIntoSlices(body);
    for await (const slice of source) {
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

async function* gunzipSlices(body: Buffer): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: sliceBytes });
  pipeline(Readable.from(splitIntoSlices(body)), gunzip, () => undefined);
  try {
    for await (const slice of gunzip) yield slice as Buffer;
  } catch {
    throw appError('malformed_json', 'The body is not valid gzip.');
  } finally {
    gunzip.destroy();
  }
}

function* splitIntoSlices(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += sliceBytes) yield body.subarray(at, at + sliceBytes);
}
