import { expect, test } from 'vitest';
import { opensearch } from './opensearch.ts';
import {
  countByUser,
  eventsWithin,
  firstAt,
  firstHours,
  standInLimits,
  startAndConnect,
  testHttpAdapter,
  type SiemStandInRequest,
  type SiemStandInReply,
} from '../../../../test/support/detection/siem/siem-stand-in.ts';

const failWith = (status: number, type: string, details: string): SiemStandInReply => ({
  status,
  body: { error: { reason: 'Invalid Query', details, type }, status },
});
const formatTime = (at: Date): string => at.toISOString().slice(0, -1).replace('T', ' ');
const parseTime = (text: string): Date => new Date(`${text.replace(' ', 'T')}Z`);

const table = (schema: object[], datarows: unknown[][]): SiemStandInReply => ({
  body: { schema, datarows, total: datarows.length, size: datarows.length },
});

/** Responds like the PPL endpoint of OpenSearch 2. */
function respond({ url, body, headers }: SiemStandInRequest): SiemStandInReply {
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
    return failWith(400, 'SyntaxCheckException', 'Failed to parse query due to offending symbol [sorce]');
  if (query.includes('usr'))
    return failWith(400, 'SemanticCheckException', "can't resolve Symbol(namespace=FIELD_NAME, name=usr) in type env");
  const [, from, to] = /`@timestamp` >= TIMESTAMP\('([^']+)'\) and `@timestamp` < TIMESTAMP\('([^']+)'\)/.exec(query)!;
  const limit = Number(/\| head (\d+)$/.exec(query)![1]);
  const seen = eventsWithin(parseTime(from!), parseTime(to!)).filter(() => !query.includes('nobody'));
  const user = { name: 'user', type: 'string' };
  if (query.includes('stats')) {
    const counts = countByUser(seen).map(([name, count]) => [count, name]);
    return table([{ name: 'count()', alias: 'n', type: 'integer' }, user], counts);
  }
  const datarows = seen
    .map(({ at, user: name }) => [formatTime(at), name])
    .toReversed()
    .slice(0, limit);
  return table([{ name: '@timestamp', type: 'timestamp' }, user], datarows);
}

const fixture = (answer = respond, rowsAtOnce = 200) =>
  startAndConnect(opensearch, answer, {
    settings: (url) => ({ url, rowsAtOnce }),
    credentials: { user: 'soc', password: 'pw' },
  });

testHttpAdapter('opensearch', () => fixture(), {
  all: 'source=logs | where $window | fields `@timestamp`, user',
  groups: 'source=logs | where $window | stats count() as n by user',
  empty: "source=logs | where $window and user = 'nobody'",
  unknownField: 'source=logs | where $window and usr = 1',
  broken: 'sorce=logs | where $window',
});

test('returns no data for an index that does not exist, and rejects a query without the window', async () => {
  const { connection } = await fixture();
  const search = (query: string) => connection.search(query, firstHours(0), standInLimits, AbortSignal.timeout(60_000));
  expect(await search('source=nowhere | where $window')).toMatchObject({ noData: true });
  await expect(search("source=logs | where user = '$window'")).rejects.toThrow('The query must use $window');
});

test('limits a query with a trailing comment, and treats a default limit of rows as truncated', async () => {
  const rows = Array.from({ length: 1000 }, (_, n) => [`u${n}`]);
  const { standIn, connection } = await fixture(() => table([{ name: 'user', type: 'string' }], rows), 10_000);
  const window = { from: firstAt, to: new Date(firstAt.getTime() + 1000), clock: 'event' as const };
  const limits = { rowsMax: 100_000, groupsMax: 10_000, timeoutMs: 60_000 };
  const query = 'source=logs | where $window | stats count() as n by user // of all';
  const found = await connection.search(query, window, limits, AbortSignal.timeout(60_000));
  expect(found).toMatchObject({ aggregate: true, truncated: true });
  const { query: sent } = JSON.parse(standIn.asked.at(-1)!.body) as { query: string };
  expect(sent.split('\n').at(-1)).toBe('| head 10000');
});
