import { BlockList } from 'node:net';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { expect, test, afterAll, beforeAll } from 'vitest';
import { openSampleEngine, type SampleEngine } from '../../../demo/sample-engine.ts';
import { addressFunctionsSql } from './added-functions.ts';

const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
for (const statement of addressFunctionsSql) await connection.run(statement);

async function match(pairs: [ip: string | null, cidr: string | null][]): Promise<(boolean | null)[]> {
  const text = (value: string | null): string => (value === null ? 'NULL' : `'${value.replaceAll("'", "''")}'`);
  const rows = pairs.map(([ip, cidr], index) => `(${index}, ${text(ip)}, ${text(cidr)})`).join(', ');
  const query = `SELECT cidr_match(ip, cidr) FROM (VALUES ${rows}) AS t(n, ip, cidr) ORDER BY n`;
  return (await connection.runAndReadAll(query)).getRows().map(([value]) => value as boolean | null);
}

const table: [string | null, string | null, boolean | null][] = [
  ['10.1.2.3', '10.0.0.0/8', true],
  ['11.1.2.3', '10.0.0.0/8', false],
  ['10.1.2.3', '10.255.255.255/8', true],
  ['192.168.1.130', '192.168.1.128/25', true],
  ['192.168.1.127', '192.168.1.128/25', false],
  ['10.0.0.1', '10.0.0.1', true],
  ['10.0.0.1', '10.0.0.1/32', true],
  ['10.0.0.2', '10.0.0.1/32', false],
  ['255.255.255.255', '0.0.0.0/0', true],
  ['2001:db8::1', '2001:db8::/32', true],
  ['2001:DB8:0:0:0:0:0:1', '2001:db8::/32', true],
  ['2001:db9::1', '2001:db8::/32', false],
  ['2001:db8::', '2001:db8::/33', true],
  ['2001:db8:8000::', '2001:db8::/33', false],
  ['::1', '::1', true],
  ['::', '::/128', true],
  ['fe80::1%eth0', 'fe80::/10', true],
  ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0/128', true],
  ['::ffff:10.1.2.3', '10.0.0.0/8', true],
  ['::ffff:a01:203', '10.0.0.0/8', true],
  ['10.1.2.3', '::ffff:10.0.0.0/104', true],
  ['64:ff9b::10.1.2.3', '64:ff9b::/96', true],
  ['10.1.2.3', '::/0', false],
  ['::ffff:10.1.2.3', '::/0', true],
  ['2001:db8::1', '0.0.0.0/0', false],
  [null, '10.0.0.0/8', null],
  ['10.1.2.3', null, null],
];
const malformed = ['', ' 10.1.2.3', '10.1.2', '10.1.2.3.4', '10.1.2.256', '010.1.2.3', '10.1.2.3\n', 'none', '1::2::3', ':::', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '12345::', 'g::', '::1.2.3', '1:2:3:4:5:6:7:8::', ':1:2:3:4:5:6:7', '::10.0.0.1:1', '%', '::%', '[::1]', '10.0.0.1:80', '٣.1.1.1']; // prettier-ignore
const malformedNetworks = ['', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0.0/', '/8', '::/129', 'x/8', '10.0.0.0/ 8', '10.0.0.0/8.0', '10.0.0.0/99999999999999999999']; // prettier-ignore

test('matches addresses with networks, and returns null for malformed text', async () => {
  expect(await match(table.map(([ip, cidr]) => [ip, cidr]))).toEqual(table.map(([, , expected]) => expected));
  const addresses = malformed.filter((text) => text !== '::%');
  expect(await match(addresses.map((ip) => [ip, '10.0.0.0/8']))).toEqual(addresses.map(() => null));
  expect(await match(malformedNetworks.map((cidr) => ['10.1.2.3', cidr]))).toEqual(malformedNetworks.map(() => null));
});

test('agrees with Node.js on random addresses and networks', async () => {
  const v4 = fc.ipV4();
  const v6 = fc.ipV6().filter((text) => !text.includes('%'));
  const pair = fc.oneof(
    fc.tuple(v4, v4, fc.nat(32), fc.constant('ipv4' as const)),
    fc.tuple(v6, v6, fc.nat(128), fc.constant('ipv6' as const)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(pair, { minLength: 50, maxLength: 50 }), async (pairs) => {
      const expected = pairs.map(([ip, base, bits, family]) => {
        const list = new BlockList();
        list.addSubnet(base, bits, family);
        return list.check(ip, family);
      });
      expect(await match(pairs.map(([ip, base, bits]) => [ip, `${base}/${bits}`]))).toEqual(expected);
    }),
    { numRuns: 20 },
  );
});

const id = (name: string) => ({ eventID: name, '@timestamp': '2030-01-07T10:00:00.000Z' });
const image = 'C:\\Windows\\System32\\cmd.exe';

/** One process start in every shape that `winlog` reads. */
const shapes: Record<string, Record<string, unknown>> = {
  'flat Sysmon': { EventID: 1, Computer: 'A', Image: image, User: 'X\\u' },
  'flat Security 4688': { EventID: '1', Hostname: 'A', NewProcessName: image, SubjectUserName: 'X\\u', User: '-' },
  Winlogbeat: { winlog: { event_id: 1, computer_name: 'A', event_data: { Image: image, User: 'X\\u' } } },
  'Winlogbeat with ECS names': {
    event: { code: '1' },
    host: { name: 'A' },
    process: { executable: image },
    user: { name: 'X\\u' },
  },
  'EVTX as JSON': {
    Event: { System: { EventID: { '#text': 1 }, Computer: 'A' }, EventData: { Image: image, User: 'X\\u' } },
  },
  'EVTX without a root': {
    System: { EventID: 1, Computer: 'A' },
    EventData: { NewProcessName: image, SubjectUserName: 'X\\u' },
  },
};

let engine: SampleEngine;
beforeAll(async () => {
  const events = Object.entries(shapes).map(([name, event]) => ({
    dataset: 'windows',
    event: { ...event, ...id(name) },
  }));
  engine = await openSampleEngine(events);
});
afterAll(() => engine.close());

test.each(Object.keys(shapes))('reads fields of %s', async (name) => {
  const rows = await engine.run(
    `SELECT winlog(_event, 'Image') AS image, winlog(_event, 'User') AS u, winlog(_event, 'Computer') AS host,
            winlog(_event, 'EventID') AS id, winlog(_event, 'TargetImage') AS missing FROM windows WHERE _id = '${name}'`,
  );
  expect(rows).toMatchObject([{ image, u: 'X\\u', host: 'A', missing: null }]);
  expect(String(rows[0]!['id'])).toContain('1');
});

test.each([
  ['vssadmin delete', 'vssadmin delete'],
  ['"C:\\a b\\x.exe" -enc', '"C:\\a b\\x.exe" -enc'],
  ['vss""admin d^el', 'vss""admin d^el vssadmin del'],
  ['vss"a"dmin', 'vss"a"dmin vssadmin'],
  ['x \u2013enc \u2014a \u2015b `c', 'x \u2013enc \u2014a \u2015b `c x -enc -a -b c'],
])('reads the command %s without what hides its words', async (command, plain) => {
  const rows = await engine.run(
    `SELECT plain_command('${command}') AS plain, plain_command(NULL) AS missing FROM windows LIMIT 1`,
  );
  expect(rows).toMatchObject([{ plain, missing: null }]);
});
