import { describe, expect, test } from 'vitest';
import type { ParseResult } from '../source-format.ts';
import { csafAdvisory } from '../../../../test/support/feed/csaf-documents.ts';
import { csaf } from './csaf.ts';

const parse = (...documents: object[]): ParseResult =>
  csaf.parse(
    documents.map((document, index) => ({ name: `${index}.json`, bytes: Buffer.from(JSON.stringify(document)) })),
    { reliability: 0.9 },
  );
const one = (more: Parameters<typeof csafAdvisory>[1] = {}) => parse(csafAdvisory('ACME-1', more)).records[0]!;

describe('an advisory', () => {
  test('reads identity, products, scores and mappings', () => {
    const record = one();
    expect(record).toMatchObject({
      canonicalKey: 'adv:acme.example:ACME-1',
      externalId: 'ACME-1',
      publisher: 'Acme CERT',
      url: 'https://acme.example/advisories/ACME-1',
      tlp: 'CLEAR',
      severity: 'high',
      severityRule: 'cvss:3.1',
      withdrawn: false,
      affectedProducts: [{ vendor: 'Acme', product: 'Gadget', versions: ['<2.0'], confidence: 0.9 }],
    });
    expect(record.classification.mappings.map(({ framework, id }) => `${framework} ${id}`)).toEqual([
      'observable:advisory ACME-1',
      'cve CVE-2024-1234',
      'cwe CWE-125',
    ]);
    expect(record.passages.map(({ start, end }) => record.storedText.slice(start, end))).toEqual([
      'Acme Gadget ACME-1',
      'Gadget reads too far. An attacker may take it over.',
      'CVE-2024-1234',
    ]);
  });

  test('uses the newest CVSS version per vulnerability and the worst vulnerability', () => {
    const scored = (...scores: object[]) => ({ cve: 'CVE-2024-1', scores });
    const v3 = (baseScore: number) => ({ cvss_v3: { version: '3.1', baseScore } });
    const v4 = (baseScore: number) => ({ cvss_v4: { version: '4.0', baseScore } });
    const severity = (...vulnerabilities: object[]) => one({ vulnerabilities }).severity;
    expect(severity(scored(v3(9.8), v4(5)))).toBe('medium');
    expect(severity(scored(v4(5)), scored(v3(9.8)))).toBe('critical');
    expect(severity(scored({ cvss_v2: { version: '2.0', baseScore: 7.2 } }))).toBe('high');
    expect(one({ vulnerabilities: [], document: { aggregate_severity: { text: 'Moderate' } } })).toMatchObject({
      severity: 'medium',
      severityRule: 'source',
    });
    const mittel = { vulnerabilities: [], document: { lang: 'de-DE', aggregate_severity: { text: 'mittel' } } };
    expect(one(mittel)).toMatchObject({ severity: 'medium', severityRule: 'source' });
  });

  test.each([
    [{ document: { category: 'csaf_withdrawn' } }, true],
    [{ document: { title: 'WITHDRAWN: Acme Gadget' } }, true],
    [
      {
        tracking: { revision_history: [{ number: '2', date: '2024-02-01T00:00:00Z', summary: 'Advisory withdrawn' }] },
      },
      true,
    ],
    [{ document: { title: 'Withdrawn sessions can be replayed' } }, false],
    [
      {
        tracking: { revision_history: [{ number: '2', date: '2024-02-01T00:00:00Z', summary: 'Certificate revoked' }] },
      },
      false,
    ],
  ])('detects withdrawn advisories: %j', (more, withdrawn) => {
    expect(one(more).withdrawn).toBe(withdrawn);
  });

  test('describes a VEX document by its vulnerability, and rates no vulnerability that no product has', () => {
    const score = { cvss_v3: { version: '3.1', baseScore: 9.8 } };
    const vulnerability = (status: string, more: object = {}) => ({
      cve: 'CVE-2024-1001',
      product_status: { [status]: ['P-1'] },
      scores: [score],
      ...more,
    });
    const notes = [
      { category: 'summary', text: 'Too short' },
      { category: 'description', text: 'Gadget reads too far.' },
    ];
    const vex = { document: { category: 'csaf_vex', notes: [] } };
    const affected = one({ ...vex, vulnerabilities: [vulnerability('known_affected', { notes })] });
    expect(affected).toMatchObject({ severity: 'critical', summary: 'Gadget reads too far.' });
    const texts = affected.passages.map(({ start, end }) => affected.storedText.slice(start, end));
    expect(texts.some((text) => text.includes('Gadget reads too far.'))).toBe(true);
    expect(one({ ...vex, vulnerabilities: [vulnerability('known_not_affected')] }).severity).toBe('none');
  });

  test('uses the highest impact that vulnerabilities without a score state as a severity', () => {
    const threats = (...details: string[]) => ({
      cve: 'CVE-2024-1001',
      threats: details.map((text) => ({ category: 'impact', details: text })),
    });
    const rate = (...details: string[]) => one({ document: { notes: [] }, vulnerabilities: [threats(...details)] });
    expect(rate('Moderate', 'Important')).toMatchObject({ severity: 'high', severityRule: 'source' });
    expect(rate('Elevation of Privilege').severity).toBe('none');
  });

  test('reads packages that are fixed, and the products of which they are components', () => {
    const rpm = (arch: string) => ({
      category: 'architecture',
      name: arch,
      branches: [
        {
          category: 'product_version',
          name: `zzd-0:2.4-3.el9.${arch}`,
          product: {
            product_id: `zzd.${arch}`,
            name: `zzd-0:2.4-3.el9.${arch}`,
            product_identification_helper: { purl: `pkg:rpm/redhat/zzd@2.4-3.el9?arch=${arch}` },
          },
        },
      ],
    });
    const platform = {
      category: 'product_name',
      name: 'Enterprise Linux (v. 9)',
      product: { product_id: 'el9', name: 'EL 9' },
    };
    const arches = ['x86_64', 'aarch64'];
    const tree = {
      branches: [{ category: 'vendor', name: 'Red Hat', branches: [platform, ...arches.map(rpm)] }],
      relationships: arches.map((arch) => ({
        category: 'default_component_of',
        product_reference: `zzd.${arch}`,
        relates_to_product_reference: 'el9',
        full_product_name: { product_id: `el9:zzd.${arch}`, name: `zzd as a component of EL 9` },
      })),
    };
    const fixed = arches.map((arch) => `el9:zzd.${arch}`);
    const read = (product_status: object) =>
      one({ product_tree: tree, vulnerabilities: [{ cve: 'CVE-2026-1001', product_status }] }).affectedProducts.map(
        ({ vendor, product, versions }) => [vendor, product, versions],
      );
    expect(read({ fixed })).toEqual([
      ['Red Hat', 'zzd', ['< 2.4-3.el9']],
      ['Red Hat', 'Enterprise Linux (v. 9)', []],
    ]);
    expect(read({ known_affected: ['el9'], fixed })).toEqual([['Red Hat', 'Enterprise Linux (v. 9)', []]]);
    expect(read({ known_not_affected: fixed })).toEqual([]);
  });

  test('reads the paths of products in CSAF 2.1', () => {
    const product = (name: string) => ({ category: 'product_name', name, product: { product_id: name, name } });
    const tree = {
      branches: [{ category: 'vendor', name: 'Acme', branches: [product('Plugin'), product('Server')] }],
      product_paths: [
        {
          beginning_product_reference: 'Plugin',
          subpaths: [{ category: 'installed_on', next_product_reference: 'Server' }],
          full_product_name: { product_id: 'path', name: 'Plugin installed on Server' },
        },
      ],
    };
    const vulnerabilities = [{ cve: 'CVE-2026-1001', product_status: { known_affected: ['path'] } }];
    expect(one({ product_tree: tree, vulnerabilities }).affectedProducts.map((found) => found.product)).toEqual([
      'Plugin',
      'Server',
    ]);
  });

  test('says that a document is XML', () =>
    expect(() => csaf.parse([{ name: 'cvrf.xml', bytes: Buffer.from('<cvrfdoc/>') }], { reliability: 0.9 })).toThrow(
      'XML',
    ));

  test('orders two revisions of one day', () => {
    const tracking = {
      revision_history: [1, 2].map((number) => ({ number: String(number), date: '2024-01-01T00:00:00Z' })),
    };
    expect(one({ tracking }).modifiedAt! > one().modifiedAt!).toBe(true);
  });

  test('reads the TLP marking and skips an invalid document among several', () => {
    expect(one({ document: { distribution: { tlp: { label: 'AMBER' } } } }).tlp).toBe('AMBER');
    const { records, skipped } = parse(csafAdvisory('A-1'), { x: 1 }, csafAdvisory('A-2'));
    expect([records.length, skipped]).toEqual([
      2,
      [{ entry: '1.json', reason: 'the document is not a CSAF advisory' }],
    ]);
  });
});
