import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fieldsToSweep, isPlainValue, type SweepTarget } from './sweep-targets.ts';
import { buildSweepQuery, toSearchTerms } from './run-queries.ts';

const target = (kind: SweepTarget['kind'], type: string, value: string): SweepTarget => ({
  itemId: 'item',
  kind,
  type,
  value,
});
const terms = toSearchTerms([
  target('address', 'cidr', '91.92.240.0/23'),
  target('address', 'ipv4', '198.51.100.7'),
  target('domain', 'domain', 'evil.top'),
  target('domain', 'domain', 'co.uk'),
]);

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
  expect(fieldsToSweep({ dataset: 'logs', fields: [{ name }] })?.fields).toEqual([{ name, kind }]);
});

test.each(['user', 'zip', 'tip', 'user.name', 'ship_to', 'message', "ip' or '1'='1", '@timestamp', 'hashtag', 'curl'])(
  'does not search field %s',
  (name) => expect(fieldsToSweep({ dataset: 'logs', fields: [{ name }] })).toBeUndefined(),
);

const fields = [
  { name: 'src_ip', kind: 'address' as const },
  { name: 'domain', kind: 'domain' as const },
  { name: 'md5', kind: 'hash' as const },
];

const regexes = String.raw`^91[.]92[.]240[.]|^91[.]92[.]241[.]`;
test.each([
  [
    'local',
    `SELECT _id, _time, _event FROM "logs" WHERE lower(_event->>'$.src_ip') IN ('198.51.100.7') OR regexp_matches(lower(_event->>'$.src_ip'), '${regexes}') OR lower(_event->>'$.domain') IN ('evil.top', 'co.uk') OR regexp_matches(lower(_event->>'$.domain'), '[.]evil[.]top$')`,
  ],
  [
    'elasticsearch',
    'FROM logs | WHERE TO_LOWER(TO_STRING(src_ip)) IN ("198.51.100.7") OR (TO_LOWER(TO_STRING(src_ip)) LIKE "91.92.240.*" OR TO_LOWER(TO_STRING(src_ip)) LIKE "91.92.241.*") OR TO_LOWER(TO_STRING(domain)) IN ("evil.top", "co.uk") OR (TO_LOWER(TO_STRING(domain)) LIKE "*.evil.top")',
  ],
  [
    'opensearch',
    'source=logs | where $window and (lower(cast(`src_ip` as string)) in ("198.51.100.7") or (like(lower(cast(`src_ip` as string)), "91.92.240.%") or like(lower(cast(`src_ip` as string)), "91.92.241.%")) or lower(cast(`domain` as string)) in ("evil.top", "co.uk") or (like(lower(cast(`domain` as string)), "%.evil.top")))',
  ],
  [
    'splunk',
    'search index=logs (src_ip IN ("198.51.100.7") OR src_ip IN ("91.92.240.*", "91.92.241.*") OR domain IN ("evil.top", "co.uk") OR domain IN ("*.evil.top"))',
  ],
  [
    'sentinel',
    `logs | where $window | where tostring(src_ip) in~ ("198.51.100.7") or tostring(src_ip) matches regex "(?i)${regexes}" or tostring(domain) in~ ("evil.top", "co.uk") or tostring(domain) matches regex "(?i)[.]evil[.]top$"`,
  ],
  [
    'clickhouse',
    `SELECT * FROM \`logs\` WHERE $window AND (lower(toString(\`src_ip\`)) IN ('198.51.100.7') OR match(lower(toString(\`src_ip\`)), '${regexes}') OR lower(toString(\`domain\`)) IN ('evil.top', 'co.uk') OR match(lower(toString(\`domain\`)), '[.]evil[.]top$'))`,
  ],
] as const)('builds a query for %s', (kind, query) => {
  expect(buildSweepQuery(kind, { dataset: 'logs', fields }, terms)).toBe(query);
});

test('accepts no value that could end a quoted string or act as a wildcard', () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      fc.pre(isPlainValue(value));
      expect(/['"\\`|[\]{}<>\s$*^]/.test(value)).toBe(false);
    }),
  );
});
