import { expect, test } from 'vitest';
import { elasticsearch } from './elasticsearch.ts';
import {
  connectToStandIn,
  countByUser,
  eventsWithin,
  firstAt,
  firstHours,
  startAndConnect,
  testHttpAdapter,
  testPrivateAddress,
  type SiemStandInRequest,
  type SiemStandInReply,
} from '../../../../test/support/detection/siem/siem-stand-in.ts';

type Range = { range: Record<string, { gte?: string; lt: string }> };
const readBody = ({ body }: { body: string }) => {
  const { query, filter } = JSON.parse(body) as { query: string; filter: { bool: { filter: Range[] } } };
  const filters = filter.bool.filter.map(({ range }) => range);
  const { gte, lt } = filters[0]!['@timestamp']!;
  return { query, filters, from: new Date(gte!), to: new Date(lt), limit: Number(/\| LIMIT (\d+)$/.exec(query)![1]) };
};
const columns = [
  { name: '@timestamp', type: 'date' },
  { name: '_id', type: 'keyword' },
  { name: 'user', type: 'keyword' },
];

const failed = (status: number, type: string, reason: string): SiemStandInReply => ({
  status,
  body: { error: { root_cause: [{ type, reason }], type, reason }, status },
});

/** Responds like Elasticsearch 8: applies the filter, then the query, and truncates at LIMIT. */
function respond(request: SiemStandInRequest): SiemStandInReply {
  const { url, headers } = request;
  if (headers.authorization !== 'ApiKey key1') return failed(401, 'security_exception', 'unable to authenticate');
  if (url.pathname === '/') return { body: { version: { number: '8.17.0' } } };
  if (url.pathname.endsWith('/_field_caps'))
    return {
      body: { fields: { _id: { _id: { metadata_field: true } }, user: { keyword: {} }, '@timestamp': { date: {} } } },
    };
  const { query, from, to, limit } = readBody(request);
  if (query.includes('FROM nowhere'))
    return failed(400, 'verification_exception', 'Found 1 problem\nline 1:6: Unknown index [nowhere]');
  if (query.includes('FORM'))
    return failed(400, 'parsing_exception', "line 1:1: mismatched input 'FORM' expecting {'from', 'row'}");
  if (query.includes('usr'))
    return failed(400, 'verification_exception', 'Found 1 problem\nline 1:20: Unknown column [usr]');
  const seen = eventsWithin(from, to).filter(() => !query.includes('nobody'));
  if (query.includes('STATS')) {
    const counts = countByUser(seen).map(([user, count]) => [count, user]);
    return { body: { columns: [{ name: 'n', type: 'long' }, columns[2]], values: counts.slice(0, limit) } };
  }
  const values = seen.map(({ at, id, user }) => [at.toISOString(), id, user]).toReversed();
  return { body: { took: 1, is_partial: false, columns, values: values.slice(0, limit) } };
}

const fixture = (answer = respond, apiKey = 'key1', rowsAtOnce = 10_000) =>
  startAndConnect(elasticsearch, answer, {
    settings: (url) => ({ url, ingestField: 'event.ingested', rowsAtOnce }),
    credentials: { apiKey },
  });

testHttpAdapter('elasticsearch', () => fixture(), {
  all: 'FROM logs METADATA _id | KEEP @timestamp, _id, user',
  groups: 'FROM logs | STATS n = COUNT(*) BY user',
  empty: 'FROM logs | WHERE user == "nobody"',
  unknownField: 'FROM logs | WHERE usr == "x"',
  broken: 'FORM logs',
});

const limits = { rowsMax: 100_000, groupsMax: 100, timeoutMs: 5_000 };
const { signal } = new AbortController();

test('suggests similar names for an unknown column', async () => {
  const { connection } = await fixture();
  const result = connection.search('FROM logs | WHERE usr == 1', firstHours(0), limits, signal);
  await expect(result).rejects.toThrow('No column is named usr; did you mean user?');
});

test('returns no data for an index that does not exist', async () => {
  const { connection } = await fixture();
  const found = await connection.search('FROM nowhere', firstHours(0), limits, signal);
  expect(found).toMatchObject({ rows: [], noData: true, truncated: false });
});

test('excludes events ingested after the bound by the ingest field', async () => {
  const { standIn, connection } = await fixture();
  const to = new Date(firstAt.getTime() + 1);
  await connection.search('FROM logs', { from: firstAt, to, clock: 'event', ingestedBefore: to }, limits, signal);
  const { filters } = readBody(standIn.asked.at(-1)!);
  expect(filters.map((range) => Object.keys(range)[0])).toEqual(['@timestamp', 'event.ingested']);
});

test('reads a window in slices, in order and without duplicates, if it exceeds one response', async () => {
  const many = Array.from({ length: 1000 }, (_, n) => ({
    at: new Date(firstAt.getTime() + Math.floor(n / 3)),
    id: `${n}`,
  }));
  const answer = (request: SiemStandInRequest) => {
    const { from, to, limit } = readBody(request);
    const seen = many.filter(({ at }) => at >= from && at < to).toReversed();
    const values = seen.map(({ at, id }) => [at.toISOString(), id]).slice(0, limit);
    return { body: { columns: columns.slice(0, 2), values } };
  };
  const { connection } = await fixture(answer, 'k', 100);
  const window = { from: firstAt, to: new Date(firstAt.getTime() + 1000), clock: 'event' as const };
  const whole = await connection.search('FROM logs', window, limits, signal);
  expect(whole).toMatchObject({ total: 1000, truncated: false });
  expect(new Set(whole.rows.map((row) => row['_id'])).size).toBe(1000);
  const cut = await connection.search('FROM logs', window, { ...limits, rowsMax: 150 }, signal);
  expect(cut.truncated).toBe(true);
  expect(cut.rows).toEqual(whole.rows.slice(0, 150));
});

const window = firstHours(1);

test('returns integers beyond 2^53 as text', async () => {
  const types = [{ name: 'id', type: 'long' }];
  const body = JSON.stringify({ columns: types, values: [[1], [2]] }).replace('[2]', '[9007199254740993]');
  const { connection } = await fixture(() => ({ body }));
  const { rows } = await connection.search('FROM logs', window, limits, signal);
  expect(rows).toEqual([{ id: '9007199254740993' }, { id: 1 }]);
});

test('blames the upstream for an unexpected response', async () => {
  const { connection } = await fixture(() => ({ body: {} }));
  await expect(connection.search('FROM logs', window, limits, signal)).rejects.toMatchObject({
    failure: { kind: 'unexpected_answer', blame: 'upstream', message: expect.stringContaining('columns') },
  });
});

test('splits a window with a response that is too large, but blames the author for groups', async () => {
  const { connection } = await fixture((request) => {
    const { from, to } = readBody(request);
    const isWhole = to.getTime() - from.getTime() === window.to.getTime() - window.from.getTime();
    return { body: isWhole ? ' '.repeat(129 * 1024 * 1024) : { columns: [{ name: 'a' }], values: [[from]] } };
  });
  const patient = { ...limits, timeoutMs: 30_000 };
  const { rows } = await connection.search('FROM logs', window, patient, signal);
  expect(rows).toHaveLength(2);
  await expect(connection.search('FROM logs | STATS n = COUNT(*)', window, patient, signal)).rejects.toMatchObject({
    failure: { kind: 'answer_too_large', blame: 'author', retryable: false },
  });
});

test('rejects a private address unless it is allowed', async () => {
  const { standIn } = await fixture();
  await testPrivateAddress(
    connectToStandIn(elasticsearch, { settings: { url: standIn.url }, credentials: { apiKey: 'k' }, allow: [] }),
  );
});
