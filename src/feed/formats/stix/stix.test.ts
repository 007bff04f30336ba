import { describe, expect, test } from 'vitest';
import { buckets } from '../../model/vocabulary.ts';
import type { SourceRecord } from '../../model/source-record.ts';
import { stix } from './stix.ts';

const parse = (...documents: unknown[]) =>
  stix.parse(
    documents.map((document, index) => ({ name: `part-${index}.json`, bytes: Buffer.from(JSON.stringify(document)) })),
    { reliability: 0.6 },
  );
const bundle = (...objects: unknown[]) => ({
  type: 'bundle',
  id: 'bundle--11111111-1111-4111-8111-111111111111',
  objects,
});

const time = { created: '2024-01-01T00:00:00.000Z', modified: '2024-01-02T00:00:00.000Z' };
const indicator = (name: string, pattern: string, more: object = {}) => ({
  type: 'indicator',
  spec_version: '2.1',
  id: `indicator--${name}`,
  ...time,
  pattern,
  pattern_type: 'stix',
  valid_from: '2024-01-01T00:00:00Z',
  ...more,
});
const report = (refs: string[], more: object = {}) => ({
  type: 'report',
  spec_version: '2.1',
  id: 'report--r',
  ...time,
  name: 'A report',
  published: '2024-01-03T00:00:00Z',
  object_refs: refs,
  ...more,
});
const related = (name: string, source: string, target: string, kind = 'indicates') => ({
  type: 'relationship',
  id: `relationship--${name}`,
  ...time,
  relationship_type: kind,
  source_ref: source,
  target_ref: target,
});
const technique = (name: string, id: string, more: object = {}) => ({
  type: 'attack-pattern',
  id: `attack-pattern--${name}`,
  ...time,
  name: `What ${name} is`,
  external_references: [{ source_name: 'mitre-attack', external_id: id }],
  ...more,
});
const indicatorsOf = (record: SourceRecord | undefined) => buckets.flatMap((bucket) => record?.iocs[bucket] ?? []);

describe('grouping', () => {
  test('groups a report with its references and related objects', () => {
    const { records, skipped } = parse(
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
    const { records, skipped } = parse(
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
    const [forth, back] = [parse(bundle(...objects)), parse(bundle(...objects.toReversed()))];
    expect(indicatorsOf(forth.records[0]).map(({ value }) => value)).toEqual(['new.example', 'b.example']);
    expect(back).toEqual(forth);
  });

  test('skips an invalid file of a directory', () => {
    const { records, skipped } = parse(bundle(report([])), { hello: 'world' });
    expect(records).toHaveLength(1);
    expect(skipped).toEqual([{ entry: 'part-1.json', reason: 'the document is not a STIX bundle' }]);
    expect(() => parse({ hello: 'world' })).toThrow('not a STIX bundle');
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
  const { records } = parse(
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
  expect(parse(bundle(one, two)).skipped).toEqual([{ entry: 'indicator--a', reason }]);
  for (const objects of [
    [one, one],
    [one, later],
    [later, one],
  ])
    expect(parse(bundle(...objects)).skipped).toEqual([]);
});

test.each([
  [['a.example'], 'Domain a.example'],
  [['a.example', 'b.example'], '2 domains'],
  [['a.example', 'f'.repeat(64)], '1 domain and 1 hash'],
])('titles indicators without a report by what they are: %j', (values, title) => {
  const patterns = values.map((value) =>
    value.includes('.') ? `[domain-name:value = '${value}']` : `[file:hashes.'SHA-256' = '${value}']`,
  );
  const { records } = parse(bundle(...patterns.map((pattern, index) => indicator(String(index), pattern))));
  expect(records.map((record) => record.title)).toEqual([title]);
});

describe('item content', () => {
  test('reads revoked, confidence, valid_until, phishing and sightings', () => {
    const { records } = parse(
      bundle(
        report(['indicator--a', 'indicator--b', 'indicator--c', 'indicator--d']),
        indicator('a', "[ipv4-addr:value = '192.0.2.1']", { revoked: true }),
        indicator('b', "[ipv4-addr:value = '192.0.2.2']", { confidence: 85, valid_until: '2024-01-13T00:00:00Z' }),
        indicator('c', "[url:value = 'http://a.example/']", {
          indicator_types: ['phishing'],
          valid_until: '2030-01-01T00:00:00Z',
        }),
        indicator('d', "[domain-name:value = 'a.example']"),
        {
          type: 'sighting',
          id: 'sighting--s',
          ...time,
          sighting_of_ref: 'indicator--d',
          last_seen: '2024-02-02T00:00:00Z',
        },
      ),
    );
    expect(indicatorsOf(records[0])).toMatchObject([
      { value: '192.0.2.1', status: 'revoked', confidence: 0.6, ttlDays: 30 },
      { value: '192.0.2.2', status: 'active', confidence: 0.85, ttlDays: 10 },
      { value: 'a.example', lastSeen: '2024-02-02T00:00:00.000Z', ttlDays: 180 },
      { value: 'http://a.example/', ttlDays: 14 },
    ]);
    expect(parse(bundle(report([], { revoked: true }))).records[0]!.withdrawn).toBe(true);
  });

  test('expires a certificate with its validity', () => {
    const certificate = { type: 'x509-certificate', validity_not_after: '2024-01-21T00:00:00Z' };
    const inside = { '0': { ...certificate, hashes: { 'SHA-1': 'cd'.repeat(20) } } };
    const { records } = parse(
      bundle(
        report(['observed-data--o', 'observed-data--p', 'x509-certificate--c', 'x509-certificate--d']),
        { type: 'observed-data', id: 'observed-data--o', ...time, object_refs: ['x509-certificate--c'] },
        { type: 'observed-data', id: 'observed-data--p', ...time, objects: inside },
        { ...certificate, id: 'x509-certificate--c', serial_number: '0a:0b' },
        { type: 'x509-certificate', id: 'x509-certificate--d', serial_number: '0c' },
      ),
    );
    expect(records[0]!.iocs.certs.map(({ type, value, ttlDays }) => [type, value.slice(0, 5), ttlDays])).toEqual([
      ['cert_sha1', 'cdcdc', 18],
      ['cert_serial', '0a:0b', 18],
      ['cert_serial', '0c', 365],
    ]);
  });

  test('resolves techniques, kill chain and attack path and keeps unknown techniques as mappings', () => {
    const { records } = parse(
      bundle(
        report(['attack-pattern--p', 'attack-pattern--z', 'attack-pattern--m', 'attack-pattern--q']),
        technique('p', 'T1059.001', { x_mitre_platforms: ['Windows'] }),
        technique('z', 'T1002', { x_mitre_platforms: ['Windows', 'Linux'] }),
        technique('m', 'T1398'),
        technique('q', 'T1566'),
      ),
    );
    const { classification, attackPath, passages, storedText } = records[0]!;
    expect(
      classification.attack
        .map(({ technique: id, subTechnique, techniqueName }) => [id, subTechnique, techniqueName])
        .toSorted(),
    ).toEqual([
      ['T1059', 'T1059.001', 'PowerShell'],
      ['T1560', undefined, 'Archive Collected Data'],
      ['T1566', undefined, 'Phishing'],
    ]);
    expect(classification.killChain).toEqual(['delivery', 'exploitation', 'actions-on-objectives']);
    expect(attackPath[0]).toBe('Initial Access: Phishing (T1566)');
    expect(classification.platforms).toEqual(['windows']);
    expect(classification.mappings).toContainEqual({
      framework: 'observable:attack-pattern',
      id: 'T1398',
      confidence: 0.6,
    });
    for (const { evidenceRef } of classification.attack) {
      const passage = passages[Number(/^provenance\.supportingPassages\[(\d+)\]$/.exec(evidenceRef)![1])]!;
      expect(storedText.slice(passage.start, passage.end)).toMatch(/^What \w is$/);
    }
  });

  test.each([
    [['marking-definition--34098fce-860f-48ae-8e50-ebd3cc5e41da'], [], 'GREEN'],
    [
      [
        'marking-definition--34098fce-860f-48ae-8e50-ebd3cc5e41da',
        'marking-definition--939a9414-2ddd-4d32-a0cd-375ea402b003',
      ],
      [],
      'AMBER+STRICT',
    ],
    [['marking-definition--own'], [], 'AMBER'],
    [[], ['tlp:white'], 'CLEAR'],
    [[], [], undefined],
  ])('resolves marking %j %j to %s', (object_marking_refs, labels, expected) => {
    const own = {
      type: 'marking-definition',
      id: 'marking-definition--own',
      created: time.created,
      definition_type: 'tlp',
      definition: { tlp: 'amber' },
    };
    expect(parse(bundle(own, report([], { object_marking_refs, labels }))).records[0]!.tlp).toBe(expected);
  });

  test('uses the strictest marking of any member', () => {
    const red = indicator('a', "[ipv4-addr:value = '192.0.2.1']", {
      object_marking_refs: ['marking-definition--5e57c739-391a-4eb3-b6be-7d15ca92d5ed'],
    });
    expect(parse(bundle(report(['indicator--a'], { labels: ['tlp:green'] }), red)).records[0]!.tlp).toBe('RED');
  });

  test('keeps patterns without values as mappings', () => {
    const { records } = parse(
      bundle(
        report(['indicator--a', 'indicator--b', 'indicator--c']),
        indicator('a', 'rule x {}', { pattern_type: 'yara', name: 'X rule' }),
        indicator('b', "[file:name LIKE '%.scr']"),
        indicator('c', '[broken'),
      ),
    );
    expect(records[0]!.classification.mappings.map(({ framework, id }) => `${framework} ${id}`)).toEqual([
      'observable:yara X rule',
      "observable:stix-pattern [file:name LIKE '%.scr']",
      'observable:stix-pattern [broken',
    ]);
  });

  test('ignores names of inherited object properties', () => {
    const references = [{ source_name: 'constructor', external_id: 'CVE-2024-1234' }];
    const marked = {
      external_references: references,
      object_marking_refs: ['constructor', 'marking-definition--toString'],
    };
    const [record] = parse(
      bundle(report(['indicator--a'], marked), indicator('a', "[file:hashes.constructor = 'x']", marked)),
    ).records;
    expect(record?.tlp).toBeUndefined();
    expect(record?.classification.mappings.map(({ framework }) => framework)).not.toContain('cve');
  });
});
