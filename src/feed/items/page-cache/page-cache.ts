import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { PageCursor } from '../../../platform/lib/page-request.ts';
import { toWeakEtag, type Encoding } from './http-caching.ts';

/** A complete response body with its ETag. Each encoding is compressed once, on first use. */
export type CachedPage = { etag: string; bytes: (encoding: Encoding) => Buffer | Promise<Buffer> };

const compressMinBytes = 1_024;
const brotliQuality = 4;

/** The memory of a cached page besides its bytes. */
const pageOverheadBytes = 1_000;

/**
 * Caches the most recently used pages within `bytesMax`. A page counts twice, which allows for its compressed forms. It is stored under its
 * ETag, because the key contains the filters of the request, which may be thousands of characters long.
 */
export function createPageCache(bytesMax = 64 * 1024 * 1024) {
  const pages = new LRUCache<string, CachedPage>({ maxSize: bytesMax, maxEntrySize: Math.floor(bytesMax / 4) });
  return {
    get: (key: string): CachedPage | undefined => pages.get(toWeakEtag(key)),
    put(key: string, body: Buffer): CachedPage {
      const etag = toWeakEtag(key);
      const page = createPage(etag, body);
      pages.set(etag, page, { size: body.length * 2 + pageOverheadBytes });
      return page;
    },
  };
}

function createPage(etag: string, shared: Buffer): CachedPage {
  const body = toOwnMemory(shared);
  const encoded = new Map<Encoding, Buffer | Promise<Buffer>>([['identity', body]]);
  return {
    etag,
    bytes(accepted) {
      const encoding = body.length < compressMinBytes ? 'identity' : accepted;
      const known = encoded.get(encoding);
      if (known) return known;
      const compressing = compress(body, encoding).then((bytes) => {
        const own = toOwnMemory(bytes);
        encoded.set(encoding, own);
        return own;
      });
      encoded.set(encoding, compressing);
      return compressing;
    },
  };
}

/** A short buffer is part of a larger one, which would be kept with it: 64 KiB for an empty page. */
function toOwnMemory(bytes: Buffer): Buffer {
  if (bytes.length === bytes.buffer.byteLength) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

const gzipAsync = promisify(gzip);
const brotliAsync = promisify(brotliCompress);

const compress = (body: Buffer, encoding: Encoding): Promise<Buffer> =>
  encoding === 'br'
    ? brotliAsync(body, {
        params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
      })
    : gzipAsync(body);

/**
 * The row before each page, keyed by snapshot, filters and offset. A client that reads page after page then never makes the database scan
 * the earlier pages again.
 */
export type PageCursors = LRUCache<string, PageCursor>;

/** Bounded by memory, because the filters of a request may be thousands of characters long. */
export const createPageCursors = (bytesMax = 8 * 1024 * 1024): PageCursors =>
  new LRUCache({ maxSize: bytesMax, sizeCalculation: (_cursor, key) => 2 * key.length + 200 });
