import { expect, test } from 'vitest';
import {
  bundle,
  indicator,
  indicatorsOf,
  parseStix,
  report,
  technique,
  time,
} from '../../../../test/support/feed/stix-objects.ts';

test('reads revoked, confidence, valid_until, phishing and sightings', () => {
  const { records } = parseStix(
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
  expect(parseStix(bundle(report([], { revoked: true }))).records[0]!.withdrawn).toBe(true);
});

test('expires a certificate with its validity', () => {
  const certificate = { type: 'x509-certificate', validity_not_after: '2024-01-21T00:00:00Z' };
  const inside = { '0': { ...certificate, hashes: { 'SHA-1': 'cd'.repeat(20) } } };
  const { records } = parseStix(
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
  const { records } = parseStix(
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
  expect(parseStix(bundle(own, report([], { object_marking_refs, labels }))).records[0]!.tlp).toBe(expected);
});

test('uses the strictest marking of any member', () => {
  const red = indicator('a', "[ipv4-addr:value = '192.0.2.1']", {
    object_marking_refs: ['marking-definition--5e57c739-391a-4eb3-b6be-7d15ca92d5ed'],
  });
  expect(parseStix(bundle(report(['indicator--a'], { labels: ['tlp:green'] }), red)).records[0]!.tlp).toBe('RED');
});

test('keeps patterns without values as mappings', () => {
  const { records } = parseStix(
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
  const [record] = parseStix(
    bundle(report(['indicator--a'], marked), indicator('a', "[file:hashes.constructor = 'x']", marked)),
  ).records;
  expect(record?.tlp).toBeUndefined();
  expect(record?.classification.mappings.map(({ framework }) => framework)).not.toContain('cve');
});

test('reads a file with the path of its directory, in both versions of the standard', () => {
  const directory = { type: 'directory', id: 'directory--d', path: 'C:\\ProgramData\\zz\\' };
  const file = {
    type: 'file',
    id: 'file--f',
    name: 'x.dll',
    parent_directory_ref: 'directory--d',
    hashes: { MD5: 'ab'.repeat(16) },
  };
  const other = { type: 'directory', id: 'directory--o', path: 'C:\\Users\\Public\\zz' };
  const embedded = {
    0: { ...directory, id: undefined },
    1: { ...file, name: 'y.dll', parent_directory_ref: '0', hashes: {} },
  };
  const { records } = parseStix(
    bundle(report(['file--f', 'directory--d', 'directory--o', 'observed-data--o']), directory, file, other, {
      type: 'observed-data',
      id: 'observed-data--o',
      ...time,
      objects: embedded,
    }),
  );
  const { iocs, passages, storedText } = records[0]!;
  const cited = passages.map(({ start, end }) => storedText.slice(start, end)).join('\n');
  for (const name of ['x.dll', 'y.dll']) expect(cited).toContain(name);
  expect(iocs.files.map(({ type, normalizedValue }) => [type, normalizedValue])).toEqual([
    ['file_path', 'C:\\ProgramData\\zz\\y.dll'],
    ['file_path', 'C:\\Users\\Public\\zz'],
    ['file_path', 'C:\\ProgramData\\zz\\x.dll'],
  ]);
  expect(iocs.hashes).toHaveLength(1);
});
