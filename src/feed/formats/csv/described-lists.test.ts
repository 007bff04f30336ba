import { describe, expect, test } from 'vitest';
import { checkPassages, parseList } from '../../../../test/support/feed/csv-lists.ts';

const sha256 = '0123456789abcdef'.repeat(4);

test('reads the names and CVEs in descriptions of rows', () => {
  const parsed = parseList(
    `value,entity_type,description\nbad-host.top,hostname,Likely related DanaBot C2\n198.51.101.23,ipaddress,Used by UTA0137 with CVE-2026-12345\n`,
  );
  checkPassages(parsed);
  const { malware, actor, mappings } = parsed.records[0]!.classification;
  expect(malware).toMatchObject([{ name: 'DanaBot' }]);
  expect(actor).toMatchObject([{ name: 'UTA0137' }]);
  expect(mappings).toMatchObject([{ framework: 'cve', id: 'CVE-2026-12345' }]);
});

describe('JSON', () => {
  test('reads the values of nested objects, as in the fields of Elastic', () => {
    const indicator = { first_seen: '2026-08-14T20:23:33.273Z', marking: { tlp: 'green' }, tags: ['emotet'] };
    const lines = [
      { ...indicator, type: 'file', file: { hash: { sha256 } }, reference: 'https://blog.example/1' },
      { ...indicator, type: 'ipv4-addr', ip: '198.51.101.23' },
      { ...indicator, type: 'url', url: { full: 'https://bad-host.top/a' } },
    ].map((one) => JSON.stringify({ threat: { indicator: one } }));
    const parsed = parseList(lines.join('\n'));
    checkPassages(parsed);
    expect(parsed.records[0]).toMatchObject({
      tlp: 'GREEN',
      classification: { malware: [{ name: 'Emotet' }] },
      iocs: {
        hashes: [{ normalizedValue: sha256, firstSeen: '2026-08-14T20:23:33.000Z' }],
        ipv4: [{ normalizedValue: '198.51.101.23' }],
        urls: [{ normalizedValue: 'https://bad-host.top/a' }],
      },
    });
  });

  test('does not read nested objects beside values', () => {
    const row = { ip: '198.51.101.23', reporter: { profile: { url: 'https://reporter.example/a' } } };
    const { iocs } = parseList(JSON.stringify([row])).records[0]!;
    expect([iocs.ipv4.length, iocs.urls.length]).toEqual([1, 0]);
  });

  test('has the name of the document as its title, and reads lists of named objects', () => {
    const indicators = ['198.51.101.23', '203.0.113.9'].map((indicator) => ({ indicator, type: 'IPv4' }));
    const pulse = { name: 'A pulse', malware_families: [{ id: 'x', display_name: 'Emotet' }], indicators };
    expect(parseList(JSON.stringify(pulse)).records).toMatchObject([
      { title: 'A pulse', classification: { malware: [{ name: 'Emotet' }] } },
    ]);
  });

  test('refuses warning lists of MISP, whose values are harmless', () => {
    const list = {
      name: 'Banks',
      type: 'hostname',
      version: 1,
      matching_attributes: ['domain'],
      list: ['bank.example'],
    };
    expect(() => parseList(JSON.stringify(list))).toThrow(/warning list of MISP/);
  });
});

test.each([
  ['0.5', '0.9', [0.5, 0.9]],
  ['5.2', '9', [0.52, 0.9]],
  ['52', '90', [0.52, 0.9]],
])('reads the scores %s and %s on the scale of their column', (one, other, expected) => {
  const { ipv4 } = parseList(`ip,score\n198.51.101.23,${one}\n203.0.113.9,${other}\n`).records[0]!.iocs;
  expect(ipv4.map(({ confidence }) => confidence)).toEqual(expected);
});

test('reads a header in a comment with a label, and a reputation', () => {
  const { domains } = parseList(
    '# CSV: Date,Domain,Reputation\n"2026-11-20","bad-host.top","Bad"\n"2026-11-21","good-host.top","Good"\n',
  ).records[0]!.iocs;
  expect(domains).toMatchObject([
    { normalizedValue: 'bad-host.top', status: 'active', firstSeen: '2026-11-20T00:00:00.000Z' },
    { normalizedValue: 'good-host.top', status: 'false_positive' },
  ]);
});

test('reads a list below paragraphs like a report', () => {
  const paragraph =
    'The group consists of former members of another one and uses LockBit ransomware to encrypt the computers of companies, whose data it steals before, and it demands a ransom from each of them.';
  const [record] = parseList(
    `# Indicators of a group\n\n${paragraph}\n\n## Servers\n\n198.51.101.23\n203.0.113.9\n203.0.113.10\n`,
  ).records;
  expect(record).toMatchObject({
    title: 'Indicators of a group',
    isProse: true,
    classification: { malware: [{ name: 'LockBit' }] },
  });
  expect(record!.iocs.ipv4).toHaveLength(3);
});

test('has the headline of a text as its title', () => {
  const text = `2026-07-30 - Word documents with macros for Emotet\n\nThe following was seen:\n\n- ${sha256} a.doc\n- hxxp://bad-host[.]top/a\n\nThe end of it.\nAll was well.\nAnd so on.\n`;
  expect(parseList(text).records[0]!.title).toBe('2026-07-30 - Word documents with macros for Emotet');
});

test.each([
  ['<?xml version="1.0"?><ioc xmlns="http://schemas.example/ioc"><definition/></ioc>', /OpenIOC/],
  ['<?xml version="1.0"?><data><a/></data>', /is XML, not a list/],
])('says why it refuses %s', (text, reason) => {
  expect(() => parseList(text)).toThrow(reason);
});

test('reads addresses without a colon', () => {
  const { urls } = parseList('type,value\nurl,http//bad-host.top/a\nurl,https:/bad-host.top/b\n').records[0]!.iocs;
  expect(urls.map(({ normalizedValue }) => normalizedValue)).toEqual([
    'http://bad-host.top/a',
    'https://bad-host.top/b',
  ]);
});

test('reads the report of a list in a row of its own, and paths in another column', () => {
  const { records, skipped } = parseList(
    `indicator_type,data,additional_data,description\nsource,https://reports.example/1,,A report about a campaign\ndomain,bad-host[.]top,,A server\nfile,${sha256},,A loader\nrelated-file,,%PROGRAMDATA%\\a.exe,Where it is\nother,thing@1.14.1,npm package,Malicious version\n`,
  );
  expect(records).toMatchObject([
    { title: 'A report about a campaign', url: 'https://reports.example/1', classification: { mappings: [] } },
  ]);
  const { domains, hashes, files } = records[0]!.iocs;
  expect([...domains, ...hashes, ...files].map(({ normalizedValue }) => normalizedValue)).toEqual([
    'bad-host.top',
    sha256,
    String.raw`%PROGRAMDATA%\a.exe`,
  ]);
  expect(skipped).toEqual([{ entry: '2 rows', reason: 'contain no indicator' }]);
});

test('a sentence above values is no header', () => {
  expect(
    parseList('These IOCs were released with a report of ours.\n198.51.101.23\n203.0.113.9\n').records,
  ).toMatchObject([{ iocs: { ipv4: [{}, {}] } }]);
});
