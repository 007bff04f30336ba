import { expect, test } from 'vitest';
import { testConnectorConformance } from '../../../test/support/detection/connector-conformance.ts';
import { elasticsearch } from './elasticsearch.ts';
import {
  connectToStandIn,
  events,
  firstAt,
  testHttpFailures,
  testPrivateAddress,
  startSiemStandIn,
  eventsWithin,
  type SiemStandInRequest,
  type SiemStandInReply,
} from '../../../test/support/detection/siem-stand-in.ts';

type Range = { range: Record<string, { gte?: string; lt: string }> };
const columns = [
  { name: '@timestamp', type: 'date' },
  { name: '_id', type: 'keyword' },
  { name: 'user', type: 'keyword' },
];

const failed = (status: number, type: string, reason: string): SiemStandInReply => ({
  status,
  body: { error: { root_cause: [{ type, reason }], type, reason }, status },
});

/** As Elasticsearch 8 answers: the request's filter first, then the query, cut at its LIMIT. */
function answer({ url, body, headers }: SiemStandInRequest): SiemStandInReply {
  if (headers.authorization !== 'ApiKey key1') return failed(401, 'security_exception', 'unable to authenticate');
  if (url.pathname === '/') return { body: { version: { number: '8.17.0' } } };
  if (url.pathname.endsWith('/_field_caps'))
    return {
      body: { fields: { _id: { _id: { metadata_field: true } }, user: { keyword: {} }, '@timestamp': { date: {} } } },
    };
  const { query, filter } = JSON.parse(body) as { query: string; filter: { bool: { filter: Range[] } } };
  if (query.includes('FROM nowhere'))
    return failed(400, 'verification_exception', 'Found 1 problem\nline 1:6: Unknown index [nowhere]');
  if (query.includes('FORM'))
    return failed(400, 'parsing_exception', "line 1:1: mismatched input 'FORM' expecting {'from', 'row'}");
  if (query.includes('usr'))
    return failed(400, 'verification_exception', 'Found 1 problem\nline 1:20: Unknown column [usr]');
  const { gte, lt } = filter.bool.filter[0]!.range['@timestamp']!;
  const limit = Number(/\| LIMIT (\d+)$/.exec(query)![1]);
  const seen = eventsWithin(new Date(gte!), new Date(lt)).filter(() => !query.includes('nobody'));
  if (query.includes('STATS')) {
    const counts = Object.entries(Object.groupBy(seen, ({ user }) => user)).map(([user, list]) => [list!.length, user]);
    return { body: { columns: [{ name: 'n', type: 'long' }, columns[2]], values: counts.slice(0, limit) } };
  }
  const values = seen.map(({ at, id, user }) => [at.toISOString(), id, user]).toReversed();
  return { body: { took: 1, is_partial: false, columns, values: values.slice(0, limit) } };
}

async function fixture(rowsAtOnce = 10_000) {
  const standIn = await startSiemStandIn(answer);
  const connection = connectToStandIn(elasticsearch, {
    settings: { url: standIn.url, ingestField: 'event.ingested', rowsAtOnce },
    credentials: { apiKey: 'key1' },
  });
  return { standIn, connection, query: 'FROM logs METADATA _id' };
}

testConnectorConformance('elasticsearch', async () => ({
  connection: (await fixture()).connection,
  events: events.length,
  firstAt,
  queries: {
    all: 'FROM logs METADATA _id | KEEP @timestamp, _id, user',
    groups: 'FROM logs | STATS n = COUNT(*) BY user',
    empty: 'FROM logs | WHERE user == "nobody"',
    unknownField: 'FROM logs | WHERE usr == "x"',
    broken: 'FORM logs',
  },
}));
testHttpFailures('elasticsearch', fixture);

const limits = { rowsMax: 100_000, groupsMax: 100, timeoutMs: 5_000 };
const signal = AbortSignal.timeout(30_000);

test('a column that is unknown is answered with the nearest', async () => {
  const { connection } = await fixture();
  const asked = connection.search(
    'FROM logs | WHERE usr == 1',
    { from: firstAt, to: firstAt, clock: 'event' },
    limits,
    signal,
  );
  await expect(asked).rejects.toThrow('No column is named usr; did you mean user?');
});

test('an index that was never written to is no data', async () => {
  const { connection } = await fixture();
  const found = await connection.search('FROM nowhere', { from: firstAt, to: firstAt, clock: 'event' }, limits, signal);
  expect(found).toMatchObject({ rows: [], noData: true, truncated: false });
});

test('what was ingested later than asked for is left out, and the clock ingest is on its own field', async () => {
  const { standIn, connection } = await fixture();
  const to = new Date(firstAt.getTime() + 1);
  await connection.search('FROM logs', { from: firstAt, to, clock: 'event', ingestedBefore: to }, limits, signal);
  const { filter } = JSON.parse(standIn.asked.at(-1)!.body) as { filter: { bool: { filter: Range[] } } };
  expect(filter.bool.filter.map(({ range }) => Object.keys(range)[0])).toEqual(['@timestamp', 'event.ingested']);
});

test('more rows than come at once are read in parts, in order, each once', async () => {
  const many = Array.from({ length: 1000 }, (_, n) => ({
    at: new Date(firstAt.getTime() + Math.floor(n / 3)),
    id: `${n}`,
  }));
  const standIn = await startSiemStandIn(({ body }) => {
    const { query, filter } = JSON.parse(body) as { query: string; filter: { bool: { filter: Range[] } } };
    const { gte, lt } = filter.bool.filter[0]!.range['@timestamp']!;
    const seen = many.filter(({ at }) => at >= new Date(gte!) && at < new Date(lt)).toReversed();
    const limit = Number(/\| LIMIT (\d+)$/.exec(query)![1]);
    return {
      body: { columns: columns.slice(0, 2), values: seen.map(({ at, id }) => [at.toISOString(), id]).slice(0, limit) },
    };
  });
  const connection = connectToStandIn(elasticsearch, {
    settings: { url: standIn.url, rowsAtOnce: 100 },
    credentials: { apiKey: 'k' },
  });
  const window = { from: firstAt, to: new Date(firstAt.getTime() + 1000), clock: 'event' as const };
  const whole = await connection.search('FROM logs', window, limits, signal);
  expect(whole).toMatchObject({ total: 1000, truncated: false });
  expect(new Set(whole.rows.map((row) => row['_id'])).size).toBe(1000);
  const cut = await connection.search('FROM logs', window, { ...limits, rowsMax: 150 }, signal);
  expect(cut.truncated).toBe(true);
  expect(cut.rows).toEqual(whole.rows.slice(0, 150));
});

const window = { from: firstAt, to: new Date(firstAt.getTime() + 3_600_000), clock: 'event' as const };
const answering = async (body: unknown) =>
  connectToStandIn(elasticsearch, {
    settings: { url: (await startSiemStandIn(() => ({ body }))).url },
    credentials: { apiKey: 'k' },
  });

test('whole numbers beyond what a number holds come as text', async () => {
  const types = [{ name: 'id', type: 'long' }];
  const body = JSON.stringify({ columns: types, values: [[1], [2]] }).replace('[2]', '[9007199254740993]');
  const { rows } = await (await answering(body)).search('FROM logs', window, limits, signal);
  expect(rows).toEqual([{ id: '9007199254740993' }, { id: 1 }]);
});

test('an answer of something else is the upstream’s', async () => {
  await expect((await answering({})).search('FROM logs', window, limits, signal)).rejects.toMatchObject({
    failure: { kind: 'unexpected_answer', blame: 'upstream', message: expect.stringContaining('columns') },
  });
});

test('an answer larger than is read at once is asked for in smaller parts; groups are their author’s', async () => {
  const most = window.to.getTime() - window.from.getTime();
  const standIn = await startSiemStandIn(({ body }) => {
    const { filter } = JSON.parse(body) as { filter: { bool: { filter: Range[] } } };
    const { gte, lt } = filter.bool.filter[0]!.range['@timestamp']!;
    const isWhole = new Date(lt).getTime() - new Date(gte!).getTime() === most;
    return { body: isWhole ? ' '.repeat(129 * 1024 * 1024) : { columns: [{ name: 'a' }], values: [[gte]] } };
  });
  const connection = connectToStandIn(elasticsearch, { settings: { url: standIn.url }, credentials: { apiKey: 'k' } });
  const { rows } = await connection.search('FROM logs', window, { ...limits, timeoutMs: 30_000 }, signal);
  expect(rows).toHaveLength(2);
  await expect(connection.search('FROM logs | STATS n = COUNT(*)', window, limits, signal)).rejects.toMatchObject({
    failure: { kind: 'answer_too_large', blame: 'author', retryable: false },
  });
}, 60_000);

test('a private address is refused unless the setting allows it', async () => {
  const { standIn } = await fixture();
  await testPrivateAddress(
    connectToStandIn(elasticsearch, { settings: { url: standIn.url }, credentials: { apiKey: 'k' }, allow: [] }),
  );
});
