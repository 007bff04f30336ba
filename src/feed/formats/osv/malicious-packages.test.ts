import { expect, test } from 'vitest';
import { osvRecord } from '../../../../test/support/feed/osv-documents.ts';
import type { ParseResult } from '../source-format.ts';
import { osv } from './osv.ts';

const parse = (record: object): ParseResult =>
  osv.parse([{ name: 'part-0', bytes: Buffer.from(JSON.stringify(record)) }], { reliability: 0.8 });

test('reads the weaknesses of packages', () => {
  const affected = [
    { package: { ecosystem: 'npm', name: 'thing' }, database_specific: { cwes: [{ cweId: 'CWE-506', name: 'x' }] } },
  ];
  const [record] = parse(osvRecord('MAL-2024-1', { affected, database_specific: {} })).records;
  expect(record!.classification.mappings).toContainEqual({ framework: 'cwe', id: 'CWE-506', confidence: 0.8 });
});

test('a malicious package is high, with its package URLs and addresses', () => {
  const record = parse({
    ...osvRecord('MAL-2024-1'),
    severity: [],
    affected: [{ package: { ecosystem: 'npm', name: '@zq7/drop' }, versions: ['1.0.0', '1.0.1'] }],
    database_specific: { iocs: { domains: ['zq7-drop.top'], ips: ['203.0.113.7'], urls: ['https://zq7-drop.top/a'] } },
  }).records[0]!;
  expect(record).toMatchObject({ severity: 'high', severityRule: 'osv:malicious-package' });
  expect(
    Object.values(record.iocs)
      .flat()
      .map(({ normalizedValue }) => normalizedValue),
  ).toEqual(['203.0.113.7', 'zq7-drop.top', 'https://zq7-drop.top/a']);
  const packages = record.classification.mappings.filter(({ framework }) => framework === 'observable:package');
  expect(packages.map(({ id }) => id)).toEqual(['pkg:npm/%40zq7/drop@1.0.0', 'pkg:npm/%40zq7/drop@1.0.1']);
  const passages = record.passages.map(({ start, end }) => record.storedText.slice(start, end));
  for (const value of ['zq7-drop.top', '203.0.113.7'])
    expect(passages.some((passage) => passage.includes(value))).toBe(true);
});

test('reads the defanged values in the details of a malicious package as indicators', () => {
  const details =
    'The package sends data to hxxps://zq7-drop[.]top/a and to 198.51.100[.]7. See https://www.zq7-blog.top/post for more.';
  const { iocs, passages, storedText } = parse(osvRecord('MAL-2024-1', { details })).records[0]!;
  expect(
    Object.values(iocs)
      .flat()
      .map(({ normalizedValue, value }) => `${normalizedValue} ${value}`),
  ).toEqual(['zq7-drop.top zq7-drop[.]top', 'https://zq7-drop.top/a hxxps://zq7-drop[.]top/a']);
  expect(passages.some(({ start, end }) => storedText.slice(start, end).includes('hxxps://zq7-drop[.]top/a'))).toBe(
    true,
  );
  expect(Object.values(parse(osvRecord('PYSEC-2024-1', { details })).records[0]!.iocs).flat()).toEqual([]);
});
