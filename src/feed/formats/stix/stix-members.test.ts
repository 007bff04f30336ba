import { describe, expect, test } from 'vitest';
import { buckets } from '../../model/vocabulary.ts';
import type { SourceRecord } from '../../model/source-record.ts';
import { stix } from './stix.ts';

const time = '2026-03-02T10:00:00.000Z';
const idOf = (type: string, number: number): string =>
  `${type}--5e0f1a2b-0000-4000-8000-${String(number).padStart(12, '0')}`;
type StixObject = Record<string, unknown> & { type: string; id: string };
const object = (type: string, number: number, more: object = {}): StixObject => ({
  type,
  id: idOf(type, number),
  created: time,
  modified: time,
  ...more,
});
const indicator = (number: number, pattern: string, more: object = {}) =>
  object('indicator', number, { pattern, pattern_type: 'stix', valid_from: time, ...more });

const parseText = (text: string) => stix.parse([{ name: 'x', bytes: Buffer.from(text) }], { reliability: 0.6 });
/** Parses a report that refers to all objects. */
function readReport(...objects: { type: string; id: string }[]): SourceRecord {
  const report = object('report', 1, { name: 'A report', published: time, object_refs: objects.map(({ id }) => id) });
  return parseText(JSON.stringify({ type: 'bundle', id: idOf('bundle', 1), objects: [report, ...objects] }))
    .records[0]!;
}
const values = (record: SourceRecord): string[] =>
  buckets.flatMap((bucket) => record.iocs[bucket].map(({ type, normalizedValue }) => `${type} ${normalizedValue}`));
const mappings = (record: SourceRecord): string[] =>
  record.classification.mappings.map(({ framework, id }) => `${framework} ${id}`);

describe('documents', () => {
  test('reads one object per line, and reports a line that is not an object', () => {
    const lines = [
      object('report', 1, { name: 'A report', object_refs: [idOf('indicator', 2)] }),
      indicator(2, "[domain-name:value = 'bad.example']"),
    ];
    const text = lines.map((line) => JSON.stringify(line)).join('\n');
    const indented = lines.map((line) => JSON.stringify(line, null, 2)).join('\n');
    for (const body of [text, indented])
      expect(parseText(`${body}\n`).records).toMatchObject([
        { title: 'A report', iocs: { domains: [{ value: 'bad.example' }] } },
      ]);
    expect(() => parseText(`${text}\n[]\n`)).toThrow('line 3 of the document is not a JSON object');
    expect(() => parseText('{"a": 1')).toThrow('the document is not valid JSON');
  });

  test('names STIX 1', () => {
    const root = '<stix:STIX_Package xmlns:stix="http://stix.mitre.org/stix-1" version="1.2"/>';
    expect(() => parseText(`<?xml version="1.0"?>${root}`)).toThrow(/STIX 1: only STIX 2\.0 and 2\.1/);
    expect(() => parseText('<html></html>')).toThrow(/XML, not JSON/);
  });
});

test('reads ranges and patterns with LIKE but without wildcards', () => {
  const record = readReport(
    indicator(2, "[ipv4-addr:value ISSUBSET '198.51.101.0/24']"),
    indicator(3, "[ipv4-addr:value ISSUBSET '198.51.102.7/32']"),
    indicator(4, "[domain-name:value LIKE 'bad.example']"),
    indicator(5, "[url:value LIKE 'http://bad.example/%']"),
    indicator(6, "[ipv4-addr:value NOT ISSUBSET '198.51.103.0/24']"),
  );
  expect(values(record)).toEqual(['ipv4 198.51.102.7', 'domain bad.example']);
  expect(mappings(record)).toEqual([
    'observable:cidr 198.51.101.0/24',
    "observable:stix-pattern [url:value LIKE 'http://bad.example/%']",
    "observable:stix-pattern [ipv4-addr:value NOT ISSUBSET '198.51.103.0/24']",
  ]);
});

test('reads the samples of malware and of its analysis with the report, without the analysis machine', () => {
  const file = (number: number) => ({
    type: 'file',
    id: idOf('file', number),
    hashes: { MD5: String(number).repeat(32) },
  });
  const members = [
    object('malware', 2, { name: 'Emotet', is_family: false, sample_refs: [idOf('file', 4)] }),
    object('malware-analysis', 3, {
      product: 'sandbox',
      sample_ref: idOf('file', 5),
      analysis_sco_refs: [idOf('file', 6)],
      installed_software_refs: [idOf('software', 7)],
    }),
  ];
  const report = object('report', 1, { name: 'A report', object_refs: members.map(({ id }) => id) });
  const objects = [report, ...members, file(4), file(5), file(6)];
  const { records } = parseText(JSON.stringify({ type: 'bundle', id: idOf('bundle', 1), objects }));
  expect(records.map(({ title }) => title)).toEqual(['A report']);
  expect(records[0]!.iocs.hashes.map(({ value }) => value[0])).toEqual(['4', '5', '6']);
});

describe('exports of MISP', () => {
  const labels = (type: string, category: string, toIds?: string) => ({
    labels: [`misp:type="${type}"`, `misp:category="${category}"`, ...(toIds ? [`misp:to_ids="${toIds}"`] : [])],
  });
  const observed = (number: number, value: string, more: object) =>
    object('observed-data', number, {
      first_observed: time,
      last_observed: time,
      number_observed: 1,
      objects: { 0: { type: 'url', value } },
      ...more,
    });

  test('does not take the address of an analysis or the references of analysts for indicators', () => {
    const record = readReport(
      observed(2, 'https://research.example/one', labels('url', 'External analysis')),
      observed(3, 'https://cases.example/one', labels('url', 'Internal reference', 'False')),
      observed(4, 'http://bad.example/one', labels('url', 'External analysis', 'True')),
      observed(5, 'http://bad.example/two', labels('url', 'Network activity', 'False')),
    );
    expect(values(record)).toEqual(['url http://bad.example/one', 'url http://bad.example/two']);
  });

  test('does not take references and attached files in observations of STIX 2.1 for indicators', () => {
    const observable = (type: string, number: number, more: object) => ({ type, id: idOf(type, number), ...more });
    const seen = (number: number, ref: string, more: object) =>
      observed(number, '', { objects: undefined, object_refs: [ref], ...more });
    const record = readReport(
      seen(2, idOf('url', 12), labels('link', 'External analysis')),
      seen(3, idOf('file', 13), labels('attachment', 'External analysis')),
      seen(4, idOf('url', 14), labels('url', 'Network activity')),
      observable('url', 12, { value: 'https://research.example/one' }),
      observable('file', 13, { name: 'figure.png' }),
      observable('url', 14, { value: 'http://bad.example/two' }),
    );
    expect(values(record)).toEqual(['url http://bad.example/two']);
  });

  test('reads attributes and objects that STIX has no type for, and actors', () => {
    const record = readReport(
      object('x-misp-attribute', 2, { x_misp_type: 'threat-actor', x_misp_value: 'Fancy Bear' }),
      object('x-misp-attribute', 3, { x_misp_type: 'jabber-id', x_misp_value: 'bad@chat.example' }),
      object('x-misp-attribute', 4, { x_misp_type: 'text', x_misp_value: 'A remark' }),
      object('x-misp-object', 5, {
        x_misp_name: 'cs-beacon-config',
        x_misp_attributes: [{ type: 'url', object_relation: 'c2', value: 'http://bad.example/beacon' }],
      }),
    );
    expect(values(record)).toEqual(['url http://bad.example/beacon']);
    expect(mappings(record)).toEqual(['observable:jabber-id bad@chat.example']);
    expect(record.classification.actor).toMatchObject([{ name: 'APT28' }]);
    const texts = record.passages.map(({ start, end }) => record.storedText.slice(start, end));
    expect(texts.some((text) => text.includes('http://bad.example/beacon'))).toBe(true);
  });
});

test('reads the names in free labels, but no everyday words', () => {
  const record = readReport(
    indicator(2, "[domain-name:value = 'bad.example']", {
      labels: ['emotet', 'phishing', 'play', 'tool:Mimikatz', 'no name'],
    }),
  );
  expect(record.classification.malware.map(({ name }) => name)).toEqual(['Emotet', 'Mimikatz']);
});

test('creates an item for malware of an actor if no item contains both the malware and one of its techniques', () => {
  const objects = [
    object('intrusion-set', 1, { name: 'APT29' }),
    object('malware', 2, { name: 'WellMess', is_family: true }),
    object('malware', 3, { name: 'Emotet', is_family: true }),
    ...[4, 5].map((number) =>
      object('attack-pattern', number, {
        name: `Technique ${number}`,
        external_references: [{ source_name: 'mitre-attack', external_id: number === 4 ? 'T1566' : 'T1105' }],
      }),
    ),
  ];
  const [actor, wellMess, emotet, phishing, transfer] = objects.map(({ id }) => id);
  const uses = [
    [actor, wellMess],
    [actor, emotet],
    [actor, phishing],
    [wellMess, phishing],
    [wellMess, transfer],
    [emotet, phishing],
  ].map(([source_ref, target_ref], index) =>
    object('relationship', 10 + index, { relationship_type: 'uses', source_ref, target_ref }),
  );
  const bundle = { type: 'bundle', id: idOf('bundle', 1), objects: [...objects, ...uses] };
  const { records, skipped } = parseText(JSON.stringify(bundle));
  expect(records.map(({ title }) => title)).toEqual(['APT29', 'WellMess']);
  expect(skipped).toEqual([]);
  expect(records.map(({ classification }) => classification.attack.map(({ technique }) => technique))).toEqual([
    ['T1566'],
    ['T1566', 'T1105'],
  ]);
});

test('counts malware without a time of creation among the observations of what it is related to', () => {
  const actors = ['X', 'Y'].map((name, index) => object('intrusion-set', index, { name }));
  const { created: _created, ...loader } = object('malware', 2, { name: 'Loader', is_family: true });
  const payload = object('malware', 3, { name: 'Payload', is_family: true });
  const uses = [
    [actors[0]!, loader],
    [actors[1]!, payload],
    [loader, payload],
  ].map(([source, target], index) =>
    object('relationship', 10 + index, { relationship_type: 'uses', source_ref: source!.id, target_ref: target!.id }),
  );
  const bundle = { type: 'bundle', id: idOf('bundle', 1), objects: [...actors, loader, payload, ...uses] };
  expect(parseText(JSON.stringify(bundle)).records.map(({ title }) => title)).toEqual(['X', 'Y']);
});
