import { expect, test } from 'vitest';
import { euvdRecord, githubAdvisory } from '../../../../test/support/feed/osv-documents.ts';
import type { ParseResult } from '../source-format.ts';
import { osv } from './osv.ts';

const parse = (document: object): ParseResult =>
  osv.parse([{ name: 'document', bytes: Buffer.from(JSON.stringify(document)) }], { reliability: 0.8 });

const listMappings = ({ records: [record] }: ParseResult): string[] =>
  record!.classification.mappings.map(({ framework, id }) => `${framework} ${id}`);

test('reads an advisory of the REST API of GitHub like the record of OSV', () => {
  const parsed = parse([githubAdvisory('GHSA-aaaa-bbbb-cccc')]);
  expect(parsed.skipped).toEqual([]);
  expect(parsed.records).toMatchObject([
    {
      recordId: 'GHSA-aaaa-bbbb-cccc',
      canonicalKey: 'cve:CVE-2026-1001',
      aliases: ['GHSA-aaaa-bbbb-cccc', 'CVE-2026-1001'],
      title: 'Path traversal in thing',
      publisher: 'GitHub',
      url: 'https://github.com/advisories/GHSA-aaaa-bbbb-cccc',
      publishTime: '2026-03-01T10:00:00.000Z',
      modifiedAt: '2026-03-02T10:00:00.000Z',
      severity: 'critical',
      severityRule: 'cvss:3.1',
      withdrawn: false,
      affectedProducts: [
        { vendor: 'PyPI', product: 'thing', versions: ['>= 1.0, < 1.2', '2.0.1'] },
        { vendor: 'npm', product: '@acme/thing', versions: ['*'] },
      ],
    },
  ]);
  expect(listMappings(parsed)).toEqual(['cve CVE-2026-1001', 'observable:advisory GHSA-aaaa-bbbb-cccc', 'cwe CWE-22']);
  const { storedText } = parsed.records[0]!;
  expect(storedText).toContain('vulnerabilities[0].vulnerable_version_range: >= 1.0, < 1.2\n');
  expect(storedText).not.toContain('epss');
});

test('reads withdrawn, malicious and unrated advisories of GitHub', () => {
  const { records } = parse([
    githubAdvisory('GHSA-aaaa-bbbb-0001', { withdrawn_at: '2026-03-03T00:00:00Z' }),
    githubAdvisory('GHSA-aaaa-bbbb-0002', {
      cve_id: null,
      identifiers: [{ type: 'GHSA', value: 'GHSA-aaaa-bbbb-0002' }],
      type: 'malware',
      severity: 'critical',
      cvss: { vector_string: null, score: null },
      cvss_severities: null,
    }),
    githubAdvisory('GHSA-aaaa-bbbb-0003', { cvss: null, cvss_severities: null, severity: 'medium' }),
  ]);
  expect(records).toMatchObject([
    { withdrawn: true },
    { canonicalKey: 'adv:ghsa:GHSA-aaaa-bbbb-0002', severity: 'critical', severityRule: 'source' },
    { severity: 'medium', severityRule: 'source' },
  ]);
  const packages = records[1]!.classification.mappings.filter(({ framework }) => framework === 'observable:package');
  expect(packages.map(({ id }) => id)).toEqual(['pkg:pypi/thing', 'pkg:pypi/thing@2.0.1', 'pkg:npm/%40acme/thing']);
});

test('reads a page of the EUVD', () => {
  const parsed = parse({ items: [euvdRecord('EUVD-2026-1234')], total: 1 });
  expect(parsed.skipped).toEqual([]);
  expect(parsed.records).toMatchObject([
    {
      recordId: 'EUVD-2026-1234',
      canonicalKey: 'cve:CVE-2026-1001',
      publisher: 'ENISA',
      title: 'Thing Manager before 1.2 lets remote attackers read files.',
      url: 'https://euvd.enisa.europa.eu/vulnerability/EUVD-2026-1234',
      publishTime: '2026-04-15T20:30:58.000Z',
      modifiedAt: '2026-04-17T03:55:40.000Z',
      severity: 'medium',
      severityRule: 'cvss:3.1',
      affectedProducts: [{ vendor: 'Acme', product: 'Thing Manager' }],
    },
  ]);
  expect(listMappings(parsed)).toEqual([
    'cve CVE-2026-1001',
    'observable:advisory EUVD-2026-1234',
    'observable:advisory GHSA-aaaa-bbbb-cccc',
  ]);
  expect(parsed.records[0]!.storedText).toContain('assigner: acme\n');
});

test.each([
  ['1.0 <1.2', ['>= 1.0, < 1.2']],
  ['0 ≤1.2', ['<= 1.2']],
  ['<1.2', ['< 1.2']],
  ['>= 1.0, < 1.2', ['>= 1.0, < 1.2']],
  ['5.4.1', ['5.4.1']],
  ['n/a', []],
])('shows the versions %s of the EUVD as %j', (stated, versions) => {
  const enisaIdProduct = [{ product: { name: 'Thing' }, product_version: stated }];
  expect(parse([euvdRecord('EUVD-2026-1', { enisaIdProduct })]).records[0]!.affectedProducts).toMatchObject([
    { vendor: 'Acme', product: 'Thing', versions },
  ]);
});

test('rates records of the EUVD by the vector, the score alone, and known exploitation', () => {
  const rate = (more: object): string | undefined => parse([euvdRecord('EUVD-2026-1', more)]).records[0]!.severityRule;
  const noVector = { baseScoreVector: null, baseScore: 9.1, baseScoreVersion: '3.1' };
  expect(parse([euvdRecord('EUVD-2026-1', noVector)]).records[0]!.severity).toBe('critical');
  expect(rate({ ...noVector, baseScore: -1, baseScoreVersion: null })).toBe('none');
  expect(rate({ exploitedSince: 'Apr 9, 2026, 12:00:00 AM' })).toBe('floor:kev');
});

test('leaves the vendor open if a record of the EUVD has several', () => {
  const enisaIdVendor = [{ vendor: { name: 'Acme' } }, { vendor: { name: 'Barco' } }];
  const enisaIdProduct = [{ product: { name: 'Thing' } }, { product: { name: 'Other', vendor: { name: 'Barco' } } }];
  expect(
    parse([euvdRecord('EUVD-2026-1', { enisaIdVendor, enisaIdProduct })]).records[0]!.affectedProducts,
  ).toMatchObject([
    { vendor: '', product: 'Thing' },
    { vendor: 'Barco', product: 'Other' },
  ]);
});
