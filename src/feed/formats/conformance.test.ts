import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCron } from '../../platform/lib/time/cron.ts';
import { tlps } from '../model/vocabulary.ts';
import { readEntryText } from './rss/read-entry-text.ts';
import type { ParseResult, SourceFormat } from './source-format.ts';
import { kevCatalogue, kevRows } from '../../../test/support/feed/kev-source.ts';
import { csafAdvisory } from '../../../test/support/feed/csaf-documents.ts';
import { epssScores } from '../../../test/support/feed/epss-documents.ts';
import { mispEvent } from '../../../test/support/feed/misp-documents.ts';
import { nvdPage, nvdRow } from '../../../test/support/feed/nvd-documents.ts';
import { osvRecord } from '../../../test/support/feed/osv-documents.ts';
import { checkParsed } from '../../../test/support/feed/check-parsed.ts';
import { stixBundle } from '../../../test/support/feed/stix-documents.ts';
import { sourceFormats, sourceKinds, type SourceKind } from './registry.ts';

/** A valid document of each kind. A new kind needs one. */
const samples: Record<SourceKind, unknown> = {
  kev: kevCatalogue(1, kevRows(5)),
  epss: Buffer.from(epssScores('2026-03-02', ['CVE-2024-0001', 0.9, 0.99])),
  csv: Buffer.from(
    '# A list\nfirst_seen,dst_ip,url\n2026-03-01,198.51.101.23,http://evil-host.top/a\n2026-03-02,203.0.113.9,\n',
  ),
  rss: {
    version: 'https://jsonfeed.org/version/1.1',
    items: ['a', 'b'].map((id) => ({
      id,
      url: `https://blog.example/${id}`,
      title: `Report ${id}`,
      content_html: `<p>Emotet contacted evil-${id}[.]top by spearphishing attachments.</p>`,
      date_published: '2026-03-01T00:00:00Z',
    })),
  },
  stix: stixBundle(['a.example', 'b.example']),
  taxii: stixBundle(['a.example', 'b.example']),
  misp: mispEvent('a'),
  nvd: nvdPage([nvdRow('CVE-2024-1234')]),
  csaf: csafAdvisory('ACME-1'),
  osv: osvRecord('PYSEC-2024-1'),
};

describe.each(sourceKinds)('%s', (kind) => {
  const format: SourceFormat = sourceFormats[kind];
  const parse = (...documents: unknown[]): ParseResult =>
    withTexts(
      format.parse(
        documents.map((document, index) => ({
          name: `part-${index}`,
          bytes: Buffer.isBuffer(document)
            ? document
            : Buffer.from(typeof document === 'string' ? document : JSON.stringify(document)),
        })),
        { reliability: 0.7 },
      ),
    );

  test('has valid defaults', () => {
    expect(format.label).not.toBe('');
    expect(format.defaults.reliability).toBeGreaterThan(0);
    expect(format.defaults.reliability).toBeLessThanOrEqual(1);
    expect(parseCron(format.defaults.schedule).minute).toBeTypeOf('number');
    if (format.defaults.tlp) expect(tlps).toContain(format.defaults.tlp);
  });

  test('parses its sample deterministically into valid records', () => {
    const parsed = parse(samples[kind]);
    expect(parsed.records.length + (parsed.predictions?.batches.length ?? 0)).toBeGreaterThan(0);
    expect(parse(samples[kind])).toEqual(parsed);
    checkParsed(parsed);
  });

  test('rejects invalid documents with a reason', () => {
    for (const bytes of ['', '{', 'null', '1', '"x"', '{"a":1}', '<xml/>'].map((text) => Buffer.from(text)))
      expect(() => parse(bytes)).toThrow(/\w/);
    for (const bytes of [Buffer.from([0xff, 0xfe, 0x00]), Buffer.from([0x1f, 0x8b, 0x08, 0x00])])
      expect(() => parse(bytes)).toThrow(/\w/);
  });

  test('returns valid records, skipped entries or an error for a sample with arbitrary values and field names', () => {
    const hostile = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(
        '\u0000',
        '\ud800',
        'A'.repeat(5_000),
        '__proto__',
        'constructor',
        { toString: 1, valueOf: null },
        'toString',
        '9999-99-99',
        '+275760-09-13T00:00:00Z',
        '[',
        "[a:b='\u0000']",
        -1,
        1e308,
        null,
        [],
        {},
      ),
    );
    fc.assert(
      fc.property(fc.infiniteStream(fc.tuple(fc.nat(), hostile, fc.nat(4))), fc.nat(4), (stream, changes) => {
        const document = structuredClone(samples[kind]);
        for (let count = 0; count <= changes; count += 1) {
          const [where, value, way] = stream.next().value;
          if (way === 0) renameAt(document, where, typeof value === 'string' ? value : JSON.stringify(value));
          else replaceAt(document, where, value);
        }
        let parsed: ParseResult | undefined;
        try {
          parsed = parse(document);
        } catch (error) {
          expect((error as Error).message).toMatch(/\w/);
          expect(error).not.toBeInstanceOf(TypeError);
          expect(error).not.toBeInstanceOf(RangeError);
        }
        if (parsed) checkParsed(parsed);
      }),
      { numRuns: 100 },
    );
  });
});

/** Extracts the texts as the threads of a pull do. */
function withTexts({ texts = [], ...parsed }: ParseResult): ParseResult {
  return { ...parsed, records: [...parsed.records, ...texts.map((text) => readEntryText(text))] };
}

/** Replaces a value of the document, chosen by number. */
function replaceAt(document: unknown, where: number, value: unknown): void {
  const [parent, key] = findField(document, where);
  if (!parent || key === undefined) return;
  parent[key] = ArrayBuffer.isView(parent) && typeof value === 'object' ? 0 : structuredClone(value);
}

/** Renames a field of the document, chosen by number. */
function renameAt(document: unknown, where: number, name: string): void {
  const [parent, key] = findField(document, where);
  if (!parent || key === undefined || Array.isArray(parent) || ArrayBuffer.isView(parent)) return;
  Object.defineProperty(parent, name, { value: parent[key], enumerable: true, configurable: true, writable: true });
  if (name !== key) delete parent[key];
}

function findField(document: unknown, where: number): [Record<string, unknown>, string] | [] {
  const places: [Record<string, unknown>, string][] = [];
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const key of Object.keys(node)) {
      places.push([node as Record<string, unknown>, key]);
      walk((node as Record<string, unknown>)[key]);
    }
  };
  walk(document);
  return places[where % Math.max(1, places.length)] ?? [];
}
