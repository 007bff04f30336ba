import { createServer, type RequestListener } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { closeServer, listen } from '../../../../test/support/listen.ts';
import { fetchBytes, type FetchRequest } from './fetch.ts';
import { createAllowList, isPublicAddress } from './addresses.ts';

const seen: { url: string; headers: Record<string, unknown> }[] = [];

const routes: Record<string, RequestListener> = {
  '/plain': (_, response) =>
    response
      .setHeader('content-type', 'text/plain')
      .setHeader('etag', '"one"')
      .setHeader('last-modified', 'Mon, 01 Jan 2024 00:00:00 GMT')
      .end('hello'),
  '/gzip': (_, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('packed')),
  '/br': (_, response) => response.setHeader('content-encoding', 'br').end(brotliCompressSync('packed')),
  '/bomb': (_, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(1_000_000))),
  '/odd': (_, response) => response.setHeader('content-encoding', 'rot13').end('x'),
  '/large': (_, response) => response.end(Buffer.alloc(200_000)),
  '/endless': (_, response) => {
    const timer = setInterval(() => response.write(Buffer.alloc(10_000)), 1);
    response.on('close', () => clearInterval(timer));
  },
  '/cut': (_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half');
    setTimeout(() => response.destroy(), 20);
  },
  '/slow': () => undefined,
  '/304': (_, response) => response.writeHead(304).end(),
  '/429': (_, response) => response.writeHead(429, { 'retry-after': '7' }).end(),
  '/500': (_, response) => response.writeHead(500).end('no'),
  '/hop': (_, response) => response.writeHead(302, { location: '/plain' }).end(),
  '/away': (_, response) =>
    response.writeHead(302, { location: `${base.replace('127.0.0.1', 'localhost')}/plain` }).end(),
  '/circle': (_, response) => response.writeHead(302, { location: '/circle' }).end(),
  '/inside': (_, response) => response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
  '/file': (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
};

const server = createServer((request, response) => {
  seen.push({ url: request.url ?? '', headers: request.headers });
  (routes[request.url ?? ''] ?? ((_, answer) => answer.writeHead(404).end()))(request, response);
});
const base = await listen(server);
afterAll(() => closeServer(server));

const get = (path: string, more: Partial<FetchRequest> = {}) =>
  fetchBytes({ url: `${base}${path}`, allow: ['127.0.0.1', 'localhost'], bytesMax: 100_000, ...more });
const text = async (path: string, more?: Partial<FetchRequest>): Promise<string> => {
  const fetched = await get(path, more);
  return fetched.kind === 'fetched' ? fetched.bytes.toString() : fetched.kind;
};

describe('fetchBytes', () => {
  test('returns bytes and validators, unpacks and follows redirects', async () => {
    expect(await get('/plain')).toMatchObject({
      kind: 'fetched',
      bytes: Buffer.from('hello'),
      url: `${base}/plain`,
      contentType: 'text/plain',
      etag: '"one"',
      lastModified: 'Mon, 01 Jan 2024 00:00:00 GMT',
    });
    expect([await text('/gzip'), await text('/br'), await text('/hop')]).toEqual(['packed', 'packed', 'hello']);
  });

  test('streams chunks until onChunk returns false and rejects a truncated response', async () => {
    const countBytes = async (path: string, enough: number): Promise<number> => {
      let size = 0;
      await get(path, { onChunk: (chunk) => (size += chunk.length) < enough });
      return size;
    };
    expect([await countBytes('/large', 1e9), await countBytes('/gzip', 1e9)]).toEqual([200_000, 6]);
    expect(await countBytes('/endless', 50_000)).toBeLessThan(200_000);
    await expect(countBytes('/cut', 1e9)).rejects.toThrow();
    expect(seen.at(-1)!.headers['accept-encoding']).toBe('identity');
  });

  test('sends validators and returns not-modified for 304', async () => {
    expect(await get('/304', { etag: '"one"', lastModified: 'Mon' })).toEqual({ kind: 'not-modified' });
    expect(seen.at(-1)!.headers).toMatchObject({ 'if-none-match': '"one"', 'if-modified-since': 'Mon' });
    await expect(get('/304')).rejects.toThrow('status 304');
  });

  test('reports an error status with its Retry-After', async () => {
    await expect(get('/429')).rejects.toMatchObject({ status: 429, retryAfterMs: 7_000 });
    await expect(get('/500')).rejects.toMatchObject({ status: 500, retryAfterMs: undefined });
  });

  test('sends additional headers to the origin only', async () => {
    const headers = { authorization: 'Bearer x' };
    await get('/hop', { headers, accept: 'text/csv' });
    expect(seen.at(-1)).toMatchObject({ url: '/plain', headers: { ...headers, accept: 'text/csv' } });
    await get('/away', { headers });
    expect(seen.at(-1)!.url).toBe('/plain');
    expect(seen.at(-1)!.headers).not.toHaveProperty('authorization');
  });

  test.each([
    ['/500', /status 500/],
    ['/nowhere', /status 404/],
    ['/large', /larger than/],
    ['/endless', /larger than/],
    ['/bomb', /cannot be unpacked/],
    ['/odd', /unknown content encoding/],
    ['/cut', /^the connection was cut off/],
    ['/circle', /redirects/],
    ['/inside', /not a public address/],
    ['/file', /file: addresses/],
  ])('rejects %s', async (path, reason) => {
    await expect(get(path)).rejects.toThrow(reason);
  });

  test('rejects on timeout and on abort', async () => {
    await expect(get('/slow', { timeoutMs: 100 })).rejects.toThrow('too long');
    await expect(get('/slow', { signal: AbortSignal.timeout(50) })).rejects.toThrow();
  });

  test.each([
    'http://127.0.0.1',
    'http://localhost',
    'http://2130706433',
    'http://0x7f.1',
    'http://[::1]',
    'http://[::ffff:127.0.0.1]',
    'http://10.1.2.3',
    'http://0.0.0.0',
    'http://user:pw@example.com',
    'ftp://example.com',
  ])('does not send a request to %s', async (address) => {
    const before = seen.length;
    const url = address.startsWith('http://') ? `${address}:${new URL(base).port}/plain` : address;
    await expect(fetchBytes({ url, allow: [], timeoutMs: 2_000 })).rejects.toThrow();
    expect(seen.length).toBe(before);
  });
});

test.each([
  ['8.8.8.8', true],
  ['172.15.0.1', true],
  ['172.16.0.1', false],
  ['100.64.0.1', false],
  ['169.254.169.254', false],
  ['192.168.1.1', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['2606:4700:4700::1111', true],
  ['::1', false],
  ['::', false],
  ['fc00::1', false],
  ['fe80::1', false],
  ['ff02::1', false],
  ['2001:db8::1', false],
  ['::ffff:10.0.0.1', false],
  ['::ffff:8.8.8.8', true],
  ['64:ff9b::7f00:1', false],
  ['2002:7f00:1::', false],
  ['2001:0:7f00:1::', false],
  ['64:ff9b:1::a9fe:a9fe', false],
  ['::169.254.169.254', false],
  ['::ffff:0:a9fe:a9fe', false],
  ['fe80::a9fe:a9fe', false],
  ['168.63.129.15', true],
  ['168.63.129.16', false],
  ['::ffff:168.63.129.16', false],
  ['64:ff9b::168.63.129.16', false],
  ['161.26.0.10', false],
  ['166.9.0.1', false],
  ['192.80.8.124', false],
  ['100.100.100.200', false],
  ['192.0.0.192', false],
  ['fd00:ec2::254', false],
  ['fd20:ce::254', false],
  ['nonsense', false],
])('isPublicAddress(%s) is %s', (address, expected) => {
  expect(isPublicAddress(address)).toBe(expected);
});

test('an allow-list contains hosts, addresses and networks', () => {
  const allows = createAllowList(['Intra.Example', '10.0.0.0/8', '192.168.1.5', 'fd00::/8']);
  expect(allows('intra.example', '172.16.0.1')).toBe(true);
  for (const address of ['10.9.9.9', '192.168.1.5', 'fd12::1']) expect(allows('x', address)).toBe(true);
  for (const address of ['172.16.0.1', '192.168.1.6', 'fe80::1']) expect(allows('other', address)).toBe(false);
});
