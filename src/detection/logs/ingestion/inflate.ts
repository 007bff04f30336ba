import { createHash } from 'node:crypto';
import { createGunzip } from 'node:zlib';
import { pipeline } from 'node:stream';
import { Readable } from 'node:stream';
import { appError } from '../../../platform/lib/errors.ts';

export const receivedBytesMax = 32 * 1024 * 1024;
const inflatedBytesMax = 256 * 1024 * 1024;
const sliceBytes = 64 * 1024;

/** What a body is made of, in slices; gzip is told by its first bytes, whatever the headers say. `hash` is of the plain bytes, at the end. */
export type InflatedBody = { slices: AsyncIterable<Buffer>; hash: () => Buffer };

/** Throws malformed_json for broken gzip and payload_too_large beyond the bound of plain bytes. */
export function inflateBody(body: Buffer, bytesMax = inflatedBytesMax): InflatedBody {
  const sha = createHash('sha256');
  async function* slices(): AsyncGenerator<Buffer> {
    let bytes = 0;
    const source = body[0] === 0x1f && body[1] === 0x8b ? gunzipped(body) : sliced(body);
    for await (const slice of source) {
      bytes += slice.length;
      if (bytes > bytesMax)
        throw appError('payload_too_large', `A body holds at most ${bytesMax} bytes when it is unpacked.`);
      sha.update(slice);
      yield slice;
    }
  }
  return { slices: slices(), hash: () => sha.digest() };
}

async function* sliced(body: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += sliceBytes) {
    yield body.subarray(at, at + sliceBytes);
    // Other requests get their turn between slices.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function* gunzipped(body: Buffer): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: sliceBytes });
  pipeline(Readable.from(slicesOf(body)), gunzip, () => undefined);
  try {
    for await (const slice of gunzip) yield slice as Buffer;
  } catch {
    throw appError('malformed_json', 'The body is not valid gzip.');
  } finally {
    gunzip.destroy();
  }
}

function* slicesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += sliceBytes) yield body.subarray(at, at + sliceBytes);
}
