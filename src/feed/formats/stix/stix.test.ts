import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import {
  bundle,
  indicator,
  indicatorsOf,
  parseStix,
  related,
  report,
  time,
} from '../../../../test/support/feed/stix-objects.ts';
import { stix } from './stix.ts';

describe('grouping', () => {
  test('groups a report with its references and related objects', () => {
    const { records, skipped } = parseStix(
      bundle(
        { type: 'identity', id: 'identity--i', ...time, name: 'Some Lab' },
        report(['indicator--a', 'malware--m'], {
          created_by_ref: 'identity--i',
          description: 'First sentence. Second one. Third. Fourth.',
          confidence: 80,
        }),
        { type: 'malware', id: 'malware--m', ...time, name: 'EvilBot', aliases: ['EvilBot', 'BadBot'] },
        indicator('a', "[ipv4-addr:value = '192.0.2.1']"),
        indicator('b', "[domain-name:value = 'c2.example']"),
        related('x', 'indicator--b', 'malware--m'),
      ),
    );
    expect(skipped).toEqual([]);
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({
      recordId: 'report--r',
      canonicalKey: 'uuid:r',
      publisher: 'Some Lab',
      title: 'A report',
      publishTime: '2024-01-03T00:00:00.000Z',
      summary: 'First sentence. Second one. Third.',
      tldr: 'First sentence.',
    });
    expect(records[0]!.classification.malware).toEqual([{ name: 'EvilBot', confidence: 0.6, aliases: ['BadBot'] }]);
    expect(indicatorsOf(records[0]).map(({ value }) => value)).toEqual(['192.0.2.1', 'c2.example']);
  });

  test('groups by campaign, actor and malware without a report and reports skipped objects', () => {
    const { records, skipped } = parseStix(
      bundle(
        { type: 'malware', id: 'malware--m', ...time, name: 'One' },
        { type: 'threat-actor', id: 'threat-actor--t', ...time, name: 'Two' },
        indicator('a', "[domain-name:value = 'a.example']"),
        indicator('b', "[domain-name:value = 'b.example']"),
        indicator('c', "[domain-name:value = 'c.example']"),
        related('x', 'indicator--a', 'malware--m'),
        related('y', 'indicator--b', 'threat-actor--t'),
        { type: 'course-of-action', id: 'course-of-action--c', ...time, name: 'Patch' },
        { type: 'x-odd', id: 'x-odd--o', ...time },
        'no object',
      ),
    );
    expect(records.map(({ title }) => title).toSorted()).toEqual(['Domain c.example', 'One', 'Two']);
    expect(records.flatMap((record) => indicatorsOf(record).map(({ value }) => value)).toSorted()).toEqual([
      'a.example',
      'b.example',
      'c.example',
    ]);
    expect(skipped.map(({ entry }) => entry)).toEqual(['part-0.json: objects/9', 'course-of-action--c', 'x-odd--o']);
  });

  test('uses the newest version of an object regardless of order', () => {
    const objects = [
      report(['indicator--a', 'indicator--b']),
      indicator('a', "[domain-name:value = 'old.example']"),
      indicator('a', "[domain-name:value = 'new.example']", { modified: '2024-05-01T00:00:00Z' }),
      indicator('b', "[domain-name:value = 'b.example']"),
    ];
    const [forth, back] = [parseStix(bundle(...objects)), parseStix(bundle(...objects.toReversed()))];
    expect(indicatorsOf(forth.records[0]).map(({ value }) => value)).toEqual(['new.example', 'b.example']);
    expect(back).toEqual(forth);
  });

  test('skips an invalid file of a directory', () => {
    const { records, skipped } = parseStix(bundle(report([])), { hello: 'world' });
    expect(records).toHaveLength(1);
    expect(skipped).toEqual([{ entry: 'part-1.json', reason: 'the document is not a STIX bundle' }]);
    expect(() => parseStix({ hello: 'world' })).toThrow('not a STIX bundle');
  });
});

test('reads the sectors and countries that the document says are targeted', () => {
  const identity = (name: string, more: object) => ({
    type: 'identity',
    id: `identity--${name}`,
    ...time,
    name,
    ...more,
  });
  const actor = { type: 'intrusion-set', id: 'intrusion-set--a', ...time, name: 'Quibbleforge' };
  const { records } = parseStix(
    bundle(
      actor,
      identity('Banks', { identity_class: 'class', sectors: ['financial-services'] }),
      identity('Hospitals', { identity_class: 'class' }),
      identity('ACME', { identity_class: 'organization' }),
      identity('Author', { identity_class: 'class' }),
      { type: 'location', id: 'location--de', ...time, name: 'Berlin', country: 'de' },
      { type: 'location', id: 'location--eu', ...time, region: 'western-europe' },
      related('1', 'intrusion-set--a', 'identity--Banks', 'targets'),
      related('2', 'intrusion-set--a', 'identity--Hospitals', 'targets'),
      related('3', 'intrusion-set--a', 'identity--ACME', 'targets'),
      related('4', 'intrusion-set--a', 'location--de', 'targets'),
      related('5', 'intrusion-set--a', 'location--eu', 'targets'),
      related('6', 'intrusion-set--a', 'identity--Author', 'attributed-to'),
    ),
  );
  const mappings = records[0]!.classification.mappings.map(({ framework, id }) => `${framework} ${id}`);
  expect(mappings.toSorted()).toEqual([
    'observable:target-region Germany',
    'observable:target-region western-europe',
    'observable:target-sector Hospitals',
    'observable:target-sector financial-services',
  ]);
});

test('reports the second of two different objects with one id and time', () => {
  const [one, two] = ['one.example', 'two.example'].map((host) => indicator('a', `[domain-name:value = '${host}']`));
  const later = { ...two, modified: '2024-01-03T00:00:00.000Z' };
  const reason = 'another object of the document has the same id and time';
  expect(parseStix(bundle(one, two)).skipped).toEqual([{ entry: 'indicator--a', reason }]);
  for (const objects of [
    [one, one],
    [one, later],
    [later, one],
  ])
    expect(parseStix(bundle(...objects)).skipped).toEqual([]);
});

test.each([
  [['a.example'], 'Domain a.example'],
  [['a.example', 'b.example'], '2 domains'],
  [['a.example', 'f'.repeat(64)], '1 domain and 1 hash'],
])('titles indicators without a report by what they are: %j', (values, title) => {
  const patterns = values.map((value) =>
    value.includes('.') ? `[domain-name:value = '${value}']` : `[file:hashes.'SHA-256' = '${value}']`,
  );
  const { records } = parseStix(bundle(...patterns.map((pattern, index) => indicator(String(index), pattern))));
  expect(records.map((record) => record.title)).toEqual([title]);
});

test('joins the single objects of a directory with their relationships, beside its bundles', () => {
  const malware = { type: 'malware', id: 'malware--m', ...time, name: 'EvilBot', is_family: true };
  const objects = [indicator('a', "[domain-name:value = 'a.example']"), malware];
  const { records, skipped } = parseStix(
    ...objects,
    bundle(report(['indicator--b']), indicator('b', "[domain-name:value = 'b.example']")),
    related('x', 'indicator--a', 'malware--m'),
  );
  expect(skipped).toEqual([]);
  expect(records.map(({ title }) => title).toSorted()).toEqual(['A report', 'EvilBot']);
  expect(records.flatMap(indicatorsOf).map(({ value }) => value)).toEqual(['a.example', 'b.example']);
});

test('joins single objects that are gzipped', () => {
  const malware = { type: 'malware', id: 'malware--m', ...time, name: 'EvilBot', is_family: true };
  const parts = [
    malware,
    indicator('a', "[domain-name:value = 'a.example']"),
    related('x', 'indicator--a', 'malware--m'),
  ];
  const { records } = stix.parse(
    parts.map((part, index) => ({ name: `${index}.json.gz`, bytes: gzipSync(JSON.stringify(part)) })),
    { reliability: 0.6 },
  );
  expect(records.map(({ title, iocs }) => [title, iocs.domains.length])).toEqual([['EvilBot', 1]]);
});

test('reads a single object, but not one without a valid id', () => {
  const [record, ...others] = parseStix(indicator('a', "[domain-name:value = 'a.example']")).records;
  expect(others).toEqual([]);
  expect(record).toMatchObject({ title: 'Domain a.example', canonicalKey: 'uuid:a' });
  expect(() => parseStix({ type: 'indicator', id: 'a', pattern: 'x' })).toThrow('not a STIX bundle');
});
