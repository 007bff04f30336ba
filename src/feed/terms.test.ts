import { expect, test } from 'vitest';
import { noIocs } from '../ingest/record.ts';
import { termsOf, termValue } from './terms.ts';

const indicator = (normalizedValue: string) => ({
  type: 'domain',
  value: normalizedValue,
  normalizedValue,
  status: 'active' as const,
  confidence: 1,
  ttlDays: 1,
});

test('an item is found by its values, each once, in their normal form', () => {
  const terms = termsOf({
    iocs: { ...noIocs(), domains: [indicator('a.example')], urls: [indicator('a.example')] },
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
    'actor fancy bear',
    'cve CVE-2024-0001',
    'indicator a.example',
    'malware emotet',
    'malware geodo',
    'product microsoft windows 10',
    'technique T1059',
    'technique T1059.001',
  ]);
});

test('a long value has a short name of its own', () => {
  const [one, two] = [
    termValue('indicator', `http://a.example/${'x'.repeat(5_000)}1`),
    termValue('indicator', `http://a.example/${'x'.repeat(5_000)}2`),
  ];
  expect(one).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(one).not.toBe(two);
});
