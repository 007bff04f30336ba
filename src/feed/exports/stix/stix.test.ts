import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { faultsOf } from '../../../../test/support/feed/stix-standard.ts';
import type { FeedItem, Indicator } from '../../model/item.schema.ts';
import {
  buckets,
  bucketByType,
  indicatorStatuses,
  itemStatuses,
  severities,
  tlps,
  type IndicatorType,
} from '../../model/vocabulary.ts';
import { bundleOf } from './bundle.ts';
import type { OwnWord } from '../own-overrides.ts';
import type { ExportedItem } from './stix-item.ts';
import { observableOf } from './stix-observables.ts';

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
const exported = (item: FeedItem, more: Partial<ExportedItem> = {}): ExportedItem => ({
  item,
  originals: null,
  words: [],
  byPerson: false,
  ...more,
});
const word = (more: Partial<OwnWord>, day = 7): OwnWord => ({
  at: new Date(Date.UTC(2026, 0, day)),
  severity: null,
  status: null,
  indicators: [],
  ...more,
});
type Read = Record<string, unknown> & { id: string; type: string; modified?: string };
const objectsOf = (one: ExportedItem): Read[] => (bundleOf([one]).bundle as { objects: Read[] }).objects;

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

/** Words about some of the indicators. */
const ownWords = fc
  .array(
    fc.record({
      severity: fc.option(fc.constantFrom(...severities)),
      status: fc.option(fc.constantFrom(...itemStatuses)),
      every: fc.integer({ min: 1, max: 3 }),
      said: fc.constantFrom(...indicatorStatuses),
    }),
    { maxLength: 3 },
  )
  .map((said) => (list: Indicator[]) => {
    return said.map(({ severity, status, every, said: stand }, index) => {
      const some = list.filter((_one, place) => place % every === 0);
      const own = some.map(({ type, normalizedValue }) => ({ type, value: normalizedValue, status: stand }));
      return word({ severity, status, indicators: own }, 7 + index);
    });
  });

describe('STIX out', () => {
  // The first two stand in STIX 2.1 itself (sections 2.9 and 6.4).
  test.each([
    ['ipv4', '198.51.100.3', 'ipv4-addr--28bb3599-77cd-5a82-a950-b5bc3caf07c4'],
    ['domain', 'example.com', 'domain-name--bedb4899-d24b-5401-bc86-8f6b4cc18ec7'],
    ['ipv6', '2001:db8::1', 'ipv6-addr--6469e3a9-b053-5e34-a025-9396ae051d26'],
  ])('%s %s has the id that everyone derives', (type, normalizedValue, id) => {
    expect(observableOf({ type, normalizedValue })?.id).toBe(id);
  });

  test('a key that names two hives is looked for and is no observable', () => {
    const key = (normalizedValue: string) => observableOf({ type: 'registry_key', normalizedValue });
    expect(key('HKEY_USERS\\Run')).toMatchObject({ type: 'windows-registry-key', key: 'HKEY_USERS\\Run' });
    expect(key('(HKLM|HKCU)\\Run')).toBeUndefined();
  });

  test.each(['CVE-2024-1234', 'advisory-7'])('%s stands under the name of who counts it', (externalId) => {
    const objects = objectsOf(exported({ ...itemOf([]), externalId }));
    const [given, own] = [{ source_name: 'Blog' }, { source_name: 'cve', external_id: externalId }];
    const url = 'https://northmere.example/1';
    expect(objects.find(({ type }) => type === 'report')!['external_references']).toEqual([
      ...(externalId === 'advisory-7' ? [{ ...given, url, external_id: externalId }] : [{ ...given, url }, own]),
      { source_name: 'tocsin', external_id: 'url:northmere.example/1' },
    ]);
    expect(faultsOf(objects)).toEqual([]);
  });

  test('whatever an item holds, its objects keep to the standard and have the same bytes twice', () => {
    fc.assert(
      fc.property(indicators, fc.constantFrom(...tlps), ownWords, (list, tlp, say) => {
        const one = exported(itemOf(list, tlp), { words: say(list) });
        expect(faultsOf(objectsOf(one))).toEqual([]);
        expect(JSON.stringify(bundleOf([structuredClone(one)]))).toBe(JSON.stringify(bundleOf([one])));
      }),
      { numRuns: 200 },
    );
  });

  test('other bytes of an object always mean another modified', () => {
    const before = objectsOf(exported(itemOf([])));
    const changed = { ...itemOf([]), lastUpdated: '2026-01-06T09:00:00.000Z', version: 2 };
    for (const later of [
      exported(changed),
      exported(itemOf([]), { words: [word({ status: 'retracted' })] }),
      exported(itemOf([]), { words: [word({ severity: 'low' })] }),
    ]) {
      const report = objectsOf(later).find(({ type }) => type === 'report')!;
      const known = before.find(({ id }) => id === report.id)!;
      expect(JSON.stringify(report)).not.toBe(JSON.stringify(known));
      expect(report.modified! > known.modified!).toBe(true);
    }
  });

  test.each(['expired', 'revoked', 'false_positive'] as const)(
    'what the organization calls %s is revoked; what it calls active stands without an end',
    (status) => {
      const made = (stand: Indicator['status'], words: OwnWord[]) =>
        objectsOf(exported(itemOf([{ ...evil, status: stand }]), { words })).find(({ type }) => type === 'indicator')!;
      const say = (own: Indicator['status'], day: number) =>
        word({ indicators: [{ type: 'domain', value: 'evil.top', status: own }] }, day);
      expect(made('active', [say(status, 7)])).toMatchObject({
        revoked: true,
        modified: '2026-01-07T00:00:00.000002Z',
      });
      const again = made(status, [say(status, 7), say('active', 8)]);
      expect(again['revoked']).toBeUndefined();
      expect(again['valid_until']).toBeUndefined();
      expect(again.modified).toBe('2026-01-08T00:00:00.000002Z');
    },
  );

  test('of what came as STIX only indicators of nothing but what the organization took back are touched', () => {
    const pattern = (text: string) => ({ type: 'indicator', id: `indicator--${text}`, pattern: text, modified: at });
    const originals = [
      pattern("[domain-name:value = 'EVIL.top']"),
      pattern("[domain-name:value = 'evil.top'] OR [domain-name:value = 'other.top']"),
      pattern("[domain-name:value = 'other.top']"),
      { type: 'report', id: 'report--1', modified: at },
    ];
    const other = { ...evil, value: 'other.top', normalizedValue: 'other.top' };
    const give = (words: OwnWord[]) => objectsOf(exported(itemOf([evil, other]), { originals, words }));
    const taken = word({ severity: 'low', indicators: [{ type: 'domain', value: 'evil.top', status: 'revoked' }] });
    const [first, ...rest] = give([taken]);
    expect(first).toMatchObject({ revoked: true, modified: '2026-01-07T00:00:00.000002Z' });
    expect(rest).toEqual(originals.slice(1));
    const [again] = give([taken, word({}, 8)]);
    expect(again).toEqual({ ...originals[0], modified: '2026-01-08T00:00:00.000002Z' });
  });

  test('the form of the objects is pinned: who changes it counts `form` up', () => {
    expect(bundleOf([exported(itemOf([evil]))])).toMatchSnapshot();
  });

  test('a new form moves `modified` and no other time', () => {
    const times = objectsOf(exported({ ...itemOf([evil]), createdAt: '2026-01-04T09:00:00.000Z' })).flatMap((object) =>
      Object.entries(object).filter(([name, value]) => name !== 'modified' && /^2026-.*Z$/.test(String(value))),
    );
    // As they were first given out, whatever `form` is by now.
    expect(times.filter(([, value]) => !String(value).endsWith('.000002Z'))).toEqual([]);
    expect(new Set(times.map(([name]) => name))).toEqual(
      new Set(['created', 'published', 'valid_from', 'valid_until']),
    );
  });

  test('an observable is written only where it may go unmarked', () => {
    const one: Indicator = {
      type: 'ipv4',
      value: '203.0.113.7',
      normalizedValue: '203.0.113.7',
      status: 'active',
      confidence: 1,
      ttlDays: 30,
    };
    const types = (tlp: FeedItem['source']['tlp']) => objectsOf(exported(itemOf([one], tlp))).map(({ type }) => type);
    expect(types('CLEAR')).toContain('ipv4-addr');
    for (const tlp of tlps.slice(1)) expect(types(tlp)).not.toContain('ipv4-addr');
    expect(bundleOf([exported(itemOf([one], 'AMBER'))]).losses).toMatchObject({ observables: 1 });
  });
});
