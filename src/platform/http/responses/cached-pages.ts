import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';

/** A complete response body with its ETag. Each encoding is compressed once, on first use. */
export type CachedPage = { etag: string; bytes: (encoding: Encoding) => Buffer | Promise<Buffer> };

const compressMinBytes = 1_024;
const brotliQuality = 4;

/** The memory of a cached page besides its bytes. */
const pageOverheadBytes = 1_000;

/** Caches pages. */
export type PageCache = {
  get: (key: string) => CachedPage | undefined;
  put: (key: string, body: Buffer) => CachedPage;
};

/**
 * Caches the most recently used pages within `bytesMax`, each of at most `pageBytesMax`. A page counts twice, which allows for its compressed forms. It is stored under its
 * ETag, because the key contains the filters of the request, which may be thousands of characters long.
 */
export function createPageCache(bytesMax = 64 * 1024 * 1024, pageBytesMax = Math.floor(bytesMax / 4)): PageCache {
  const pages = new LRUCache<string, CachedPage>({ maxSize: bytesMax, maxEntrySize: pageBytesMax });
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

type Encoding = 'identity' | 'gzip' | 'br';

/** Returns the preferred encoding that an Accept-Encoding header allows (RFC 9110, 12.5.3): Brotli, then gzip, then none. */
function chooseEncoding(header: string | undefined): Encoding {
  if (!header) return 'identity';
  const weights = new Map<string, number>();
  for (const part of header.slice(0, 1_000).split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    weights.set(name, q === undefined ? 1 : Number(q.slice(2)) || 0);
  }
  const weigh = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0;
  const [br, gzip] = [weigh('br'), weigh('gzip')];
  if (br > 0 && br >= gzip) return 'br';
  return gzip > 0 ? 'gzip' : 'identity';
}

/** A weak ETag derived from a cache key, because the plain and the compressed bytes share it. */
export const toWeakEtag = (key: string): string =>
  `W/"${createHash('sha256').update(key).digest('base64url').slice(0, 27)}"`;

/** Returns whether an If-None-Match header contains the tag, by weak comparison (RFC 9110, 13.1.2). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (!header) return false;
  const opaqueTag = etag.replace(/^W\//, '');
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === opaqueTag);
}

/** Sends the bytes of a page in the encoding that the client prefers, or 304. */
export async function sendPage(request: FastifyRequest, reply: FastifyReply, page: CachedPage): Promise<never> {
  reply.headers({ etag: page.etag, vary: 'Accept-Encoding', 'cache-control': 'private, no-cache' });
  if (matchesEtag(request.headers['if-none-match'], page.etag)) return reply.code(304).send() as never;
  const encoding = chooseEncoding(request.headers['accept-encoding']);
  const [bytes, plainBytes] = [await page.bytes(encoding), page.bytes('identity')];
  if (bytes !== plainBytes) reply.header('content-encoding', encoding);
  return reply.header('content-type', 'application/json; charset=utf-8').send(bytes) as never;
}
