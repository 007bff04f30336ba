import { gzipSync, zipSync } from 'fflate';
import { afterAll, expect, test } from 'vitest';
import { createParser, timeoutOf } from './parser.ts';
import { sourceFormats } from '../../formats/registry.ts';
import { nvdPage, nvdRow } from '../../../../test/support/feed/nvd-documents.ts';
import { osvRecord } from '../../../../test/support/feed/osv-documents.ts';
import { stixBundle } from '../../../../test/support/feed/stix-documents.ts';

const parser = createParser('.');
afterAll(() => parser.close());
const context = { reliability: 0.5 };
const part = (bytes: Uint8Array | string) => ({ name: 'x.json', bytes: Buffer.from(bytes as string) });

test('parses the same in a thread as in the main thread', async () => {
  const text = JSON.stringify(stixBundle(['a.example', 'b.example']));
  const [small] = (await parser.parse({ kind: 'stix', parts: [part(text)], context })).records;
  const [packed] = (await parser.parse({ kind: 'stix', parts: [part(gzipSync(Buffer.from(text)))], context })).records;
  const [large] = (await parser.parse({ kind: 'stix', parts: [part(text + ' '.repeat(200_000))], context })).records;
  expect(packed).toEqual(small);
  expect(large).toEqual(small);
  const zip = zipSync({ 'a.json': Buffer.from(JSON.stringify(osvRecord('PYSEC-2024-1'))) });
  expect((await parser.parse({ kind: 'osv', parts: [part(zip)], context })).records).toHaveLength(1);
});

test('reads records of a thread in chunks, while the thread is a few chunks ahead', async () => {
  const own = createParser('.');
  const parts = [
    part(JSON.stringify(nvdPage(Array.from({ length: 1_000 }, (_, n) => nvdRow(`CVE-2024-${1_000 + n}`))))),
  ];
  const { head, chunks } = await own.open({ kind: 'nvd', parts, context });
  expect(head).toMatchObject({ count: 1_000, skipped: [] });
  const read = await Array.fromAsync(chunks);
  expect(read.length).toBeGreaterThan(4);
  expect(read.flatMap(({ records }) => records)).toEqual(sourceFormats.nvd.parse(parts, context).records);
  // After a reader that stops early the thread serves the next task.
  const stopped = await own.open({ kind: 'nvd', parts, context });
  for await (const { records } of stopped.chunks) {
    expect(records.length).toBeGreaterThan(0);
    break;
  }
  const unread = await own.open({ kind: 'nvd', parts, context });
  await unread.close!();
  expect((await own.parse({ kind: 'nvd', parts, context })).records).toHaveLength(1_000);
  // A thread that ends meanwhile fails the reader instead of leaving it waiting.
  const failing = await own.open({ kind: 'nvd', parts, context });
  await own.close();
  await expect(Array.fromAsync(failing.chunks)).rejects.toMatchObject({ reason: 'stopped' });
  await failing.close!();
});

test('gives large documents more time', () => {
  expect(timeoutOf([part('{}')])).toBe(124_000);
  expect(timeoutOf([{ bytes: { length: 30 * 2 ** 20 } }, { bytes: { length: 20 * 2 ** 20 } }])).toBe(320_000);
});

test('keeps the error message of a format across threads', async () => {
  const refused = parser.parse({
    kind: 'stix',
    parts: [part(`{"type":"bundle","objects":[${' '.repeat(200_000)}`)],
    context,
  });
  await expect(refused).rejects.toThrow('not valid JSON');
});

test('digests a fetched page without blocking the main thread', async () => {
  const { objects } = stixBundle(Array.from({ length: 20_000 }, (_, n) => `host-${n}.example`)) as {
    objects: object[];
  };
  const page = { bytes: Buffer.from(JSON.stringify({ more: true, next: 'n', objects })), url: 'x', contentType: '' };
  expect(page.bytes.length).toBeGreaterThan(4_000_000);
  let ticks = 0;
  const timer = setInterval(() => void (ticks += 1), 10);
  const read = await parser.digest({ kind: 'taxii', documents: [page] });
  clearInterval(timer);
  expect(ticks).toBeGreaterThan(5);
  expect(read).toMatchObject({ next: 'n', count: 20_001 });
  const bytes = Buffer.from('["no envelope"]'.padEnd(100_000));
  const refused = parser.digest({ kind: 'taxii', documents: [{ ...page, bytes }] });
  await expect(refused).rejects.toThrow('not a TAXII response');
});

test.each(['nvd', 'csaf'] as const)('digests a list of %s the same in a thread as in the main thread', async (kind) => {
  const text =
    kind === 'nvd'
      ? JSON.stringify(nvdPage(Array.from({ length: 200 }, (_, n) => nvdRow(`CVE-2024-${1_000 + n}`))))
      : Array.from({ length: 5_000 }, (_, n) => `"2024/a-${n}.json","2024-01-01T00:00:00Z"`).join('\n');
  const document = { bytes: Buffer.from(text), url: 'https://a.example/changes.csv', contentType: undefined };
  expect(document.bytes.length).toBeGreaterThan(64 * 1024);
  expect(await parser.digest({ kind, documents: [document] })).toEqual(sourceFormats[kind].digest!([document]));
});
