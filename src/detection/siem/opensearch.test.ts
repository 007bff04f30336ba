import { expect, test } from 'vitest';
import { testConnectorConformance } from '../../../test/support/detection/connector-conformance.ts';
import { opensearch } from './opensearch.ts';
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

const failed = (status: number, type: string, details: string): SiemStandInReply => ({
  status,
  body: { error: { reason: 'Invalid Query', details, type }, status },
});
const written = (at: Date): string => at.toISOString().slice(0, -1).replace('T', ' ');
const read = (text: string): Date => new Date(`${text.replace(' ', 'T')}Z`);

/** As the PPL endpoint of OpenSearch 2 answers. */
function answer({ url, body, headers }: SiemStandInRequest): SiemStandInReply {
  if (headers.authorization !== `Basic ${Buffer.from('soc:pw').toString('base64')}`)
    return { status: 401, body: 'Unauthorized' };
  if (url.pathname === '/') return { body: { version: { distribution: 'opensearch' } } };
  if (url.pathname.endsWith('/_field_caps'))
    return { body: { fields: { user: { keyword: {} }, '@timestamp': { date: {} } } } };
  const { query } = JSON.parse(body) as { query: string };
  if (query.includes('nowhere'))
    return {
      status: 404,
      body: {
        error: {
          reason: 'Error occurred in OpenSearch engine: no such index [nowhere]',
          details: 'org.opensearch.index.IndexNotFoundException: no such index [nowhere]',
          type: 'IndexNotFoundException',
        },
        status: 404,
      },
    };
  if (query.startsWith('sorce'))
    return failed(400, 'SyntaxCheckException', 'Failed to parse query due to offending symbol [sorce]');
  if (query.includes('usr'))
    return failed(400, 'SemanticCheckException', "can't resolve Symbol(namespace=FIELD_NAME, name=usr) in type env");
  const [, from, to] = /`@timestamp` >= TIMESTAMP\('([^']+)'\) and `@timestamp` < TIMESTAMP\('([^']+)'\)/.exec(query)!;
  const limit = Number(/\| head (\d+)$/.exec(query)![1]);
  const seen = eventsWithin(read(from!), read(to!)).filter(() => !query.includes('nobody'));
  const user = { name: 'user', type: 'string' };
  if (query.includes('stats')) {
    const counts = Object.entries(Object.groupBy(seen, (one) => one.user)).map(([name, list]) => [list!.length, name]);
    return {
      body: {
        schema: [{ name: 'count()', alias: 'n', type: 'integer' }, user],
        datarows: counts,
        total: counts.length,
        size: counts.length,
      },
    };
  }
  const datarows = seen
    .map(({ at, user: name }) => [written(at), name])
    .toReversed()
    .slice(0, limit);
  return {
    body: {
      schema: [{ name: '@timestamp', type: 'timestamp' }, user],
      datarows,
      total: datarows.length,
      size: datarows.length,
    },
  };
}

async function fixture() {
  const standIn = await startSiemStandIn(answer);
  const connection = connectToStandIn(opensearch, {
    settings: { url: standIn.url },
    credentials: { user: 'soc', password: 'pw' },
  });
  return { standIn, connection, query: 'source=logs | where $window' };
}

testConnectorConformance('opensearch', async () => ({
  connection: (await fixture()).connection,
  events: events.length,
  firstAt,
  queries: {
    all: 'source=logs | where $window | fields `@timestamp`, user',
    groups: 'source=logs | where $window | stats count() as n by user',
    empty: "source=logs | where $window and user = 'nobody'",
    unknownField: 'source=logs | where $window and usr = 1',
    broken: 'sorce=logs | where $window',
  },
}));
testHttpFailures('opensearch', fixture);

test('an index that was never written to is no data, and a query without its window is its author’s', async () => {
  const { connection } = await fixture();
  const window = { from: firstAt, to: firstAt, clock: 'event' as const };
  const limits = { rowsMax: 10, groupsMax: 10, timeoutMs: 5_000 };
  const signal = AbortSignal.timeout(10_000);
  expect(await connection.search('source=nowhere | where $window', window, limits, signal)).toMatchObject({
    noData: true,
  });
  await expect(connection.search("source=logs | where user = '$window'", window, limits, signal)).rejects.toThrow(
    'A query uses $window',
  );
});

test('a remark at the end hides no limit, and as many rows as clusters usually give may have been cut', async () => {
  const row = { name: 'user', type: 'string' };
  const standIn = await startSiemStandIn(() => ({
    body: { schema: [row], datarows: Array.from({ length: 1000 }, (_, n) => [`u${n}`]), total: 1000, size: 1000 },
  }));
  const connection = connectToStandIn(opensearch, {
    settings: { url: standIn.url, rowsAtOnce: 10_000 },
    credentials: { user: 'soc', password: 'pw' },
  });
  const window = { from: firstAt, to: new Date(firstAt.getTime() + 1000), clock: 'event' as const };
  const limits = { rowsMax: 100_000, groupsMax: 10_000, timeoutMs: 5_000 };
  const query = 'source=logs | where $window | stats count() as n by user // of all';
  const found = await connection.search(query, window, limits, AbortSignal.timeout(10_000));
  expect(found).toMatchObject({ aggregate: true, truncated: true });
  const { query: sent } = JSON.parse(standIn.asked.at(-1)!.body) as { query: string };
  expect(sent.split('\n').at(-1)).toBe('| head 10000');
});
