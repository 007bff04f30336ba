import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dataDir } from '../../../../test/support/data.ts';
import { checkPassages, parseList } from '../../../../test/support/feed/csv-lists.ts';
import { expectLinearTime, repeated } from '../../../../test/support/linear-time.ts';
import { buckets } from '../../model/vocabulary.ts';

const hosts = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}.bad.top`);
const valuesOf = (text: string | Buffer): string[] => {
  const parsed = parseList(text);
  checkPassages(parsed);
  return parsed.records.flatMap(({ iocs }) => buckets.flatMap((bucket) => iocs[bucket].map(({ value }) => value)));
};

describe('wide rows', () => {
  test.each([
    ['a cell', (all: string[]) => `actor,domains\nFoo,"${all.join('; ')}"\n`],
    ['an array', (all: string[]) => JSON.stringify([{ actor: 'Foo', domains: all }])],
    ['a line', (all: string[]) => all.join(',')],
  ])('reads a thousand values in %s', (_name, write) => {
    const all = hosts('wide', 1_000);
    expect(valuesOf(write(all))).toEqual(all);
  });

  test('repeats what holds for the row beside each group of values', () => {
    const [domains, addresses] = [hosts('with', 250), Array.from({ length: 120 }, (_, index) => `45.183.7.${index}`)];
    const { records } = parseList(JSON.stringify([{ actor: 'APT29', confidence: 90, domains, ips: addresses }]));
    const { iocs, classification, storedText } = records[0]!;
    expect([iocs.domains.length, iocs.ipv4.length]).toEqual([250, 120]);
    expect(iocs.domains.at(-1)).toMatchObject({ value: domains.at(-1), confidence: 0.9 });
    expect(classification.actor).toMatchObject([{ name: 'APT29' }]);
    expect(storedText.match(/45\.183\.7\.9\b/g)).toHaveLength(1);
  });

  test('keeps a value behind a long remark, and the beginning of the remark', () => {
    const { records } = parseList(`ip,comment,domain\n45.183.1.1,"${'remark '.repeat(2_000)}",late.bad.top\n`);
    expect(records[0]!.iocs).toMatchObject({ ipv4: [{ value: '45.183.1.1' }], domains: [{ value: 'late.bad.top' }] });
    expect(records[0]!.storedText.length).toBeLessThan(1_000);
  });

  test('keeps an address longer than a passage of other rows, and blanks in a file name', () => {
    const long = `http://long.bad.top/${'a'.repeat(5_000)}`;
    expect(valuesOf(`${long}\nshort.bad.top\n`)).toEqual(['short.bad.top', long]);
    expect(valuesOf('type,value\nfilename,two  blanks.exe\ndomain,x.bad.top\n')).toEqual([
      'x.bad.top',
      'two  blanks.exe',
    ]);
  });
});

describe('damaged lists', () => {
  test('reads the rows after a quote that is never closed', () =>
    expect(valuesOf('url,tag\n"http://a.bad.top/x,one\nhttp://b.bad.top/y,two\n')).toEqual([
      'http://a.bad.top/x',
      'http://b.bad.top/y',
    ]));

  test('reads the lines around one that is no JSON, and counts it', () => {
    const parsed = parseList('{"ip":"45.183.2.1"}\n{"ip":"45.1\n{"ip":"45.183.2.3"}\n');
    expect(parsed.records[0]!.iocs.ipv4.map(({ value }) => value)).toEqual(['45.183.2.1', '45.183.2.3']);
    expect(parsed.skipped).toEqual([{ entry: '1 rows', reason: 'contain no indicator' }]);
  });

  test.each(['utf16le', 'utf16be'])('reads %s without a byte order mark', (encoding) => {
    const bytes = Buffer.from('ip,malware\r\n45.183.3.1,Foo\r\n', 'utf16le');
    expect(valuesOf(encoding === 'utf16le' ? bytes : bytes.swap16())).toEqual(['45.183.3.1']);
  });
});

test('splits a list of 40,000 lines into items that are built one by one', () => {
  const address = (index: number): string => `45.${Math.floor(index / 65_536)}.${(index >> 8) % 256}.${index % 256}`;
  const lines = Array.from({ length: 40_000 }, (_, index) => address(index));
  const { records, skipped } = parseList(lines.join('\n'));
  expect(skipped).toEqual([]);
  expect(records.reduce((sum, { iocs }) => sum + iocs.ipv4.length, 0)).toBe(40_000);
  expect(records).toHaveLength(512);
});

test('takes linear time for a cell of blanks', () =>
  expectLinearTime(
    repeated(' ', 'ip,comment\n45.183.1.1,"a', 'b"\n'),
    (text) => expect(valuesOf(text)).toEqual(['45.183.1.1']),
    100_000,
  ));

test('reads comments of any length in linear time', () =>
  expectLinearTime(
    repeated(' ', '# ', 'x\n# Mimikatz\nevil-host.top\n'),
    (text) => {
      const { records } = parseList(text, 'list.txt');
      expect(records[0]!.classification.malware).toMatchObject([{ name: 'Mimikatz' }]);
    },
    100_000,
  ));
describe('lists whose first row is odd', () => {
  const data = dataDir();

  test.skipIf(!data)('reads every host below a header in a comment', () => {
    const text = readFileSync(join(data!, 'cases/list-header.csv'), 'utf8');
    const [ns1, ns2] = ['ns1.quillpanel-sync.top', 'ns2.quillpanel-sync.top'];
    for (const form of [text, text.split('\n').slice(1).join('\n'), text.slice(1)])
      expect(valuesOf(form)).toEqual([ns1, ns2, 'quillpanel-y1.top', 'quillpanel-y2.top']);
  });

  test.each([
    ['a title above the header', 'Indicators of a campaign,,\nsha256,malware,note\n', '%,Remcos,x\n', 1],
    ['a short first row', 'a remark\n', 'x,%\n', 1],
    ['names that say nothing', 'a,domain,z\n', '%,a remark,x\n', 0],
  ])('reads the rows below %s', (_name, start, row, skippedRows) => {
    const values = Array.from({ length: 5 }, (_, index) => `${index}`.repeat(64));
    const parsed = parseList(start + values.map((value) => row.replace('%', value)).join(''));
    expect(parsed.records.flatMap(({ iocs }) => iocs.hashes.map(({ value }) => value))).toEqual(values);
    expect(parsed.skipped).toEqual(
      skippedRows === 0 ? [] : [{ entry: `${skippedRows} rows`, reason: 'contain no indicator' }],
    );
  });

  test('reports rows whose columns do not contain what they are named for', () => {
    expect(parseList('domain,note\nnot a domain,x\nanother remark,y\nbad.top,z\n').skipped).toEqual([
      { entry: '2 rows', reason: 'contain no indicator, only text that is not what its column is named for' },
    ]);
  });
});
