import { expect, test } from 'vitest';
import type { SourceKind } from '../../../src/feed/formats/registry.ts';
import { csafAdvisory } from '../../support/feed/csaf-documents.ts';
import { kevCatalogue, kevRow } from '../../support/feed/kev-source.ts';
import { mispEvent } from '../../support/feed/misp-documents.ts';
import { nvdPage, nvdRow } from '../../support/feed/nvd-documents.ts';
import { osvRecord } from '../../support/feed/osv-documents.ts';
import { stixBundle } from '../../support/feed/stix-documents.ts';
import { sourceKinds as kinds, startHostile } from './hostile.ts';

const { org, app, pullFrom } = await startHostile();

const lists = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const objects = (depth: number): string => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth);
const whole: Record<string, string> = {
  'lists nested 200,000 deep': lists(200_000),
  'objects, 100,000 deep': objects(100_000),
  'unclosed lists': '['.repeat(200_000),
};

test.each(Object.entries(whole))('a document of %s fails the pull of every source kind', async (_name, text) => {
  for (const kind of kinds) {
    const { added, error, skipped } = await pullFrom(kind, text);
    const reason = error ?? skipped[0]?.reason;
    expect(added, kind).toBe(0);
    expect(reason, kind).toMatch(/\w/);
    expect(reason, kind).not.toMatch(/inside the service|call stack/);
  }
});

// A valid record of each kind with an additional deep field.
const marked = '"deep"';
const records: Partial<Record<SourceKind, object>> = {
  kev: kevCatalogue(1, [kevRow(1, { more: 'deep' })]),
  stix: stixBundle(['a.example'], { x_more: 'deep' }),
  misp: mispEvent('a', { more: 'deep' }),
  csaf: csafAdvisory('ACME-1', { more: 'deep' }),
  osv: { ...osvRecord('PYSEC-2024-1'), more: 'deep' },
  nvd: nvdPage([{ ...nvdRow('CVE-2024-1234'), more: 'deep' }]),
};

test.each(Object.entries(records) as [SourceKind, object][])(
  '%s drops at most the deep field of a record',
  async (kind, record) => {
    for (const deep of [lists(5_000), objects(5_000), lists(100_000)]) {
      const text = JSON.stringify(record).replace(marked, deep);
      expect(text).toContain(deep);
      const { added, error, skipped } = await pullFrom(kind, text);
      expect(error ?? '', kind).not.toMatch(/inside the service|call stack/);
      if (!error) expect(added + skipped.length, kind).toBeGreaterThan(0);
    }
  },
);

test('rejects YAML that would crash the process', async () => {
  for (const piece of ['- ', '? ', '[', '{', 'a: {', '- - ? ', '- [']) {
    const { error } = await pullFrom('osv', `id: a\nx:\n ${piece.repeat(Math.floor(60_000 / piece.length))}`);
    expect(error, piece).toMatch(/nested deeper than 64/);
  }
  const { error } = await pullFrom('osv', `a: ${'x'.repeat(1_100_000)}`);
  expect(error).toMatch(/longer than/);
});

test('returns 400 for deeply nested bodies', async () => {
  for (const path of ['/api/feed/items', '/api/feed/sources', '/api/indicators/lookup'])
    for (const deep of [lists(100_000), objects(50_000), `{"text":${lists(100_000)},"value":1,"values":${lists(9)}}`])
      expect((await org.call('POST', path, deep)).status, path).toBe(400);
  expect((await app.app.inject('/readyz')).statusCode).toBe(200);
});
