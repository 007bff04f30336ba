import { zipSync } from 'fflate';
import { describe, expect, test } from 'vitest';
import { createFetchSession, type FetchBounds, type FetchSessionResult } from '../fetch-session.ts';
import type { ParseResult } from '../source-format.ts';
import { osvRecord } from '../../../../test/support/feed/osv-documents.ts';
import { serverOfTests } from '../../../../test/support/feed/source-server.ts';
import { osv } from './osv.ts';
import { expectLinearTime, repeated } from '../../../../test/support/linear-time.ts';

const server = await serverOfTests();

const parse = (...contents: (object | string | Buffer)[]): ParseResult =>
  osv.parse(
    contents.map((content, index) => ({
      name: `part-${index}`,
      bytes: Buffer.isBuffer(content)
        ? content
        : Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
    })),
    { reliability: 0.8 },
  );
const zip = (files: Record<string, string | Buffer>): Buffer =>
  Buffer.from(zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, Buffer.from(text)]))));

test('reads identity, score, products and mappings', () => {
  const [record] = parse(osvRecord('PYSEC-2024-1')).records;
  expect(record).toMatchObject({
    recordId: 'PYSEC-2024-1',
    canonicalKey: 'cve:CVE-2024-1001',
    publisher: 'Python Packaging Advisory Database',
    url: 'https://advisories.example/PYSEC-2024-1',
    severity: 'critical',
    severityRule: 'cvss:3.1',
    withdrawn: false,
    affectedProducts: [{ vendor: 'PyPI', product: 'thing', versions: ['< 1.2'], confidence: 0.8 }],
  });
  expect(record!.classification.mappings.map(({ framework, id }) => `${framework} ${id}`)).toEqual([
    'cve CVE-2024-1001',
    'observable:advisory PYSEC-2024-1',
    'observable:advisory GHSA-aaaa-bbbb-24-1',
    'cwe CWE-125',
  ]);
  expect(record!.storedText).toContain('\naffected[0].ranges[0].events[1].fixed: 1.2\n');
});

test.each([
  ['its own id', 'CVE-2024-5555', [], 'cve:CVE-2024-5555'],
  ['one CVE', 'GO-2024-1', ['CVE-2024-7777', 'GHSA-x'], 'cve:CVE-2024-7777'],
  ['two', 'GO-2024-1', ['CVE-2024-7777', 'CVE-2024-8888'], 'adv:go:GO-2024-1'],
  ['none', 'MAL-2024-1', [], 'adv:mal:MAL-2024-1'],
])('derives the key from a single CVE or the own id: %s', (_name, id, aliases, key) => {
  expect(parse(osvRecord(id, { aliases })).records[0]!.canonicalKey).toBe(key);
});

test.each([
  [[{ introduced: '0' }], ['*']],
  [[{ introduced: '1.0' }, { last_affected: '1.9' }], ['>= 1.0, <= 1.9']],
  [
    [{ introduced: '1.0' }, { fixed: '1.1' }, { introduced: '2.0' }],
    ['>= 1.0, < 1.1', '>= 2.0'],
  ],
  [[], ['1.0', '1.10']],
])('reads version ranges %j', (events, versions) => {
  const affected = [
    { package: { ecosystem: 'npm', name: 'x' }, ranges: [{ type: 'SEMVER', events }], versions: ['1.0', '1.10'] },
  ];
  expect(parse(osvRecord('GO-2024-1', { affected })).records[0]!.affectedProducts[0]!.versions).toEqual(versions);
});

test('links to the record of its own database, and summarizes Markdown', () => {
  const references = [
    { type: 'ADVISORY', url: 'https://other.example/CVE-2024-1001' },
    { type: 'WEB', url: 'https://code.example/advisories/GHSA-AAAA-BBBB-2401' },
  ];
  const details = '### Impact\nThing reads **too far**.\n\n### Patches\nUpdate to [1.2](https://code.example/1.2).';
  const [record] = parse(osvRecord('GHSA-aaaa-bbbb-2401', { references, details })).records;
  expect(record).toMatchObject({
    url: 'https://code.example/advisories/GHSA-AAAA-BBBB-2401',
    summary: 'Thing reads too far. Update to 1.2.',
    abstract: details,
  });
  const [own] = parse(
    osvRecord('GO-2024-1', { database_specific: { url: 'https://vulns.example/GO-2024-1' }, references }),
  ).records;
  expect(own!.url).toBe('https://vulns.example/GO-2024-1');
});

test('prefers the newest CVSS version, then the severity of the database, then the text', () => {
  const severity = [
    { type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' },
    { type: 'CVSS_V4', score: 'CVSS:4.0/AV:P/AC:H/AT:P/PR:H/UI:A/VC:L/VI:N/VA:N/SC:N/SI:N/SA:N' },
  ];
  const judged = (more: object) => {
    const [record] = parse(osvRecord('GO-2024-1', more)).records;
    return [record!.severity, record!.severityRule];
  };
  expect(judged({ severity })).toEqual(['low', 'cvss:4.0']);
  expect(judged({ severity: [], database_specific: { severity: 'MODERATE' } })).toEqual(['medium', 'source']);
  expect(judged({ severity: [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N' }], database_specific: {} })).toEqual([
    'none',
    'none',
  ]);
});

test('reads YAML versions as text and detects withdrawn records', () => {
  const yaml = `id: PYSEC-2020-1\nmodified: 2023-06-22T16:29:43Z\nwithdrawn: 2023-05-30T03:49:00Z\ndetails: A flaw\naffected:\n- package: {name: a, ecosystem: PyPI}\n  versions: [1.10, 2]\n`;
  const [record] = parse(yaml).records;
  expect(record).toMatchObject({ withdrawn: true, affectedProducts: [{ versions: ['1.10', '2'] }] });
});

test('reads a zip archive, ignores paths and skips a damaged entry', () => {
  const { records, skipped } = parse(
    zip({
      '../../etc/PYSEC-2024-1.json': JSON.stringify(osvRecord('PYSEC-2024-1')),
      'deep/PYSEC-2024-2.yaml': 'id: PYSEC-2024-2\nmodified: 2024-01-01T00:00:00Z\n',
      'broken.json': '{',
      'readme.md': 'no record',
    }),
  );
  expect(records.map(({ recordId }) => recordId)).toEqual(['PYSEC-2024-1', 'PYSEC-2024-2']);
  expect(skipped).toEqual([{ entry: 'broken.json', reason: 'the document is not valid JSON' }]);
});

test('rejects malicious archives and documents', async () => {
  const bomb = zip({ 'a.json': Buffer.alloc(9_000_000, 32) });
  expect(bomb.length).toBeLessThan(100_000);
  expect(() => parse(bomb)).toThrow(/larger than/);
  // An archive with a false size is cut off at the declared size.
  const liar = Buffer.from(bomb);
  liar.writeUInt32LE(100, liar.indexOf(Buffer.from('504b0102', 'hex')) + 24);
  expect(() => parse(liar)).toThrow(/neither JSON nor YAML|not an OSV record|not valid JSON/);
  expect(() => parse(bomb.subarray(0, bomb.length - 30))).toThrow(/cannot be unpacked/);
  const laughs = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefghij'.replaceAll(/./g, (name) => `${name}: &${name} [${`*${String.fromCodePoint(name.codePointAt(0)! - 1)},`.repeat(9)}]\n`)}`;
  expect(() => parse(laughs)).toThrow(/neither JSON nor YAML/);
  const rejectAs = (reason: RegExp) => (text: string) => expect(() => parse(text)).toThrow(reason);
  await expectLinearTime(repeated('['), rejectAs(/not valid JSON/), 50_000);
  for (const piece of ['[', '{', '- ', '? ', 'a: {'])
    await expectLinearTime(repeated(piece, 'id:\n '), rejectAs(/nested deeper than 64/), 16_000);
  const deep = `{"id":"GO-2024-1","modified":"2024-01-01T00:00:00Z","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  expect(parse(deep).records[0]!.storedText).toContain('nested too deep');
});

describe('an index', () => {
  const collect = (path: string, cursor?: unknown, bounds: Partial<FetchBounds> = {}): Promise<FetchSessionResult> =>
    osv.fetch!(
      createFetchSession({
        url: `${server.base}${path}`,
        cursor: cursor === undefined ? undefined : JSON.parse(JSON.stringify(cursor)),
        now: new Date(),
        allow: ['127.0.0.1'],
        digest: async () => undefined,
        bounds,
      }),
    ) as Promise<FetchSessionResult>;
  const names = ({ parts }: FetchSessionResult): string[] => parts.map(({ name }) => name);
  const record = (path: string) =>
    server.document(`${path}.json`, JSON.stringify(osvRecord(decodeURIComponent(path.split('/').at(-1)!))));
  const minute = (n: number): string => new Date(Date.UTC(2024, 0, 1, 0, n)).toISOString();
  const row = (n: number): string => `${minute(n)},PYSEC-2024-${n}`;
  /** Rows of the minutes `from` to `to`, the newest first. */
  const rows = (from: number, to: number): string[] => Array.from({ length: to - from + 1 }, (_, n) => row(to - n));

  test('fetches changed records of one or all ecosystems, the oldest first', async () => {
    for (const path of ['/PyPI/PYSEC-2024-1', '/PyPI/PYSEC-2024-2', '/Rocky%20Linux/RLSA-2024%3A3']) record(path);
    server.document('/PyPI/modified_id.csv', '2024-01-02T00:00:00Z,PYSEC-2024-2\n2024-01-01T00:00:00Z,PYSEC-2024-1\n');
    const first = await collect('/PyPI/modified_id.csv');
    expect(names(first)).toEqual(['PYSEC-2024-1', 'PYSEC-2024-2']);
    server.document('/PyPI/modified_id.csv', '2024-01-03T00:00:00Z,PYSEC-2024-1\n2024-01-02T00:00:00Z,PYSEC-2024-2\n');
    const second = await collect('/PyPI/modified_id.csv', first.cursor);
    expect([names(second), second.unchanged]).toEqual([['PYSEC-2024-1'], 1]);
    server.asked.length = 0;
    expect(await collect('/PyPI/modified_id.csv', second.cursor)).toMatchObject({ parts: [], unchanged: 2 });
    expect(server.asked.map(({ headers }) => typeof headers['if-none-match'])).toEqual(['string']);
    server.document(
      '/modified_id.csv',
      ['2024-01-03T00:00:00Z,PyPI/PYSEC-2024-1', '2024-01-02T00:00:00Z,Rocky Linux/RLSA-2024:3'].join('\n'),
    );
    const { records } = osv.parse((await collect('/modified_id.csv')).parts, { reliability: 0.8 });
    expect(records.map(({ textUrl }) => textUrl)).toEqual([
      `${server.base}/Rocky%20Linux/RLSA-2024%3A3.json`,
      `${server.base}/PyPI/PYSEC-2024-1.json`,
    ]);
  });

  test('serves several pulls with one scan of a large index', async () => {
    for (let n = 1; n <= 9; n += 1) record(`/PYSEC-2024-${n}`);
    // All but the first rows are older than the remembered ones.
    const floor = `${minute(0)} PYSEC-2024-0`;
    const old = Array.from({ length: 150_000 }, (_, n) => `2023-01-01T00:00:00Z,GO-2023-${n}`);
    server.document('/i.csv', [...rows(1, 9), ...old].join('\n'));
    const pulls: FetchSessionResult[] = [];
    for (let pull = 0; pull < 4; pull += 1)
      pulls.push(await collect('/i.csv', pulls.at(-1)?.cursor ?? { floor }, { documentsMax: 4 }));
    expect(pulls.map(names)).toEqual([
      ['PYSEC-2024-1', 'PYSEC-2024-2', 'PYSEC-2024-3'],
      ['PYSEC-2024-4', 'PYSEC-2024-5', 'PYSEC-2024-6', 'PYSEC-2024-7'],
      ['PYSEC-2024-8', 'PYSEC-2024-9'],
      [],
    ]);
    expect(pulls.map(({ more }) => more)).toEqual([true, true, true, false]);
    expect(server.asked.filter(({ path }) => path === '/i.csv')).toHaveLength(2);
  });

  test('fetches late rows, retries failures and limits the remembered rows', async () => {
    const held = Object.fromEntries(
      rows(1, 60_000)
        .filter((one) => one !== row(30_000))
        .map((one) => one.split(',').toReversed() as [string, string]),
    );
    server.document('/i.csv', rows(1, 60_001).join('\n'));
    record('/PYSEC-2024-60001');
    const first = await collect('/i.csv', { seen: held });
    expect([names(first), first.skipped.map(({ entry }) => entry)]).toEqual([
      ['PYSEC-2024-60001'],
      ['PYSEC-2024-30000'],
    ]);
    const cursor = first.cursor as { seen: Record<string, string>; floor: string };
    expect([Object.keys(cursor.seen).length, cursor.floor]).toEqual([50_000, `${minute(10_000)} PYSEC-2024-10000`]);
    record('/PYSEC-2024-30000');
    expect(names(await collect('/i.csv', cursor))).toEqual(['PYSEC-2024-30000']);
  });

  test('stops the download at the first known rows if the newest come first', async () => {
    let sent = 0;
    server.routes.set('/i.csv', (response) => {
      response.write(`${rows(1, 200).join('\n')}\n`);
      const timer = setInterval(() => response.write(`${rows(-2_000, 0).join('\n')}\n`, () => (sent += 1)), 1);
      response.on('close', () => clearInterval(timer));
    });
    for (let n = 198; n <= 200; n += 1) record(`/PYSEC-2024-${n}`);
    const seen = Object.fromEntries(rows(51, 197).map((one) => one.split(',').toReversed() as [string, string]));
    const found = await collect('/i.csv', { seen, floor: row(50).replace(',', ' ') });
    const read = ['PYSEC-2024-198', 'PYSEC-2024-199', 'PYSEC-2024-200'];
    expect([names(found), found.skipped, found.more]).toEqual([read, [], false]);
    expect(sent).toBeLessThan(50);
  });

  test('scans an unsorted index to its end', async () => {
    server.document('/i.csv', rows(1, 5).toReversed().join('\n'));
    for (let n = 3; n <= 5; n += 1) record(`/PYSEC-2024-${n}`);
    expect(names(await collect('/i.csv', { floor: row(2).replace(',', ' ') }))).toHaveLength(3);
  });

  test('rejects an index without rows', async () => {
    server.document('/none.csv', 'name,value\n');
    await expect(collect('/none.csv')).rejects.toThrow('no row with a time and an id');
    server.document('/none.csv', 'x'.repeat(100_000));
    await expect(collect('/none.csv')).rejects.toThrow('no row with a time and an id');
  });
});

test.each([
  ['https://code.example/acme/thing.git', [['acme', 'thing', ['1.0']]]],
  ['https://git.acme.example/git/thing.git', [['', 'thing', ['1.0']]]],
  ['not an address', []],
])('reads the product of an entry without a package from its repository: %s', (repo, products) => {
  const ranges = [{ type: 'GIT', repo, events: [{ introduced: '0' }, { fixed: 'a101f4f12180' }] }];
  const [record] = parse(osvRecord('CVE-2024-5', { affected: [{ ranges, versions: ['1.0'] }] })).records;
  expect(record!.affectedProducts.map(({ vendor, product, versions }) => [vendor, product, versions])).toEqual(
    products,
  );
});
