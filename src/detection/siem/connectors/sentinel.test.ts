import { expect, test } from 'vitest';
import { sentinel } from './sentinel.ts';
import {
  countByUser,
  eventsWithin,
  firstAt,
  firstHours,
  standInLimits as limits,
  startAndConnect,
  testHttpAdapter,
  type SiemStandInRequest,
  type SiemStandInReply,
} from '../../../../test/support/detection/siem/siem-stand-in.ts';

const id = '01900000-0000-7000-8000-000000000001';
const failWith = (inner: object): SiemStandInReply => ({
  status: 400,
  body: { error: { message: 'The request had some invalid properties', code: 'BadArgumentError', innererror: inner } },
});
const table = (columns: [string, string][], rows: unknown[][]): SiemStandInReply => ({
  body: { tables: [{ name: 'PrimaryResult', columns: columns.map(([name, type]) => ({ name, type })), rows }] },
});

/** Responds like the identity platform and the query API. */
function respond({ url, headers, body }: SiemStandInRequest): SiemStandInReply {
  if (url.pathname.endsWith('/oauth2/v2.0/token')) {
    const form = new URLSearchParams(body);
    if (form.get('client_secret') !== 's1')
      return {
        status: 401,
        body: {
          error: 'invalid_client',
          error_description: 'AADSTS7000215: Invalid client secret provided.\nTrace ID: x',
        },
      };
    return { body: { token_type: 'Bearer', expires_in: 3599, access_token: 'a1' } };
  }
  if (headers.authorization !== 'Bearer a1')
    return { status: 403, body: { error: { code: 'InvalidAuthenticationToken', message: 'invalid' } } };
  if (url.pathname.endsWith('/metadata'))
    return { body: { tables: [{ name: 'SigninLogs', columns: [{ name: 'UserName', type: 'string' }] }] } };
  const { query } = JSON.parse(body) as { query: string };
  if (query === 'print 1') return table([['print_0', 'long']], [[1]]);
  if (query.includes('wehre'))
    return failWith({
      code: 'SyntaxError',
      message: 'A recognition error occurred in the query.',
      innererror: { code: 'SYN0002', message: "Query could not be parsed at 'wehre'" },
    });
  if (query.includes('UsrName'))
    return failWith({
      code: 'SemanticError',
      message: 'A semantic error occurred.',
      innererror: {
        code: 'SEM0100',
        message: "'where' operator: Failed to resolve column or scalar expression named 'UsrName'",
      },
    });
  const [, from, to] = /\(\S+ >= datetime\(([^)]+)\) and \S+ < datetime\(([^)]+)\)/.exec(query)!;
  const seen = eventsWithin(new Date(from!), new Date(to!)).filter(() => !query.includes('nobody'));
  const limit = Number(/\| take (\d+)$/.exec(query)![1]);
  if (query.includes('summarize'))
    return table(
      [
        ['UserName', 'string'],
        ['n', 'long'],
      ],
      countByUser(seen).slice(0, limit),
    );
  const rows = seen
    .map(({ at, user }) => [at.toISOString().replace('Z', '0000Z'), user, '{"country":"SE"}'])
    .toReversed();
  return table(
    [
      ['TimeGenerated', 'datetime'],
      ['UserName', 'string'],
      ['Location', 'dynamic'],
    ],
    rows.slice(0, limit),
  );
}

const fixture = (clock: 'event' | 'ingest' = 'event', clientSecret = 's1') =>
  startAndConnect(sentinel, respond, {
    settings: (url) => ({ tenantId: id, workspaceId: id, clientId: id, endpoint: url, authority: url }),
    credentials: { clientSecret },
    clock,
  });

testHttpAdapter('sentinel', () => fixture(), {
  all: 'SigninLogs\n| where $window // all of them',
  groups: 'SigninLogs | where $window | summarize n = count() by UserName',
  empty: 'SigninLogs | where $window and UserName == "nobody"',
  unknownField: 'SigninLogs | where $window and UsrName == "x"',
  broken: 'SigninLogs | wehre $window',
});

const window = firstHours(1, 'ingest');
const { signal } = new AbortController();

test('reuses a token, and puts the window on the ingestion time on clock ingest', async () => {
  const { standIn, connection } = await fixture('ingest');
  const { rows } = await connection.search('SigninLogs | where $window', window, limits, signal);
  await connection.search('SigninLogs | where $window', window, limits, signal);
  expect(rows).toEqual([{ TimeGenerated: firstAt.toISOString(), UserName: 'ada', Location: { country: 'SE' } }]);
  expect(standIn.asked.filter(({ url }) => url.pathname.endsWith('/token'))).toHaveLength(1);
  const sent = JSON.parse(standIn.asked.at(-1)!.body) as { query: string; timespan: string };
  expect(sent.query).toContain(`(ingestion_time() >= datetime(${firstAt.toISOString()})`);
  expect(sent.timespan.split('/').map((text) => new Date(text) < firstAt)).toEqual([true, false]);
});

test('reports a rejected secret without revealing it', async () => {
  const { connection } = await fixture('event', 'stolen');
  const failure = await connection.ping(signal).catch((error: { failure: { message: string } }) => error.failure);
  expect(failure).toMatchObject({ kind: 'credentials_refused', blame: 'upstream', retryable: false });
  expect(JSON.stringify(failure)).not.toContain('stolen');
});

test('fails on a partial result', async () => {
  const { standIn, connection } = await fixture();
  await connection.ping(signal);
  standIn.fail({
    body: {
      tables: [],
      error: { code: 'PartialError', message: 'There were some errors when processing your query.' },
    },
  });
  await expect(connection.search('T | where $window', window, limits, signal)).rejects.toMatchObject({
    failure: { kind: 'partial_answer' },
  });
});

test('renews a token that is rejected early', async () => {
  const { standIn, connection } = await fixture();
  await connection.ping(signal);
  standIn.failOnce({ status: 401 });
  await connection.ping(signal);
  expect(standIn.asked.filter(({ url }) => url.pathname.endsWith('/token'))).toHaveLength(2);
});

test('sends no timespan on clock event, so that a query may look back', async () => {
  const { standIn, connection } = await fixture();
  await connection.search('SigninLogs | where $window', { ...window, clock: 'event' }, limits, signal);
  expect(JSON.parse(standIn.asked.at(-1)!.body)).not.toHaveProperty('timespan');
});

test('returns integers beyond 2^53 as text, also in dynamic values', async () => {
  const { standIn, connection } = await fixture();
  await connection.ping(signal);
  const columns = [
    ['a', 'long'],
    ['b', 'dynamic'],
  ].map(([name, type]) => ({ name, type }));
  const rows = `[[9007199254740993, ${JSON.stringify('{"id":9007199254740993}')}]]`;
  standIn.fail({
    body: `{"tables": [{"name": "PrimaryResult", "columns": ${JSON.stringify(columns)}, "rows": ${rows}}]}`,
  });
  const found = await connection.search('T | where $window', window, limits, signal);
  expect(found.rows).toEqual([{ a: '9007199254740993', b: { id: '9007199254740993' } }]);
});
