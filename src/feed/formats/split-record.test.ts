import { expect, test } from 'vitest';
import { mispAttribute, mispEvent, mispId } from '../../../test/support/feed/misp-documents.ts';
import { stixBundle, stixIndicator } from '../../../test/support/feed/stix-documents.ts';
import type { SourceRecord } from '../model/source-record.ts';
import { misp } from './misp/misp.ts';
import { countItems, pickItem } from './split-record.ts';
import type { SourceFormat } from './source-format.ts';
import { stix } from './stix/stix.ts';

const parse = (format: SourceFormat, document: unknown): SourceRecord[] => {
  const { records, skipped } = format.parse([{ name: 'large.json', bytes: Buffer.from(JSON.stringify(document)) }], {
    reliability: 0.6,
  });
  expect(skipped).toEqual([]);
  return records;
};
const hosts = Array.from({ length: 1_600 }, (_, n) => `host${n}.evil-host.top`);
const listDomains = (records: SourceRecord[]): string[] =>
  records.flatMap(({ iocs }) => iocs.domains.map(({ normalizedValue }) => normalizedValue));
const findHolder = (records: SourceRecord[], host: string): SourceRecord =>
  records.find(({ iocs }) => iocs.domains.some(({ value }) => value === host))!;

const malware = {
  type: 'malware',
  spec_version: '2.1',
  id: 'malware--m1',
  created: '2024-01-01T00:00:00.000Z',
  modified: '2024-01-01T00:00:00.000Z',
  name: 'Emotet',
  is_family: true,
};
const link = (type: string, source: string, target: string) => ({
  ...malware,
  type: 'relationship',
  id: `relationship--${source} ${target}`.replaceAll(/[^\w-]/g, '-'),
  relationship_type: type,
  source_ref: source,
  target_ref: target,
});

test('the number of items grows in steps, by values and by characters', () => {
  expect([1, 1_500, 1_501, 19_200, 19_201, 5_000_000].map((values) => countItems(values))).toEqual([
    1, 1, 16, 16, 512, 512,
  ]);
  expect([2_000_000, 2_000_001, 25_600_001].map((chars) => countItems(10, chars))).toEqual([1, 16, 512]);
  const parts = new Set(hosts.map((host) => pickItem(host, 16)));
  expect(parts.size).toBe(16);
  expect(Math.max(...parts)).toBe(15);
});

test('a report with many indicators becomes several items, and each indicator keeps its item when others are added', () => {
  const records = parse(stix, stixBundle(hosts));
  expect(records).toHaveLength(16);
  expect(records[0]).toMatchObject({
    recordId: 'report--r1',
    canonicalKey: 'uuid:r1',
    title: 'A made-up report (1 of 16)',
  });
  expect(records[1]).toMatchObject({ recordId: 'report--r1 [part 2]', title: 'A made-up report (2 of 16)' });
  expect(new Set(records.map(({ canonicalKey }) => canonicalKey)).size).toBe(16);
  expect(listDomains(records).toSorted()).toEqual(hosts.toSorted());
  const more = parse(stix, stixBundle([...hosts, 'one-more.evil-host.top']));
  for (const host of hosts) expect(findHolder(more, host).recordId).toBe(findHolder(records, host).recordId);
});

test('every part keeps its original objects, and the first one the report as its source wrote it', () => {
  const bundle = stixBundle(hosts) as { objects: { id: string }[] };
  const originals = parse(stix, bundle).map(({ originals: text }) => JSON.parse(text!) as { id: string }[]);
  const byId = (objects: { id: string }[]) => objects.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  expect(byId(originals.flat())).toEqual(byId(bundle.objects));
  expect(originals[0]).toContainEqual(bundle.objects[0]);
});

test('a part has the malware that its indicators indicate, and the observables that they are based on', () => {
  const bundle = stixBundle(hosts) as { objects: Record<string, unknown>[] };
  const [report] = bundle.objects;
  const [indicator] = [stixIndicator(hosts[7]!)];
  const domain = { type: 'domain-name', spec_version: '2.1', id: 'domain-name--d1', value: 'based-on.evil-host.top' };
  (report!['object_refs'] as string[]).push(malware.id, domain.id);
  bundle.objects.push(
    malware,
    domain,
    link('indicates', indicator!.id, malware.id),
    link('based-on', indicator!.id, domain.id),
  );
  const records = parse(stix, bundle);
  const holder = findHolder(records, hosts[7]!);
  expect(findHolder(records, domain.value)).toBe(holder);
  const withMalware = records.filter(({ classification }) => classification.malware.length > 0);
  expect(withMalware).toEqual([...new Set([records[0], holder])]);
  expect(JSON.parse(holder.originals!)).toContainEqual(link('indicates', indicator!.id, malware.id));
});

test('an observation and what it consists of stay together', () => {
  const addresses = Array.from({ length: 1_600 }, (_, n) => ({
    type: 'ipv4-addr',
    spec_version: '2.1',
    id: `ipv4-addr--a${n}`,
    value: `198.18.${Math.floor(n / 250)}.${(n % 250) + 1}`,
  }));
  const observations = addresses.map(({ id }, n) => ({
    ...malware,
    type: 'observed-data',
    id: `observed-data--o${n}`,
    number_observed: 1,
    object_refs: [id],
  }));
  const records = parse(stix, { type: 'bundle', id: 'bundle--b1', objects: [...addresses, ...observations] });
  expect(records).toHaveLength(16);
  for (const { originals } of records) {
    const ids = (JSON.parse(originals!) as { id: string }[]).map(({ id }) => id.replace(/^.*--[ao]/, ''));
    expect(ids.filter((id, index) => ids.indexOf(id) === index).length * 2).toBe(ids.length);
  }
});

test('an event with many attributes becomes several items with its tags, and its objects stay whole', () => {
  const Attribute = [
    ...hosts.map((host) => mispAttribute('domain', host)),
    mispAttribute('link', 'https://cert.example/report', { to_ids: false }),
  ];
  const EventReport = [{ name: 'Report', content: 'Seen at zq7-drop[.]top.' }];
  const records = parse(misp, mispEvent('large', { Attribute, EventReport }));
  expect(records).toHaveLength(16);
  expect(records[0]).toMatchObject({ recordId: mispId('large'), title: 'Campaign large (1 of 16)' });
  expect(listDomains(records).toSorted()).toEqual([...hosts, 'zq7-drop[.]top'].map(refang).toSorted());
  for (const { classification, url, tlp } of records) {
    expect(classification.actor).toMatchObject([{ name: 'APT28' }]);
    expect({ url, tlp }).toEqual({ url: 'https://cert.example/report', tlp: 'GREEN' });
  }
});

const refang = (value: string): string => value.replace('[.]', '.');
