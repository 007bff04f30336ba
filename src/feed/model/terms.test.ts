import { expect, test } from 'vitest';
import { emptyIocs } from './source-record.ts';
import type { FeedItem } from './item.schema.ts';
import { extractTerms, toTermValue } from './terms.ts';

const indicator = (normalizedValue: string) => ({
  type: 'domain',
  value: normalizedValue,
  normalizedValue,
  status: 'active' as const,
  confidence: 1,
  ttlDays: 1,
});

const item: FeedItem = {
  id: '01934c3b-4f7e-7aaa-8bbb-0123456789ab',
  source: { publisher: 'Northmere', name: 'Blog', tlp: 'CLEAR', publishTime: '2024-01-01T00:00:00.000Z' },
  event: { title: 'A title', severity: 'high', confidence: 0.8, status: 'active' },
  attackPath: [],
  classification: { attack: [], killChain: [], malware: [], actor: [], platforms: [], mappings: [] },
  affectedProducts: [],
  iocs: emptyIocs(),
  provenance: { supportingPassages: [] },
  version: 1,
  lastUpdated: '2024-01-05T00:00:00.000Z',
  createdAt: '2024-01-05T00:00:00.000Z',
  addedToFeedAt: '2024-01-05T00:00:00.000Z',
  canonicalKey: 'url:northmere.example/1',
  tenantOverrides: null,
};

test('extracts each value of an item once, in canonical form', () => {
  const terms = extractTerms({
    ...item,
    iocs: { ...emptyIocs(), domains: [indicator('a.example')], urls: [indicator('a.example')] },
    classification: {
      attack: [
        {
          technique: 'T1059',
          subTechnique: 'T1059.001',
          techniqueName: 'PowerShell',
          confidence: 1,
          evidenceRef: 'provenance.supportingPassages[0]',
        },
      ],
      killChain: [],
      malware: [{ name: 'Emotet', confidence: 1, aliases: ['Geodo'] }],
      actor: [{ name: 'Fancy  Bear', confidence: 1, aliases: [' '] }],
      platforms: [],
      mappings: [
        { framework: 'cve', id: 'cve-2024-0001', confidence: 1 },
        { framework: 'cwe', id: 'CWE-79', confidence: 1 },
      ],
    },
    affectedProducts: [{ vendor: 'Microsoft', product: 'Windows_10', versions: [], confidence: 1 }],
  });
  expect(terms.map(({ kind, value }) => `${kind} ${value}`).toSorted()).toEqual([
    'actor fancybear',
    'cve CVE-2024-0001',
    'indicator a.example',
    'malware emotet',
    'malware geodo',
    'product microsoft windows 10',
    'technique T1059',
    'technique T1059.001',
  ]);
});

const until = (day: string) => ({ endsAt: new Date(`2024-01-${day}T00:00:00.000Z`) });
test.each([
  [['active'], until('02')],
  [['expired', 'revoked'], until('02')],
  [['revoked', 'revoked'], 'revoked'],
  [['active', 'false_positive', 'revoked'], 'false_positive'],
  [['active', { status: 'false_positive', role: 'victim' }], 'harmless_here'],
  [['false_positive', { status: 'false_positive', role: 'victim' }], 'false_positive'],
  [['active', { lastSeen: '2024-01-08T00:00:00.000Z' }], until('09')],
  [[{ ttlDays: 1e9 }, 'active'], { endsAt: null }],
] as const)('keeps the strongest standing of a value that an item lists as %j', (indicators, expected) => {
  const domains = indicators.map((one) => ({
    ...indicator('a.example'),
    ...(typeof one === 'string' ? { status: one } : one),
  }));
  expect(extractTerms({ ...item, iocs: { ...emptyIocs(), domains } })).toMatchObject([{ standing: expected }]);
});

test('stores a long value as its SHA-256', () => {
  const [one, two] = [
    toTermValue('indicator', `http://a.example/${'x'.repeat(5_000)}1`),
    toTermValue('indicator', `http://a.example/${'x'.repeat(5_000)}2`),
  ];
  expect(one).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(one).not.toBe(two);
});
