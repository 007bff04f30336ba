import { describe, expect, test } from 'vitest';
import { buckets } from '../../model/vocabulary.ts';
import { createFetchSession, type FetchSessionResult } from '../fetch-session.ts';
import type { SourceRecord } from '../../model/source-record.ts';
import { mispAttribute, mispEvent, mispId } from '../../../../test/support/feed/misp-documents.ts';
import { serverOfTests } from '../../../../test/support/feed/source-server.ts';
import { misp } from './misp.ts';

const server = await serverOfTests();

const parse = (...documents: unknown[]) =>
  misp.parse(
    documents.map((document, index) => ({ name: `${index}.json`, bytes: Buffer.from(JSON.stringify(document)) })),
    { reliability: 0.6 },
  );
const read = (more: Record<string, unknown> = {}): SourceRecord => parse(mispEvent('a', more)).records[0]!;
const indicators = (record: SourceRecord): string[] =>
  buckets.flatMap((bucket) => record.iocs[bucket].map(({ type, value }) => `${bucket} ${type} ${value}`));
const others = (record: SourceRecord): string[] =>
  record.classification.mappings.map(({ framework, id }) => `${framework} ${id}`);

test('reads targeted sectors, countries and regions of galaxies', () => {
  const Galaxy = [
    { type: 'sector', GalaxyCluster: [{ value: 'Bank', tag_name: 'misp-galaxy:sector="Bank"' }] },
    { type: 'region', GalaxyCluster: [{ value: '150 - Europe' }] },
  ];
  const Tag = [{ name: 'misp-galaxy:sector="Bank"' }, { name: 'misp-galaxy:target-information="Germany"' }];
  const { classification, passages, storedText } = read({ Galaxy, Tag });
  const targets = classification.mappings.filter(({ framework }) => framework.startsWith('observable:target-'));
  expect(targets.map(({ framework, id }) => [framework, id])).toEqual([
    ['observable:target-sector', 'Bank'],
    ['observable:target-region', 'Europe'],
    ['observable:target-region', 'Germany'],
  ]);
  const texts = passages.map(({ start, end }) => storedText.slice(start, end));
  for (const { id } of targets) expect(texts.some((text) => text.includes(id))).toBe(true);
});

test('names an event without a text after its report, its indicators or its id', () => {
  const report = { name: 'Operation Zq', content: 'Emotet was dropped.' };
  const nothing = { info: ' ', Attribute: [], Object: [] };
  expect(read({ ...nothing, EventReport: [{ ...report, deleted: true }, report] }).title).toBe('Operation Zq');
  expect(read({ ...nothing, Attribute: [mispAttribute('domain', 'bad.example')] }).title).toBe('Domain bad.example');
  expect(read(nothing).title).toBe(mispId('a'));
});

describe('an event', () => {
  test('reads identity, marking, severity, names and indicators', () => {
    const record = read();
    expect(record).toMatchObject({
      canonicalKey: `uuid:${mispId('a')}`,
      title: 'Campaign a',
      publisher: 'CERT',
      publishTime: '2024-01-01T00:00:00.000Z',
      modifiedAt: '2024-01-01T00:00:00.000Z',
      tlp: 'GREEN',
      severity: 'medium',
      severityRule: 'source:misp-threat-level',
      withdrawn: false,
      classification: {
        actor: [{ name: 'APT28', confidence: 0.6, aliases: expect.arrayContaining(['Sofacy']) }],
        malware: [],
      },
    });
    expect(indicators(record)).toEqual([
      'domains domain bad.example',
      'hashes md5 d41d8cd98f00b204e9800998ecf8427e',
      'files file_name run.exe',
      String.raw`files file_path C:\Users\a\run.exe`,
    ]);
  });

  test.each([
    ['1', 'high'],
    ['2', 'medium'],
    ['3', 'low'],
    ['4', 'none'],
    ['9', 'none'],
  ])('maps threat level %s to %s', (threat_level_id, severity) => {
    expect(read({ threat_level_id }).severity).toBe(severity);
  });

  test.each([
    ['ip-dst', '203.0.113.5', ['ipv4 ipv4 203.0.113.5'], []],
    ['ip-src|port', '2001:db8::5|443', ['ipv6 ipv6 2001:db8::5'], []],
    ['ip-dst', '203.0.113.0/24', [], ['observable:cidr 203.0.113.0/24']],
    ['hostname|port', 'c2.example|443', ['domains domain c2.example'], []],
    ['domain|ip', 'c2.example|203.0.113.5', ['ipv4 ipv4 203.0.113.5', 'domains domain c2.example'], []],
    ['url', 'hxxp://c2[.]example/a', ['urls url hxxp://c2[.]example/a'], []],
    [
      'regkey|value',
      'HKLM\\Software\\X|evil',
      ['registryKeys registry_key HKLM\\Software\\X'],
      ['observable:registry-value evil'],
    ],
    ['filename|sha256', `a.exe|${'ab'.repeat(32)}`, [`hashes sha256 ${'ab'.repeat(32)}`, 'files file_name a.exe'], []],
    ['malware-sample', `a.exe|${'ab'.repeat(16)}`, [`hashes md5 ${'ab'.repeat(16)}`, 'files file_name a.exe'], []],
    ['x509-fingerprint-sha1', 'ab'.repeat(20), [`certs cert_sha1 ${'ab'.repeat(20)}`], []],
    ['mutex', 'Global\\m', [], ['observable:mutex Global\\m']],
    ['btc', '1BoatSLRHtKNngkdXEeobR76b53LETtpyT', [], ['observable:btc 1BoatSLRHtKNngkdXEeobR76b53LETtpyT']],
    ['AS', 'AS64500', [], ['observable:AS AS64500']],
    ['md5', 'no hash', [], ['observable:md5 no hash']],
    ['vulnerability', 'CVE-2024-12345', [], ['cve CVE-2024-12345']],
    ['comment', 'a remark', [], []],
  ])('reads the attribute %s %s', (type, value, found, mapped) => {
    const record = read({ Tag: [], Object: [], Attribute: [mispAttribute(type, value)] });
    expect([indicators(record), others(record)]).toEqual([found, mapped]);
  });

  test('derives confidence and status from to_ids, tags, sightings and times', () => {
    const attributes = [
      mispAttribute('domain', 'a.example'),
      mispAttribute('domain', 'b.example', { to_ids: false }),
      mispAttribute('domain', 'c.example', { Tag: [{ name: 'misp:confidence-level="usually-confident"' }] }),
      mispAttribute('domain', 'd.example', {
        Tag: [{ name: 'false-positive:confirmed="true"' }],
        first_seen: '2023-01-01T00:00:00Z',
      }),
      mispAttribute('domain', 'e.example', { deleted: true, last_seen: '2024-02-01T00:00:00Z' }),
      mispAttribute('domain', 'f.example', { Sighting: [{ type: '0', date_sighting: '1709251200' }] }),
      mispAttribute('domain', 'g.example', { Sighting: [{ type: '1' }] }),
    ];
    const seen = read({ Attribute: attributes }).iocs.domains.map(
      ({ value, confidence, status, firstSeen, lastSeen }) =>
        [value[0], confidence, status, firstSeen?.slice(0, 10), lastSeen?.slice(0, 10)]
          .filter((part) => part !== undefined)
          .join(' '),
    );
    expect(seen).toEqual([
      'a 0.6 active',
      'b 0.3 active',
      'c 0.75 active',
      'd 0.6 false_positive 2023-01-01',
      'e 0.6 revoked 2024-02-01',
      'f 0.6 active 2024-03-01',
      'g 0.6 false_positive',
    ]);
  });

  test('expires a certificate with its validity', () => {
    const part = (type: string, value: string, object_relation: string) =>
      mispAttribute(type, value, { object_relation });
    const Object = [
      {
        name: 'x509',
        Attribute: [
          part('x509-fingerprint-sha1', 'ab'.repeat(20), 'x509-fingerprint-sha1'),
          part('datetime', '2024-01-31T00:00:00+00:00', 'validity-not-after'),
          part('domain', 'cert.example', 'dns_names'),
        ],
      },
    ];
    const { certs, domains } = read({ Attribute: [], Object }).iocs;
    expect([certs[0]!.ttlDays, domains[0]!.ttlDays]).toEqual([30, 180]);
  });

  test('uses the strictest TLP of the attributes and withdraws deleted events', () => {
    const Attribute = [mispAttribute('domain', 'a.example', { Tag: [{ name: 'tlp:amber+strict' }] })];
    expect(read({ Attribute }).tlp).toBe('AMBER+STRICT');
    expect(read({ deleted: true }).withdrawn).toBe(true);
    expect(read({ deleted: true }).iocs.domains[0]!.status).toBe('revoked');
  });

  test('resolves techniques by id and name and removes ids from galaxy names', () => {
    const record = read({
      Tag: [
        'misp-galaxy:mitre-attack-pattern="PowerShell - T1059.001"',
        'misp-galaxy:mitre-attack-pattern="Component Object Model Hijacking"',
        'misp-galaxy:mitre-attack-pattern="Nothing known"',
        'misp-galaxy:mitre-malware="X-Agent - S0023"',
        'misp-galaxy:tool="Mimikatz"',
        'misp-galaxy:threat-actor="bb3ab4f3-e221-49e9-9fd4-4e429f8f4664"',
      ].map((name) => ({ name })),
      Galaxy: [
        {
          type: 'threat-actor',
          GalaxyCluster: [{ type: 'threat-actor', value: 'Ebury', meta: { synonyms: ['Operation Windigo'] } }],
        },
      ],
    });
    const { attack, actor, malware } = record.classification;
    const passages = record.passages.map(({ start, end }) => record.storedText.slice(start, end));
    expect(
      attack.map(({ subTechnique, evidenceRef }) => [subTechnique, passages[Number(/\d+/.exec(evidenceRef)![0])]]),
    ).toEqual([
      ['T1059.001', 'misp-galaxy:mitre-attack-pattern="PowerShell - T1059.001"'],
      ['T1546.015', 'misp-galaxy:mitre-attack-pattern="Component Object Model Hijacking"'],
    ]);
    expect(others(record)).toContain('observable:attack-pattern Nothing known');
    expect(actor).toMatchObject([{ name: 'Ebury', confidence: 0.6, aliases: ['Operation Windigo'] }]);
    expect(malware.map(({ name }) => name)).toEqual(['CHOPSTICK', 'Mimikatz']);
  });

  test('omits attached files from the text', () => {
    const record = read({ Attribute: [mispAttribute('attachment', 'a.png', { data: 'QUJD'.repeat(1000) })] });
    expect(record.storedText).not.toContain('QUJDQUJD');
  });

  test('reads all envelopes of events', () => {
    const [a, b] = [mispEvent('a'), mispEvent('b')];
    for (const form of [a, { response: a }, [a]]) expect(parse(form).records).toHaveLength(1);
    expect(parse({ response: [a, b] }).records).toHaveLength(2);
    expect(parse(a, mispEvent('a', { timestamp: '1709251200', info: 'newer' })).records[0]!.title).toBe('newer');
  });
});

describe('a feed', () => {
  const collect = (cursor?: unknown, path = '/feed/'): Promise<FetchSessionResult | undefined> | undefined =>
    misp.fetch!(
      createFetchSession({
        url: server.base + path,
        cursor,
        now: new Date(),
        allow: ['127.0.0.1'],
        digest: async (documents) => misp.digest!(documents),
      }),
    );
  const publish = (events: Record<string, string>): void => {
    const rows = Object.entries(events).map(([name, timestamp]) => [mispId(name), { info: name, timestamp }]);
    server.document('/feed/manifest.json', JSON.stringify(Object.fromEntries(rows)));
    for (const [name, timestamp] of Object.entries(events))
      server.document(`/feed/${mispId(name)}.json`, JSON.stringify(mispEvent(name, { timestamp })));
  };

  test('fetches new and changed events and keeps events that left the manifest', async () => {
    publish({ a: '1', b: '2' });
    const first = (await collect())!;
    expect(first.parts.map(({ name }) => name)).toEqual([mispId('b'), mispId('a')]);
    // An event with an older date is still new.
    publish({ a: '1', b: '3', old: '0' });
    const second = (await collect(first.cursor))!;
    expect([second.parts.map(({ name }) => name), second.unchanged]).toEqual([[mispId('b'), mispId('old')], 1]);
    publish({ a: '1' });
    expect(await collect(second.cursor)).toMatchObject({ parts: [], unchanged: 1, skipped: [] });
  });

  test.each(['/feed', '/feed/manifest.json', '/feed?key=1'])('reads the manifest of the folder at %s', async (path) => {
    publish({ a: '1' });
    expect((await collect(undefined, path))!.parts.map(({ name }) => name)).toEqual([mispId('a')]);
  });

  test.each(['/feed/one.json', '/events/view/1'])('reads the event at %s', (path) => {
    expect(collect(undefined, path)).toBeUndefined();
  });

  test('reports what is no event in the manifest', async () => {
    publish({ a: '1' });
    const rows = { [mispId('a')]: { timestamp: '1' }, '../secret': { timestamp: '1' } };
    server.document('/feed/manifest.json', JSON.stringify(rows));
    const collected = (await collect())!;
    expect(collected.parts.map(({ name }) => name)).toEqual([mispId('a')]);
    expect(collected.skipped).toEqual([
      { entry: '../secret', reason: 'not an event with a valid uuid in the manifest' },
    ]);
  });

  test('reads an address without a file name as one event if its folder has no manifest', async () => {
    expect(await collect(undefined, '/one-event')).toBeUndefined();
    await expect(collect(undefined, '/no-feed/')).rejects.toThrow('status 404');
  });

  test('requests the manifest conditionally and keeps all events', async () => {
    publish({ a: '1', b: '2' });
    const first = (await collect())!;
    server.asked.length = 0;
    const second = (await collect(first.cursor))!;
    expect(second).toMatchObject({ parts: [], unchanged: 2, skipped: [], more: false });
    expect(server.asked.map(({ path, headers }) => [path, typeof headers['if-none-match']])).toEqual([
      ['/feed/manifest.json', 'string'],
    ]);
    publish({ a: '1', b: '3' });
    expect((await collect(second.cursor))!.parts.map(({ name }) => name)).toEqual([mispId('b')]);
  });

  test.each([
    ['a list', '[]', /not a list of events/],
    ['something else', '{"a":1}', /not a list of events/],
    ['cut off', '{"a', /not valid JSON/],
  ])('rejects a manifest that is %s', async (_name, body, reason) => {
    server.document('/feed/manifest.json', body);
    await expect(collect()).rejects.toThrow(reason);
  });
});
