import { expect, test } from 'vitest';
import { clickhouse } from './clickhouse.ts';
import {
  countByUser,
  eventsWithin,
  firstHours,
  standInLimits,
  startAndConnect,
  testHttpAdapter,
  type SiemStandInRequest,
  type SiemStandInReply,
} from '../../../../test/support/detection/siem/siem-stand-in.ts';

const failWith = (status: number, code: number, text: string): SiemStandInReply => ({
  status,
  headers: { 'x-clickhouse-exception-code': String(code), 'content-type': 'text/plain' },
  body: `Code: ${code}. DB::Exception: ${text} (version 24.8.4.13 (official build))`,
});
const parseTime = (text: string): Date => new Date(`${text.replace(' ', 'T')}Z`);
const table = (meta: [string, string][], data: object[]): SiemStandInReply => ({
  body: { meta: meta.map(([name, type]) => ({ name, type })), data, rows: data.length },
});

/** Responds like the HTTP interface of ClickHouse 24 with `format JSON` and plain 64-bit numbers. */
function respond({ url, headers, body }: SiemStandInRequest): SiemStandInReply {
  if (headers['x-clickhouse-key'] !== 'pw')
    return failWith(403, 516, 'soc: Authentication failed: password is incorrect');
  if (url.searchParams.get('readonly') !== '2') return failWith(500, 164, 'Cannot execute query in readonly mode');
  if (body.startsWith('select 1\n')) return table([['1', 'UInt8']], [{ 1: 1 }]);
  if (body.includes('system.columns')) return table([], [{ table: 'auth', name: 'user', type: 'String' }]);
  if (/SELECT FROM/.test(body)) return failWith(400, 62, 'Syntax error: failed at position 8 (FROM)');
  if (body.includes('usr'))
    return failWith(404, 47, 'Unknown expression identifier `usr` in scope SELECT usr FROM auth.');
  const isGroups = body.includes('GROUP BY');
  const names: [string, string][] = isGroups
    ? [
        ['user', 'String'],
        ['n', 'UInt64'],
      ]
    : [
        ['_id', 'String'],
        ['_time', "DateTime64(3, 'UTC')"],
        ['user', 'String'],
      ];
  if (body.startsWith('describe table'))
    return table(
      [],
      names.map(([name, type]) => ({ name, type })),
    );
  const [, from, to] =
    /\(ts >= toDateTime64\('([^']+)', 3, 'UTC'\) and ts < toDateTime64\('([^']+)', 3, 'UTC'\)\)/.exec(body)!;
  const seen = eventsWithin(parseTime(from!), parseTime(to!)).filter(() => !body.includes('nobody'));
  if (body.includes('count() as n from')) return table([['n', 'UInt64']], [{ n: seen.length }]);
  const limit = Number(/limit (\d+)\nformat JSON$/.exec(body)![1]);
  const rows = isGroups
    ? countByUser(seen).map(([user, n]) => ({ user, n }))
    : seen.map(({ id, at, user }) => ({ _id: id, _time: at.toISOString(), user }));
  return table(names, rows.slice(0, limit));
}

const credentials = { password: 'pw' };
const fixture = () =>
  startAndConnect(clickhouse, respond, {
    settings: (url) => ({ url, user: 'soc', timeColumn: 'ts', ingestColumn: 'stored_at' }),
    credentials,
  });

testHttpAdapter('clickhouse', () => fixture(), {
  all: 'SELECT _id, ts AS _time, user FROM auth WHERE $window;',
  groups: 'SELECT user, count() AS n FROM auth WHERE $window GROUP BY user',
  empty: "SELECT _id, ts AS _time, user FROM auth WHERE $window AND user = 'nobody' -- none",
  unknownField: 'SELECT usr FROM auth WHERE $window',
  broken: 'SELECT FROM auth WHERE $window',
});

const window = firstHours(4);
const limits = { ...standInLimits, rowsMax: 2 };
const { signal } = new AbortController();

test('returns integers as numbers and counts the rows of a truncated result', async () => {
  const { connection } = await fixture();
  const groups = await connection.search(
    'SELECT user, count() AS n FROM auth WHERE $window GROUP BY user',
    window,
    limits,
    signal,
  );
  expect(groups.rows).toEqual([
    { user: 'ada', n: 2 },
    { user: 'eve', n: 2 },
  ]);
  expect(
    await connection.search('SELECT _id, ts AS _time, user FROM auth WHERE $window', window, limits, signal),
  ).toMatchObject({ total: 4, truncated: true });
});

test('asks for plain integers, and keeps those beyond 2^53 exact, also inside of JSON columns', async () => {
  const answer = ({ url, body }: SiemStandInRequest): SiemStandInReply => {
    if (body.startsWith('describe')) return table([], [{ name: 'event', type: 'JSON' }]);
    const isQuoted = url.searchParams.get('output_format_json_quote_64bit_integers') !== '0';
    const integer = (digits: string): string => (isQuoted ? `"${digits}"` : digits);
    return {
      body: `{"meta": [], "data": [{"event": {"port": ${integer('443')}, "key": [${integer('9007199254740993')}]}}]}`,
    };
  };
  const settings = (url: string) => ({ url, timeColumn: 'ts' });
  const { standIn, connection } = await startAndConnect(clickhouse, answer, { settings, credentials });
  const { rows } = await connection.search('SELECT event FROM auth WHERE $window', window, limits, signal);
  expect(rows).toEqual([{ event: { port: 443, key: ['9007199254740993'] } }]);
  const { searchParams } = standIn.asked.at(-1)!.url;
  expect(searchParams.get('cancel_http_readonly_queries_on_client_close')).toBe('1');
});

test('classifies errors by their code, regardless of the status', async () => {
  const { standIn, connection } = await fixture();
  const readonly = "Cannot modify 'max_execution_time' setting in readonly mode";
  for (const [code, expected, text = 'as it is'] of [
    [164, { kind: 'query_not_allowed', blame: 'author' }],
    [164, { kind: 'rights_missing', blame: 'upstream', message: expect.stringContaining('readonly = 2') }, readonly],
    [194, { kind: 'credentials_refused', blame: 'upstream' }],
    [201, { kind: 'throttled', blame: 'upstream', retryable: true }],
    [243, { kind: 'unavailable', blame: 'upstream', retryable: true }],
    [241, { kind: 'throttled', blame: 'upstream', retryable: true }, 'Memory limit (total) exceeded'],
    [159, { kind: 'query_timeout', blame: 'author' }],
    [202, { kind: 'throttled', blame: 'upstream', retryable: true }],
    [241, { kind: 'query_memory', blame: 'author' }],
    [497, { kind: 'rights_missing', blame: 'upstream' }],
    [46, { kind: 'query_error', blame: 'author' }],
    ...[43, 53, 60, 386, 9999].map((code) => [code, { kind: 'query_error', dependsOnData: true }] as const),
  ] as const) {
    standIn.fail(failWith(500, code, text));
    const failure = await connection
      .search('SELECT 1 WHERE $window', window, limits, signal)
      .catch((error: { failure: object }) => error.failure);
    expect(failure).toMatchObject(expected);
  }
});
