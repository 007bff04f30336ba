import { expect, test } from 'vitest';
import { testConnectorConformance } from '../../../test/support/detection/connector-conformance.ts';
import { sentinel } from './sentinel.ts';
import {
  connectToStandIn,
  events,
  firstAt,
  testHttpFailures,
  startSiemStandIn,
  eventsWithin,
  type SiemStandInRequest,
  type SiemStandInReply,
} from '../../../test/support/detection/siem-stand-in.ts';

const id = '01900000-0000-7000-8000-000000000001';
const failed = (inner: object): SiemStandInReply => ({
  status: 400,
  body: { error: { message: 'The request had some invalid properties', code: 'BadArgumentError', innererror: inner } },
});
const table = (columns: [string, string][], rows: unknown[][]): SiemStandInReply => ({
  body: { tables: [{ name: 'PrimaryResult', columns: columns.map(([name, type]) => ({ name, type })), rows }] },
});

/** As the identity platform and the query API answer; both on one server. */
function answer({ url, headers, body }: SiemStandInRequest): SiemStandInReply {
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
    return failed({
      code: 'SyntaxError',
      message: 'A recognition error occurred in the query.',
      innererror: { code: 'SYN0002', message: "Query could not be parsed at 'wehre'" },
    });
  if (query.includes('UsrName'))
    return failed({
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
      Object.entries(Object.groupBy(seen, ({ user }) => user))
        .map(([user, list]) => [user, list!.length])
        .slice(0, limit),
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

async function fixture({
  clock = 'event',
  clientSecret = 's1',
}: { clock?: 'event' | 'ingest'; clientSecret?: string } = {}) {
  const standIn = await startSiemStandIn(answer);
  const settings = { tenantId: id, workspaceId: id, clientId: id, endpoint: standIn.url, authority: standIn.url };
  const connection = connectToStandIn(sentinel, { settings, credentials: { clientSecret }, clock });
  return { standIn, connection, query: 'SigninLogs | where $window' };
}

testConnectorConformance('sentinel', async () => ({
  connection: (await fixture()).connection,
  events: events.length,
  firstAt,
  queries: {
    all: 'SigninLogs\n| where $window // all of them',
    groups: 'SigninLogs | where $window | summarize n = count() by UserName',
    empty: 'SigninLogs | where $window and UserName == "nobody"',
    unknownField: 'SigninLogs | where $window and UsrName == "x"',
    broken: 'SigninLogs | wehre $window',
  },
}));
testHttpFailures('sentinel', () => fixture());

const window = { from: firstAt, to: new Date(firstAt.getTime() + 3_600_000), clock: 'ingest' as const };
const limits = { rowsMax: 10, groupsMax: 10, timeoutMs: 5_000 };
const signal = AbortSignal.timeout(30_000);

test('one token serves many queries; on the clock ingest the window is on the time of ingestion', async () => {
  const { standIn, connection } = await fixture({ clock: 'ingest' });
  const { rows } = await connection.search('SigninLogs | where $window', window, limits, signal);
  await connection.search('SigninLogs | where $window', window, limits, signal);
  expect(rows).toEqual([{ TimeGenerated: firstAt.toISOString(), UserName: 'ada', Location: { country: 'SE' } }]);
  expect(standIn.asked.filter(({ url }) => url.pathname.endsWith('/token'))).toHaveLength(1);
  const sent = JSON.parse(standIn.asked.at(-1)!.body) as { query: string; timespan: string };
  expect(sent.query).toContain(`(ingestion_time() >= datetime(${firstAt.toISOString()})`);
  expect(sent.timespan.split('/').map((text) => new Date(text) < firstAt)).toEqual([true, false]);
});

test('a secret that is refused is told as such, without it', async () => {
  const { connection } = await fixture({ clientSecret: 'stolen' });
  const failure = await connection.ping(signal).catch((error: { failure: { message: string } }) => error.failure);
  expect(failure).toMatchObject({ kind: 'credentials_refused', blame: 'upstream', retryable: false });
  expect(JSON.stringify(failure)).not.toContain('stolen');
});

test('an answer in part is no answer, one that is cut is asked for in smaller parts', async () => {
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

test('a token that is refused before its time is fetched anew', async () => {
  const { standIn, connection } = await fixture();
  await connection.ping(signal);
  standIn.failOnce({ status: 401 });
  await connection.ping(signal);
  expect(standIn.asked.filter(({ url }) => url.pathname.endsWith('/token'))).toHaveLength(2);
});

test('on event time a query may look back beside its window', async () => {
  const { standIn, connection } = await fixture();
  await connection.search('SigninLogs | where $window', { ...window, clock: 'event' }, limits, signal);
  expect(JSON.parse(standIn.asked.at(-1)!.body)).not.toHaveProperty('timespan');
});

test('whole numbers beyond what a number holds come as text, within dynamic values too', async () => {
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
