import fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ParseResult } from '../source-format.ts';
import { checkPassages, parseList } from '../../../../test/support/feed/csv-lists.ts';
import { csv } from './csv.ts';
import { expectLinearTime, repeated } from '../../../../test/support/linear-time.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

describe('real-world lists', () => {
  test('reads CSV with the header in a comment (URLhaus)', () => {
    const parsed = parseList(`################
# abuse.ch URLhaus Database Dump (CSV)   #
# Last updated: 2026-03-02 10:00:00 (UTC) #
################
#
# id,dateadded,url,url_status,last_online,threat,tags,urlhaus_link,reporter
"1","2026-03-02 09:00:00","http://198.51.101.23:8080/bin.sh","online","2026-03-02 09:00:00","malware_download","elf,mirai","https://urlhaus.abuse.ch/url/1/","anon"
"2","2026-03-01 09:00:00","https://evil-host.top/a,b","offline","","malware_download","","https://urlhaus.abuse.ch/url/2/","anon"
`);
    checkPassages(parsed);
    expect(parsed.skipped).toEqual([]);
    expect(parsed.records).toHaveLength(1);
    expect(parsed.records[0]).toMatchObject({
      title: 'abuse.ch URLhaus Database Dump (CSV)',
      iocs: {
        urls: [
          {
            value: 'http://198.51.101.23:8080/bin.sh',
            firstSeen: '2026-03-02T09:00:00.000Z',
            lastSeen: '2026-03-02T09:00:00.000Z',
            ttlDays: 30,
            confidence: 0.7,
          },
          { value: 'https://evil-host.top/a,b', firstSeen: '2026-03-01T09:00:00.000Z' },
        ],
        domains: [],
      },
    });
  });

  test('reads CSV with blanks before quotes (ThreatFox, MalwareBazaar)', () => {
    const parsed = parseList(`# ThreatFox IOCs: recent additions - CSV format                #
#
# "first_seen_utc","ioc_id","ioc_value","ioc_type","threat_type","malware_alias","malware_printable","last_seen_utc","confidence_level","reference"
"2026-03-03 06:14:29", "1", "evil-host.top", "domain", "botnet_cc", "Agentemis,BEACON", "Cobalt Strike", "", "75", "https://ref.example/x"
"2026-03-03 06:14:29", "2", "198.51.101.7:443", "ip:port", "botnet_cc", "", "Cobalt Strike", "", "100", "None"
`);
    checkPassages(parsed);
    const [{ title, iocs, classification }] = parsed.records as [ParseResult['records'][number]];
    expect([title, parsed.skipped]).toEqual(['ThreatFox IOCs: recent additions - CSV format', []]);
    expect([...iocs.domains, ...iocs.ipv4]).toMatchObject([
      { value: 'evil-host.top', confidence: 0.75, firstSeen: '2026-03-03T06:14:29.000Z' },
      { normalizedValue: '198.51.101.7', confidence: 1 },
    ]);
    expect([iocs.urls, classification.mappings]).toEqual([[], []]);
    expect(classification.malware.map(({ name }) => name)).toEqual(['Cobalt Strike']);
    const quoted = parseList('indicator,comment\nevil-host.top, "said ""x"", ""y"", and z"\n').records[0]!.storedText;
    expect(quoted).toContain('comment: said "x",');
  });

  test.each([
    ['# Last updated: 2026-03-02 10:00:00 (UTC) #', undefined, '2026-03-02T10:00:00.000Z'],
    ['; Last-Modified: Mon, 02 Mar 2026 10:00:00 GMT', undefined, '2026-03-02T10:00:00.000Z'],
    ['# Last update: Mon, 02 Mar 2026 11:00:00 +0100', '2020-01-01T00:00:00.000Z', '2026-03-02T10:00:00.000Z'],
    ['# A list', '2026-03-02T10:00:00.000Z', '2026-03-02T10:00:00.000Z'],
    ['# Updated daily', undefined, undefined],
  ])('uses the date of the list for a row without one: %s', (comment, modified, seen) => {
    const bytes = Buffer.from(`${comment}\n198.51.101.23\n`);
    const { records } = csv.parse([{ name: 'x.txt', bytes, modified }], { reliability: 0.7 });
    expect(records[0]!.iocs.ipv4[0]!.lastSeen).toBe(seen);
    const dated = Buffer.from(`${comment}\nip,first_seen\n198.51.101.23,2021-01-01\n`);
    const [old] = csv.parse([{ name: 'x.csv', bytes: dated, modified }], { reliability: 0.7 }).records;
    expect(old!.iocs.ipv4[0]!.lastSeen).toBe('2021-01-01T00:00:00.000Z');
  });

  test('limits phishing addresses to a week, by list or by row', () => {
    const days = (text: string, name?: string) =>
      parseList(text, name).records[0]!.iocs.urls.map(({ ttlDays }) => ttlDays);
    expect(days('url,tags\nhttp://a.top/x,phishing\nhttp://b.top/x,elf\n')).toEqual([7, 30]);
    expect(days('http://a.top/x\n', 'phishing-links.txt')).toEqual([7]);
    expect(days('# Malware and phishing\nhttp://a.top/x\n')).toEqual([30]);
    const tank = parseList(
      'phish_id,url,phish_detail_url,submission_time,target\n1,http://a.top/x,http://tank.top/detail?id=1,2026-03-02T10:00:00+00:00,Bank\n',
    );
    expect(tank.records[0]!.iocs.urls).toMatchObject([
      { value: 'http://a.top/x', firstSeen: '2026-03-02T10:00:00.000Z', ttlDays: 7 },
    ]);
  });

  test('reads scores and malware families by column name', () => {
    const parsed = parseList(
      'first_seen_utc;dst_ip;dst_port;c2_status;malware;confidence\n2026-03-01;198.51.101.23;443;online;Emotet;75\n2026-03-02;198.51.101.23;443;online;Emotet;75\n2026-03-02;10.0.0.1;443;online;;\n',
    );
    checkPassages(parsed);
    const [record] = parsed.records;
    expect(record!.iocs.ipv4).toMatchObject([
      {
        value: '198.51.101.23',
        confidence: 0.75,
        firstSeen: '2026-03-01T00:00:00.000Z',
        lastSeen: '2026-03-02T00:00:00.000Z',
      },
      { value: '10.0.0.1', status: 'false_positive' },
    ]);
    expect(record!.classification.malware).toMatchObject([{ name: 'Emotet', confidence: 0.75 }]);
  });

  test('recognizes every kind of hash by column name', () => {
    const hex = (digits: number): string => '0123456789abcdef'.repeat(8).slice(0, digits);
    const fuzzy = '3:AXGBicFlgVNhBGcL6wCrFQEv:AXGHsNhxLsr2C';
    const parsed = parseList(
      `sha256_hash,md5_hash,sha1_hash,imphash,ssdeep,sha512\n${hex(64)},${hex(32)},${hex(40)},${hex(32)},${fuzzy},${hex(128)}\n${hex(63)}0,n/a,,n/a,,\n`,
    );
    checkPassages(parsed);
    expect(parsed.records[0]!.iocs.hashes.map(({ type }) => type)).toEqual([
      'sha512',
      'sha256',
      'sha1',
      'md5',
      'imphash',
      'ssdeep',
      'sha256',
    ]);
  });

  test('reads plain lists, hosts files and block rules', () => {
    const parsed = parseList(
      `; Comment\n198.51.101.23\n198.51.101.24:443\n0.0.0.0 evil-host.top # why\n||bad-host.top^$third-party\n*.worse-host.top\n1.10.16.0/20 ; SBL1\nhxxp://evil[.]top/x\n${'a'.repeat(64)}\n2001:DB8:0::1\n\nno indicator here\n`,
      'block.txt',
    );
    checkPassages(parsed);
    const [record] = parsed.records;
    expect(record!.iocs.ipv4.map(({ normalizedValue }) => normalizedValue)).toEqual(['198.51.101.23', '198.51.101.24']);
    expect(record!.iocs.domains.map(({ normalizedValue }) => normalizedValue)).toEqual([
      'evil-host.top',
      'bad-host.top',
      'worse-host.top',
    ]);
    expect(record!.iocs.urls).toMatchObject([{ value: 'hxxp://evil[.]top/x', normalizedValue: 'http://evil.top/x' }]);
    expect(record!.iocs.hashes).toHaveLength(1);
    expect(record!.iocs.ipv6).toMatchObject([{ normalizedValue: '2001:db8::1' }]);
    expect(record!.classification.mappings).toMatchObject([{ framework: 'observable:cidr', id: '1.10.16.0/20' }]);
    expect(parsed.skipped).toEqual([{ entry: '1 rows', reason: 'contain no indicator' }]);
  });

  test.each([
    ['an array', [{ ip: '198.51.101.23', first_seen: '2026-03-01' }]],
    ['a field with entries', { count: 1, data: [{ ip: '198.51.101.23', tags: ['a', 'b'], first_seen: '2026-03-01' }] }],
    ['entries by id', { 17: [{ ioc_value: '198.51.101.23:443', first_seen_utc: '2026-03-01' }] }],
    ['one entry', { indicator: '198.51.101.23', first_seen: '2026-03-01' }],
  ])('reads JSON: %s', (_, document) => {
    const parsed = parseList(JSON.stringify(document));
    checkPassages(parsed);
    expect(parsed.records[0]!.iocs.ipv4).toMatchObject([
      { normalizedValue: '198.51.101.23', firstSeen: '2026-03-01T00:00:00.000Z' },
    ]);
  });

  test('reads an array of values and one object per line, and rejects lines that are mostly broken', () => {
    expect(parseList('["evil-host.top", 7, null]').records[0]!.iocs.domains).toHaveLength(1);
    expect(parseList('{"domain":"evil-host.top"}\n{"domain":"evil-cdn.top"}\n').records[0]!.iocs.domains).toHaveLength(
      2,
    );
    const indented = ['evil-host.top', 'evil-cdn.top'].map((domain) =>
      JSON.stringify({ domain, deep: { a: [{}] } }, null, 2),
    );
    for (const newline of ['\n', '\r\n'])
      expect(parseList(indented.join('\n').replaceAll('\n', newline)).records[0]!.iocs.domains).toHaveLength(2);
    expect(() => parseList('{"domain":"evil-host.top"}\n{"domain":\n{\n')).toThrow(
      'line 2 of the list is not a JSON object',
    );
    expect(parseList('[]').records).toEqual([]);
  });

  test('splits a long list into items with a stable assignment of values', () => {
    const lines = (count: number): string =>
      Array.from({ length: count }, (_, index) => `host-${index}.evil.top`).join('\n');
    const parsed = parseList(gzipSync(lines(5_000)));
    checkPassages(parsed);
    expect(parsed.records).toHaveLength(16);
    const values = parsed.records.flatMap(({ iocs }) => iocs.domains.map(({ value }) => value));
    expect(new Set(values).size).toBe(5_000);
    const more = parseList(lines(5_100));
    for (const [index, { recordId, iocs }] of parsed.records.entries()) {
      expect(more.records[index]!.recordId).toBe(recordId);
      expect(more.records[index]!.iocs.domains.map(({ value }) => value)).toEqual(
        expect.arrayContaining(iocs.domains.map(({ value }) => value)),
      );
    }
  });
});

test.each([
  ['', /no indicator/],
  ['hello world\nnothing here', /no indicator/],
  ['a,b\n1,2', /no indicator/],
  ['[1, [2]', /no indicator/],
  ['{"a": {"b": 1}}', /no indicator/],
  [Buffer.from([0xff, 0xfe, 0x31]), /not UTF-8/],
])('rejects %j with a reason', (text, reason) => {
  expect(() => parseList(text)).toThrow(reason);
});

test('accepts an empty list', () =>
  expect(parseList('# Feodo Tracker\n# first_seen_utc,dst_ip\n').records).toEqual([]));

test('returns valid records or a reason for arbitrary cells in limited time', () => {
  const cell = fc.oneof(
    fc.constantFrom(
      '198.51.101.23',
      'evil.top',
      '"',
      '""',
      '\u0000',
      '\ud800',
      '=cmd()',
      '#',
      'http://',
      '1'.repeat(3_000),
      '||^',
      '__proto__',
      '2026-01-01',
    ),
    fc.string({ maxLength: 20 }),
  );
  fc.assert(
    fc.property(
      fc.constantFrom('url,ip,first_seen', 'indicator;confidence', '__proto__,constructor,ip', '# ip,host', ''),
      fc.array(fc.array(cell, { maxLength: 5 }), { maxLength: 20 }),
      (header, rows) => {
        const text = [header, ...rows.map((row) => row.join(','))].join('\n');
        try {
          const parsed = parseList(text);
          checkPassages(parsed);
          for (const { storedText } of parsed.records)
            expect([storedText.isWellFormed(), storedText.includes('\u0000')]).toEqual([true, false]);
        } catch (error) {
          expect(error).toBeInstanceOf(ExternalError);
        }
      },
    ),
    { numRuns: 150 },
  );
});

test.each([
  ['"', '', 300_000],
  [',', '', 300_000],
  ['"a\n', 'ip\n', 60_000],
  ['1.1.1.1\n', '', 160_000],
])('takes linear time for repetitions of %j', (part, before, length) => {
  const readOrReject = (text: string): void => {
    try {
      parseList(text);
    } catch (error) {
      expect(error).toBeInstanceOf(ExternalError);
    }
  };
  return expectLinearTime(repeated(part, before), readOrReject, length);
});

describe('ranges of addresses', () => {
  const read = (text: string): string[] => {
    const parsed = parseList(text);
    checkPassages(parsed);
    const [record] = parsed.records;
    return [
      ...record!.classification.mappings.map(({ framework, id }) => `${framework} ${id}`),
      ...record!.iocs.ipv4.map(
        ({ value, normalizedValue, correction }) => `${value} = ${normalizedValue}, ${correction}`,
      ),
    ];
  };

  test.each([
    ['a plain list', '198.51.101.0-198.51.101.255\n45.9.148.0 - 45.9.149.255\n'],
    ['a column of ranges', 'ip_range,comment\n198.51.101.0-198.51.101.255,a\n45.9.148.0-45.9.149.255,b\n'],
    ['a column of addresses', 'ip,comment\n198.51.101.0 - 198.51.101.255,a\n45.9.148.0/23,b\n'],
    ['PeerGuardian', 'Bad hosting:198.51.101.0-198.51.101.255\nWorse, Ltd:45.9.148.0-45.9.149.255\n'],
    ['columns of first and last addresses', 'start_ip,end_ip\n198.51.101.0,198.51.101.255\n45.9.148.0,45.9.149.255\n'],
    ['a column of types', 'type,value\nip,198.51.101.0-255\nCIDR,45.9.148.0-45.9.149.255\n'],
  ])('are read as networks in %s', (_name, text) => {
    expect(read(text)).toEqual(['observable:cidr 198.51.101.0/24', 'observable:cidr 45.9.148.0/23']);
  });

  test('keep the printed range of a single address', () => {
    expect(read('198.51.101.7-198.51.101.8\n')).toEqual([
      '198.51.101.7-198.51.101.8 = 198.51.101.7, one address of a range',
      '198.51.101.7-198.51.101.8 = 198.51.101.8, one address of a range',
    ]);
  });
});
