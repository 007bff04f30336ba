import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { listStixViolations } from '../../../../test/support/feed/stix-standard.ts';
import type { FeedItem, Indicator } from '../../model/item.schema.ts';
import { readShippedNameTable } from '../../reference-data/name-table.ts';
import {
  buckets,
  bucketByType,
  indicatorStatuses,
  itemStatuses,
  severities,
  tlps,
  type IndicatorType,
} from '../../model/vocabulary.ts';
import { toBundle } from './bundle.ts';
import type { DatedOverride } from '../dated-override.ts';
import type { ItemVersion } from './stix-item.ts';
import { toObservable } from './stix-observables.ts';

const at = '2026-01-05T09:00:00.000Z';
const iocs = (found: Indicator[]): FeedItem['iocs'] =>
  Object.fromEntries(
    buckets.map((bucket) => [bucket, found.filter(({ type }) => bucketByType[type as IndicatorType] === bucket)]),
  ) as FeedItem['iocs'];

const itemOf = (found: Indicator[], tlp: FeedItem['source']['tlp'] = 'CLEAR'): FeedItem => ({
  id: '01934c3b-4f7e-7aaa-8bbb-0123456789ab',
  source: { publisher: 'Northmere', name: 'Blog', tlp, url: 'https://northmere.example/1' },
  event: { title: 'A title', severity: 'high', confidence: 0.8, status: 'active' },
  attackPath: [],
  classification: { attack: [], killChain: [], malware: [], actor: [], platforms: [], mappings: [] },
  affectedProducts: [],
  iocs: iocs(found),
  provenance: { supportingPassages: [] },
  version: 1,
  lastUpdated: at,
  createdAt: at,
  addedToFeedAt: at,
  canonicalKey: 'url:northmere.example/1',
  tenantOverrides: null,
});
const evil: Indicator = {
  type: 'domain',
  value: 'evil[.]top',
  normalizedValue: 'evil.top',
  status: 'active',
  confidence: 0.7,
  ttlDays: 180,
};
const versionOf = (item: FeedItem, more: Partial<ItemVersion> = {}): ItemVersion => ({
  item,
  originals: null,
  overrides: [],
  storedText: null,
  isByPerson: false,
  ...more,
});
/** An item that names an actor, a malware, a CVE and an indicator. */
function reportOf(actor: string, tlp: FeedItem['source']['tlp'] = 'CLEAR'): FeedItem {
  const name = (text: string) => ({ name: text, confidence: 0.9, aliases: [] });
  const mappings = [{ framework: 'cve', id: 'CVE-2024-1234', confidence: 0.9 }];
  const item = itemOf([evil], tlp);
  return {
    ...item,
    classification: { ...item.classification, malware: [name('WellMess')], actor: [name(actor)], mappings },
  };
}
const statement = `APT29 uses WellMess and targets hosts in Norway.
The WellMess malware exploits CVE-2024-1234 and contacts evil[.]top.`;

const override = (more: Partial<DatedOverride>, day = 7): DatedOverride => ({
  at: new Date(Date.UTC(2026, 0, day)),
  severity: null,
  status: null,
  indicators: [],
  ...more,
});
type ReadObject = Record<string, unknown> & { id: string; type: string; modified?: string };
const objectsOf = (one: ItemVersion): ReadObject[] => (toBundle([one]).bundle as { objects: ReadObject[] }).objects;

const indicator = fc.record({
  type: fc.constantFrom(...(Object.keys(bucketByType) as IndicatorType[])),
  value: fc.string({ minLength: 1, unit: 'grapheme' }),
  status: fc.constantFrom('active' as const, 'expired' as const, 'revoked' as const, 'false_positive' as const),
  confidence: fc.integer({ min: 0, max: 100 }).map((n) => n / 100),
  ttlDays: fc.integer({ min: 0, max: 730 }),
});
const indicators = fc
  .uniqueArray(indicator, { maxLength: 20, selector: ({ type, value }) => `${type} ${value}` })
  .map((list) => list.map((one): Indicator => ({ ...one, normalizedValue: one.value })));

/** Overrides of some of the indicators. */
const overrideLists = fc
  .array(
    fc.record({
      severity: fc.option(fc.constantFrom(...severities)),
      status: fc.option(fc.constantFrom(...itemStatuses)),
      every: fc.integer({ min: 1, max: 3 }),
      indicatorStatus: fc.constantFrom(...indicatorStatuses),
    }),
    { maxLength: 3 },
  )
  .map((drafts) => (list: Indicator[]) => {
    return drafts.map(({ severity, status, every, indicatorStatus }, index) => {
      const some = list.filter((_one, place) => place % every === 0);
      const indicators = some.map((one) => ({ type: one.type, value: one.normalizedValue, status: indicatorStatus }));
      return override({ severity, status, indicators }, 7 + index);
    });
  });

describe('STIX export', () => {
  // The first two are examples of STIX 2.1 (sections 2.9 and 6.4).
  test.each([
    ['ipv4', '198.51.100.3', 'ipv4-addr--28bb3599-77cd-5a82-a950-b5bc3caf07c4'],
    ['domain', 'example.com', 'domain-name--bedb4899-d24b-5401-bc86-8f6b4cc18ec7'],
    ['ipv6', '2001:db8::1', 'ipv6-addr--6469e3a9-b053-5e34-a025-9396ae051d26'],
  ])('derives the standard id of %s %s', (type, normalizedValue, id) => {
    expect(toObservable({ type, normalizedValue })?.id).toBe(id);
  });

  test('creates no observable for a registry key with two hives', () => {
    const key = (normalizedValue: string) => toObservable({ type: 'registry_key', normalizedValue });
    expect(key('HKEY_USERS\\Run')).toMatchObject({ type: 'windows-registry-key', key: 'HKEY_USERS\\Run' });
    expect(key('(HKLM|HKCU)\\Run')).toBeUndefined();
  });

  test.each(['CVE-2024-1234', 'advisory-7'])('references %s under the name of its issuer', (externalId) => {
    const objects = objectsOf(versionOf({ ...itemOf([]), externalId }));
    const source = { source_name: 'Blog' };
    const cve = { source_name: 'cve', external_id: externalId };
    const url = 'https://northmere.example/1';
    expect(objects.find(({ type }) => type === 'report')!['external_references']).toEqual([
      ...(externalId === 'advisory-7' ? [{ ...source, url, external_id: externalId }] : [{ ...source, url }, cve]),
      { source_name: 'tocsin', external_id: 'url:northmere.example/1' },
    ]);
    expect(listStixViolations(objects)).toEqual([]);
  });

  test('produces valid objects with stable bytes for any item', () => {
    fc.assert(
      fc.property(indicators, fc.constantFrom(...tlps), overrideLists, (list, tlp, createOverrides) => {
        const one = versionOf(itemOf(list, tlp), { overrides: createOverrides(list) });
        expect(listStixViolations(objectsOf(one))).toEqual([]);
        expect(JSON.stringify(toBundle([structuredClone(one)]))).toBe(JSON.stringify(toBundle([one])));
      }),
      { numRuns: 200 },
    );
  });

  test('increases `modified` whenever the bytes of an object change', () => {
    const before = objectsOf(versionOf(itemOf([])));
    const changed = { ...itemOf([]), lastUpdated: '2026-01-06T09:00:00.000Z', version: 2 };
    for (const later of [
      versionOf(changed),
      versionOf(itemOf([]), { overrides: [override({ status: 'retracted' })] }),
      versionOf(itemOf([]), { overrides: [override({ severity: 'low' })] }),
    ]) {
      const report = objectsOf(later).find(({ type }) => type === 'report')!;
      const known = before.find(({ id }) => id === report.id)!;
      expect(JSON.stringify(report)).not.toBe(JSON.stringify(known));
      expect(report.modified! > known.modified!).toBe(true);
    }
  });

  test.each(['expired', 'revoked'] as const)(
    'revokes an indicator overridden as %s, and removes the end of one overridden as active',
    (status) => {
      const exportIndicator = (sharedStatus: Indicator['status'], overrides: DatedOverride[]) =>
        objectsOf(versionOf(itemOf([{ ...evil, status: sharedStatus }]), { overrides })).find(
          ({ type }) => type === 'indicator',
        )!;
      const overrideStatus = (ownStatus: Indicator['status'], day: number) =>
        override({ indicators: [{ type: 'domain', value: 'evil.top', status: ownStatus }] }, day);
      expect(exportIndicator('active', [overrideStatus(status, 7)])).toMatchObject({
        revoked: true,
        modified: '2026-01-07T00:00:00.000007Z',
      });
      const restored = exportIndicator(status, [overrideStatus(status, 7), overrideStatus('active', 8)]);
      expect(restored['revoked']).toBeUndefined();
      expect(restored['valid_until']).toBeUndefined();
      expect(restored.modified).toBe('2026-01-08T00:00:00.000007Z');
    },
  );

  test('revokes original STIX indicators only if all their values are overridden', () => {
    const pattern = (text: string) => ({ type: 'indicator', id: `indicator--${text}`, pattern: text, modified: at });
    const originals = [
      pattern("[domain-name:value = 'EVIL.top']"),
      pattern("[domain-name:value = 'evil.top'] OR [domain-name:value = 'other.top']"),
      pattern("[domain-name:value = 'other.top']"),
      { type: 'report', id: 'report--1', modified: at },
    ];
    const other = { ...evil, value: 'other.top', normalizedValue: 'other.top' };
    const exportOriginals = (overrides: DatedOverride[]) =>
      objectsOf(versionOf(itemOf([evil, other]), { originals, overrides }));
    const indicators = [{ type: 'domain', value: 'evil.top', status: 'revoked' as const }];
    const revoking = override({ severity: 'low', indicators });
    const [first, ...rest] = exportOriginals([revoking]);
    expect(first).toMatchObject({ revoked: true, modified: '2026-01-07T00:00:00.000007Z' });
    expect(rest).toEqual(originals.slice(1));
    const [restored] = exportOriginals([revoking, override({}, 8)]);
    expect(restored).toEqual({ ...originals[0], modified: '2026-01-08T00:00:00.000007Z' });
  });

  test('leaves out original STIX indicators whose values are all false positives, with their links', () => {
    const pattern = (id: string, text: string) => ({
      type: 'indicator',
      id: `indicator--${id}`,
      pattern: text,
      modified: at,
    });
    const link = (from: string, to: string) => ({
      type: 'relationship',
      id: `relationship--${from}-${to}`,
      source_ref: `indicator--${from}`,
      target_ref: to,
      modified: at,
    });
    const kept = [
      pattern('both', "[domain-name:value = 'benign.example'] OR [domain-name:value = 'evil.top']"),
      { type: 'report', id: 'report--1', object_refs: ['indicator--benign', 'indicator--both'], modified: at },
      link('both', 'malware--1'),
    ];
    const originals = [
      pattern('benign', "[domain-name:value = 'Benign.example']"),
      link('benign', 'malware--1'),
      { type: 'sighting', id: 'sighting--1', sighting_of_ref: 'indicator--benign', modified: at },
      ...kept,
    ];
    const benign: Indicator = {
      ...evil,
      value: 'Benign.example',
      normalizedValue: 'benign.example',
      status: 'false_positive',
    };
    const exportOriginals = (overrides: DatedOverride[]) =>
      objectsOf(versionOf(itemOf([evil, benign]), { originals, overrides }));
    expect(exportOriginals([])).toEqual(kept);
    const indicators = [{ type: 'domain', value: 'benign.example', status: 'active' as const }];
    expect(exportOriginals([override({ indicators })])).toEqual(originals);
  });

  test('keeps the object format, whose changes need a new `formatVersion`', () => {
    expect(toBundle([versionOf(reportOf('APT29'), { storedText: statement })])).toMatchSnapshot();
    // The aliases of names come from this list.
    expect(createHash('sha256').update(readShippedNameTable()).digest('hex')).toMatchSnapshot();
  });

  test('leaves out false positives, also those of an override', () => {
    const harmless = { ...evil, value: 'good.top', normalizedValue: 'good.top', status: 'false_positive' as const };
    const indicators = [{ type: 'domain', value: 'evil.top', status: 'false_positive' as const }];
    const exported = (overrides: DatedOverride[]) =>
      objectsOf(versionOf(itemOf([evil, harmless]), { overrides })).flatMap(({ type, name }) =>
        type === 'indicator' ? [name] : [],
      );
    expect(exported([])).toEqual(['evil.top']);
    expect(exported([override({ indicators })])).toEqual([]);
    expect(toBundle([versionOf(itemOf([harmless]))]).unsupported).toMatchObject({ 'iocs.status': 1 });
  });

  test('exports networks and other observables that STIX has an object for', () => {
    const mappings = [
      ['cidr', '192[.]0[.]2[.]7/24'],
      ['cidr', '2001:DB8::/32'],
      ['cidr', '10.0.0.0/8'],
      ['email', 'Attacker@evil[.]top'],
      ['asn', '64496'],
      ['mutex', String.raw`Global\it's`],
      ['btc', 'a-wallet'],
      ['advisory', 'GHSA-1'],
    ].map(([type, id]) => ({ framework: `observable:${type}`, id: id!, confidence: 0.8 }));
    const item = itemOf([]);
    const withMappings = { ...item, classification: { ...item.classification, mappings } };
    const { bundle, unsupported } = toBundle([versionOf(withMappings)]);
    const { objects } = bundle as { objects: ReadObject[] };
    expect(objects.flatMap(({ type, pattern }) => (type === 'indicator' ? [pattern] : []))).toEqual([
      "[ipv4-addr:value ISSUBSET '192.0.2.0/24']",
      "[ipv6-addr:value ISSUBSET '2001:db8::/32']",
      "[email-addr:value = 'attacker@evil.top']",
      '[autonomous-system:number = 64496]',
      String.raw`[mutex:name = 'Global\\it\'s']`,
    ]);
    expect(objects.flatMap(({ type, value }) => (value ? [`${type} ${String(value)}`] : []))).toEqual([
      'ipv4-addr 192.0.2.0/24',
      'ipv6-addr 2001:db8::/32',
      'email-addr attacker@evil.top',
    ]);
    expect(unsupported).toMatchObject({ 'classification.mappings': 2, 'iocs.status': 1 });
  });

  test('exports the relationships that the text states, with their passages', () => {
    const objects = objectsOf(versionOf(reportOf('APT29'), { storedText: statement }));
    expect(listStixViolations(objects)).toEqual([]);
    const nameOf = (ref: unknown): unknown => objects.find(({ id }) => id === ref)?.['name'];
    const relationships = objects
      .filter(({ description }) => description !== undefined)
      .filter(({ type }) => type === 'relationship')
      .map((one) => [
        nameOf(one['source_ref']),
        one['relationship_type'],
        nameOf(one['target_ref']),
        one['description'],
      ]);
    const [uses, contacts] = statement.split('\n');
    expect(relationships).toEqual([
      ['APT29', 'uses', 'WellMess', uses],
      ['APT29', 'targets', 'Norway', uses],
      ['WellMess', 'exploits', 'CVE-2024-1234', contacts],
      ['evil.top', 'indicates', 'WellMess', contacts],
    ]);
    const retracted = versionOf(reportOf('APT29'), {
      storedText: statement,
      overrides: [override({ status: 'retracted' })],
    });
    expect(objectsOf(retracted).filter(({ revoked, type }) => type === 'intrusion-set' && revoked)).toEqual([]);
  });

  test.each([
    ['APT29', 'The WellMess malware was attributed to APT29.', 'WellMess', 'authored-by', 'APT29'],
    ['APT29', 'APT29 exploited CVE-2024-1234 last year.', 'APT29', 'targets', 'CVE-2024-1234'],
  ])('uses a type that the standard suggests: %s, %s', (actor, storedText, source, type, target) => {
    const objects = objectsOf(versionOf(reportOf(actor), { storedText }));
    const idOf = (name: string) => objects.find((one) => one['name'] === name)!.id;
    expect(objects.filter(({ description }) => description === storedText)).toMatchObject([
      { relationship_type: type, source_ref: idOf(source), target_ref: idOf(target) },
    ]);
  });

  test('exports one object for a name in all items. The loosest marking is the latest version', () => {
    const threats = (id: string, tlp: FeedItem['source']['tlp']) =>
      objectsOf(versionOf({ ...reportOf('Cozy New Name', tlp), id })).filter(({ type }) => /^(?:intr|malw)/.test(type));
    const [first, second] = [threats(crypto.randomUUID(), 'AMBER'), threats(crypto.randomUUID(), 'AMBER')];
    expect(first.map(({ name }) => name)).toEqual(['WellMess', 'Cozy New Name']);
    expect(second).toEqual(first);
    const open = threats(crypto.randomUUID(), 'CLEAR');
    for (const [index, one] of open.entries()) {
      expect(one.id).toBe(first[index]!.id);
      expect(one.modified! > first[index]!.modified!).toBe(true);
    }
  });

  test('keeps the format version out of all times except `modified`', () => {
    const times = objectsOf(versionOf({ ...itemOf([evil]), createdAt: '2026-01-04T09:00:00.000Z' })).flatMap((object) =>
      Object.entries(object).filter(([name, value]) => name !== 'modified' && /^2026-.*Z$/.test(String(value))),
    );
    // The microseconds of the first release, whatever `formatVersion` is now.
    expect(times.filter(([, value]) => !String(value).endsWith('.000002Z'))).toEqual([]);
    const names = new Set(['created', 'published', 'valid_from', 'valid_until']);
    expect(new Set(times.map(([name]) => name))).toEqual(names);
  });

  test('exports observables of CLEAR items only', () => {
    const one: Indicator = { ...evil, type: 'ipv4', value: '203.0.113.7', normalizedValue: '203.0.113.7' };
    const types = (tlp: FeedItem['source']['tlp']) => objectsOf(versionOf(itemOf([one], tlp))).map(({ type }) => type);
    expect(types('CLEAR')).toContain('ipv4-addr');
    for (const tlp of tlps.slice(1)) expect(types(tlp)).not.toContain('ipv4-addr');
    expect(toBundle([versionOf(itemOf([one], 'AMBER'))]).unsupported).toMatchObject({ observables: 1 });
  });
});
