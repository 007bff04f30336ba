import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { osvRecord } from '../../support/feed/osv-documents.ts';
import { startHostile } from './hostile.ts';

const { pullFrom } = await startHostile();
const mega = 1024 * 1024;
const blank = Buffer.alloc(129 * mega, 0x20);

const packings: Record<string, Buffer> = {
  gzip: gzipSync(blank, { level: 1 }),
  deflate: deflateSync(blank, { level: 1 }),
  br: brotliCompressSync(blank, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
};

// What unpacks a response is the same for every kind.
test.each(Object.entries(packings))('rejects a response of 129 MB compressed with %s', async (encoding, bytes) => {
  expect(bytes.length).toBeLessThan(mega);
  const { error, added } = await pullFrom('kev', (response) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(bytes),
  );
  expect([added, error]).toEqual([0, 'the response cannot be unpacked within its bounds']);
});

test('rejects a doubly compressed document while it unpacks', async () => {
  const twice = gzipSync(packings['gzip']!);
  // A kind that reads JSON, one that reads YAML as well, and one that reads lists.
  for (const kind of ['kev', 'osv', 'csv'] as const) {
    const { error, added } = await pullFrom(kind, (response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(twice),
    );
    expect([added, error], kind).toEqual([0, expect.stringMatching(/cannot be unpacked/)]);
  }
});

test.each([
  ['two encodings', 'gzip, gzip'],
  ['an unknown encoding', 'zstd-of-tomorrow'],
  ['a property name of Object', 'constructor'],
])('rejects %s as the content encoding', async (_name, encoding) => {
  const { error } = await pullFrom('kev', (response) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(gzipSync('{}')),
  );
  expect(error).toMatch(/unknown content encoding/);
});

const record = Buffer.from(JSON.stringify(osvRecord('PYSEC-2024-1')));
const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`${n}.json`, record]));
const archives: Record<string, [Buffer, RegExp]> = {
  'many files that are too large in total': [withSizes(Buffer.from(zipSync(many)), 7 * mega), /more than/],
  'a nested archive': [Buffer.from(zipSync({ 'a.json': zipSync({ 'a.json': record }) })), /not UTF-8|JSON|YAML/],
};

/** Returns an archive that declares another size of each of its files. */
function withSizes(archive: Buffer, size: number): Buffer {
  const entry = Buffer.from('504b0102', 'hex');
  for (let at = archive.indexOf(entry); at >= 0; at = archive.indexOf(entry, at + 1))
    archive.writeUInt32LE(size, at + 24);
  return archive;
}

test.each(Object.entries(archives))(
  'rejects a zip archive with %s and gives the reason',
  async (_name, [bytes, reason]) => {
    const { error, added, skipped } = await pullFrom('osv', bytes, 'application/zip');
    expect(added).toBe(0);
    expect(error ?? skipped[0]?.reason).toMatch(reason);
  },
);
