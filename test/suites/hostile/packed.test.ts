import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { zipSync } from 'fflate';
import { expect, test } from 'vitest';
import { osvRecord } from '../../support/feed/osv-documents.ts';
import { sourceKinds as kinds, startHostile } from './hostile.ts';

const { pullFrom } = await startHostile();
const mega = 1024 * 1024;
const blank = Buffer.alloc(140 * mega, 0x20);

const packings: Record<string, { encoding: string; bytes: Buffer }> = {
  gzip: { encoding: 'gzip', bytes: gzipSync(blank) },
  deflate: { encoding: 'deflate', bytes: deflateSync(blank) },
  br: { encoding: 'br', bytes: brotliCompressSync(blank, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }) },
};

test.each(Object.entries(packings))('rejects a response of 140 MB compressed with %s', async (_name, packing) => {
  expect(packing.bytes.length).toBeLessThan(mega);
  // What unpacks a response is the same for every kind, and knows nothing of the encoding once it has chosen a decoder.
  for (const kind of kinds.slice(0, 2)) {
    const { error, added } = await pullFrom(kind, (response) =>
      response.writeHead(200, { 'content-encoding': packing.encoding }).end(packing.bytes),
    );
    expect([added, error], kind).toEqual([0, 'the response cannot be unpacked within its bounds']);
  }
});

test('rejects a doubly compressed document while it unpacks', async () => {
  const twice = gzipSync(gzipSync(blank));
  for (const kind of kinds.filter((one) => !['rss', 'taxii'].includes(one))) {
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
const archives: Record<string, [Buffer, RegExp]> = {
  'a file of 100 MB': [Buffer.from(zipSync({ 'a.json': blank.subarray(0, 100 * mega) }, { level: 1 })), /larger than/],
  'many files that are too large in total': [
    Buffer.from(
      zipSync(Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`${n}.json`, blank.subarray(0, 7 * mega)])), {
        level: 1,
      }),
    ),
    /more than/,
  ],
  'a nested archive': [Buffer.from(zipSync({ 'a.json': zipSync({ 'a.json': record }) })), /not UTF-8|JSON|YAML/],
  'a truncated archive': [Buffer.from(zipSync({ 'a.json': record })).subarray(0, 60), /unpacked/],
};

test.each(Object.entries(archives))(
  'rejects a zip archive with %s and gives the reason',
  async (_name, [bytes, reason]) => {
    const { error, added, skipped } = await pullFrom('osv', bytes, 'application/zip');
    expect(added).toBe(0);
    expect(error ?? skipped[0]?.reason).toMatch(reason);
  },
);
