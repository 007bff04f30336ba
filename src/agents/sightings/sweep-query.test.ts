import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fieldsToSweep } from './sighting-fields.ts';
import { isPlainValue, buildSweepQuery, type SweepValues } from './sweep-query.ts';

const values: SweepValues = { address: ['198.51.100.7'], domain: ['evil.example', 'bad.example'], hash: [], url: [] };

test.each([
  ['source.ip', 'address'],
  ['sourceIPAddress', 'address'],
  ['DestinationIp', 'address'],
  ['dst_ip', 'address'],
  ['srcaddr', 'address'],
  ['dns.question.name', 'domain'],
  ['QueryName', 'domain'],
  ['url.domain', 'domain'],
  ['file.hash.sha256', 'hash'],
  ['md5', 'hash'],
  ['url.full', 'url'],
  ['request_uri', 'url'],
])('searches field %s for values of kind %s', (name, kind) => {
  expect(fieldsToSweep({ dataset: 'logs', fields: [{ name, type: 'text' }] })?.fields).toEqual([{ name, kind }]);
});

test.each(['user', 'zip', 'tip', 'user.name', 'ship_to', 'message', "ip' or '1'='1", '@timestamp', 'hashtag', 'curl'])(
  'does not search field %s',
  (name) => expect(fieldsToSweep({ dataset: 'logs', fields: [{ name, type: 'text' }] })).toBeUndefined(),
);

const fields = [
  { name: 'src_ip', kind: 'address' as const },
  { name: 'domain', kind: 'domain' as const },
  { name: 'md5', kind: 'hash' as const },
];

test.each([
  [
    'local',
    `SELECT _id, _time, _event FROM "logs" WHERE lower(_event->>'$.src_ip') IN ('198.51.100.7') OR lower(_event->>'$.domain') IN ('evil.example', 'bad.example')`,
  ],
  [
    'elasticsearch',
    'FROM logs | WHERE TO_LOWER(TO_STRING(src_ip)) IN ("198.51.100.7") OR TO_LOWER(TO_STRING(domain)) IN ("evil.example", "bad.example")',
  ],
  ['splunk', 'search index=logs (src_ip IN ("198.51.100.7") OR domain IN ("evil.example", "bad.example"))'],
  [
    'sentinel',
    'logs | where $window | where tostring(src_ip) in~ ("198.51.100.7") or tostring(domain) in~ ("evil.example", "bad.example")',
  ],
  [
    'clickhouse',
    "SELECT * FROM `logs` WHERE $window AND (lower(toString(`src_ip`)) IN ('198.51.100.7') OR lower(toString(`domain`)) IN ('evil.example', 'bad.example'))",
  ],
] as const)('builds a query for %s', (kind, query) => {
  expect(buildSweepQuery(kind, { dataset: 'logs', fields }, values)).toBe(query);
});

test('accepts no value that could end a quoted string or act as a wildcard', () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      fc.pre(isPlainValue(value));
      expect(/['"\\`|[\]{}<>\s$*^]/.test(value)).toBe(false);
    }),
  );
});
