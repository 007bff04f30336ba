import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { createHash } from 'node:crypto';

export type Encoding = 'identity' | 'gzip' | 'br';

/** A whole answer: its bytes, packed once when first asked for, and its ETag. */
export type Page = { etag: string; bytes: (encoding: Encoding) => Buffer | Promise<Buffer> };

export type PageCache = { get: (key: string) => Page | undefined; put: (key: string, body: Buffer) => Page };

const packedMinBytes = 1_024;
const brotliQuality = 4;

/** Keeps the pages used last, within `bytesMax` (packed forms counted as if they were as large as the plain one). */
export function createPageCache(bytesMax = 96 * 1024 * 1024): PageCache {
  const pages = new Map<string, { page: Page; size: number }>();
  let total = 0;
  return {
    get(key) {
      const known = pages.get(key);
      if (!known) return undefined;
      pages.delete(key);
      pages.set(key, known);
      return known.page;
    },
    put(key, body) {
      const page = createPage(key, body);
      const size = body.length * 2 + key.length + 500;
      if (size > bytesMax / 4 || pages.has(key)) return page;
      pages.set(key, { page, size });
      total += size;
      for (const [oldest, { size: freed }] of pages) {
        if (total <= bytesMax) break;
        pages.delete(oldest);
        total -= freed;
      }
      return page;
    },
  };
}

function createPage(key: string, body: Buffer): Page {
  const packed = new Map<Encoding, Buffer | Promise<Buffer>>([['identity', body]]);
  return {
    etag: etagOf(key),
    bytes(encoding) {
      const wanted = body.length < packedMinBytes ? 'identity' : encoding;
      const known = packed.get(wanted);
      if (known) return known;
      const made = pack(body, wanted).then((bytes) => {
        packed.set(wanted, bytes);
        return bytes;
      });
      packed.set(wanted, made);
      return made;
    },
  };
}

/** Weak, since one tag stands for the plain and the packed bytes. */
export const etagOf = (key: string): string =>
  `W/"${createHash('sha256').update(key).digest('base64url').slice(0, 27)}"`;

const gzipAsync = promisify(gzip);
const brotliAsync = promisify(brotliCompress);

const pack = (body: Buffer, encoding: Encoding): Promise<Buffer> =>
  encoding === 'br'
    ? brotliAsync(body, {
        params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
      })
    : gzipAsync(body);
