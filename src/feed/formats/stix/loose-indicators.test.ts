import { expect, test } from 'vitest';
import type { SourceRecord } from '../../model/source-record.ts';
import { stix } from './stix.ts';

const time = '2026-03-02T10:00:00.000Z';
const identity = { type: 'identity', id: 'identity--1', name: 'Acme Labs', created: time, modified: time };
const reference = { source_name: 'Inside the Emotet botnet', url: 'https://blog.example/emotet', external_id: 'x' };
const scanner = { source_name: 'A scanner of files', url: 'https://scan.example/1' };
/** Returns an indicator as OpenCTI exports it. */
const indicator = (number: number, more: object = {}) => ({
  type: 'indicator',
  id: `indicator--${number}`,
  created: time,
  modified: time,
  created_by_ref: identity.id,
  pattern: `[ipv4-addr:value = '198.51.101.${number}']`,
  pattern_type: 'stix',
  confidence: 0,
  x_opencti_score: 70,
  external_references: [...(number === 1 ? [scanner] : []), reference],
  ...more,
});
const parse = (...objects: object[]): SourceRecord[] =>
  stix.parse([{ name: 'x', bytes: Buffer.from(JSON.stringify({ type: 'bundle', id: 'bundle--1', objects })) }], {
    reliability: 0.6,
    sourceName: 'A source',
  }).records;

test('titles indicators without a report by the report that all refer to, with its publisher, names and scores', () => {
  const [record] = parse(identity, indicator(1), indicator(2));
  expect(record).toMatchObject({
    title: 'Inside the Emotet botnet',
    url: 'https://blog.example/emotet',
    publisher: 'Acme Labs',
    classification: { malware: [{ name: 'Emotet' }] },
    iocs: { ipv4: [{ confidence: 0.7 }, { confidence: 0.7 }] },
  });
});

test.each([
  ['one refers to no report', [indicator(1), indicator(2, { external_references: [] })]],
  ['the reference has no title', [indicator(1, { external_references: [{ ...reference, source_name: 'Blog' }] })]],
])('keeps the title by contents if %s', (_name, indicators) => {
  expect(parse(identity, ...indicators)[0]!.title).toMatch(/^(?:2 IPv4 addresses|IPv4 address 198\.51\.101\.1)$/);
});

test('has no publisher if several created the indicators', () => {
  const other = { ...identity, id: 'identity--2', name: 'Other Labs' };
  expect(
    parse(identity, other, indicator(1), indicator(2, { created_by_ref: other.id }))[0]!.publisher,
  ).toBeUndefined();
});

test('reads the names in the title and description of a report whose objects have none', () => {
  const report = {
    type: 'report',
    id: 'report--1',
    created: time,
    modified: time,
    name: 'Changes of the Akira ransomware',
    description: 'The malware was seen together with Emotet.',
    object_refs: ['indicator--1', 'malware--1'],
  };
  expect(parse(report, indicator(1))[0]!.classification.malware.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['Akira', 'Emotet']),
  );
  // Objects say it better than the description.
  const malware = { type: 'malware', id: 'malware--1', created: time, modified: time, name: 'Qakbot', is_family: true };
  expect(parse(report, indicator(1), malware)[0]!.classification.malware).toHaveLength(1);
});
