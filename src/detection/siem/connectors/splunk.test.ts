import { expect, test } from 'vitest';
import { splunk } from './splunk.ts';
import {
  countByUser,
  eventsWithin,
  firstAt,
  standInLimits as limits,
  startAndConnect,
  testHttpAdapter,
  type SiemStandInRequest,
  type SiemStandInReply,
} from '../../../../test/support/detection/siem/siem-stand-in.ts';

const failWith = (status: number, text: string): SiemStandInReply => ({
  status,
  body: { messages: [{ type: 'FATAL', text }] },
});
const lines = (rows: object[]): SiemStandInReply => ({
  body: [...rows.map((result, offset) => ({ preview: false, offset, result })), { lastrow: true }]
    .map((line) => JSON.stringify(line))
    .join('\n'),
});
const parseSeconds = (seconds: string | null): Date => new Date(Number(seconds) * 1000);

/** Responds like splunkd 9: one JSON object per line. */
function respond({ url, headers, body }: SiemStandInRequest): SiemStandInReply {
  if (headers.authorization !== 'Bearer t1')
    return { status: 401, body: { messages: [{ type: 'WARN', text: 'call not properly authenticated' }] } };
  const form = new URLSearchParams(body);
  if (url.pathname === '/services/authentication/current-context') return { body: { entry: [] } };
  const search = form.get('search') ?? form.get('q') ?? '';
  if (search.includes('| wheer')) return failWith(400, "Unknown search command 'wheer'.");
  if (url.pathname === '/services/search/v2/parser') return { body: { commands: [] } };
  if (search.includes('fieldsummary')) return lines([{ field: 'user' }]);
  const byIndex = form.has('index_earliest');
  const [from, to] = [
    parseSeconds(form.get(byIndex ? 'index_earliest' : 'earliest_time')),
    parseSeconds(form.get(byIndex ? 'index_latest' : 'latest_time')),
  ];
  const seen = eventsWithin(from, to).filter(() => !search.includes('nobody'));
  if (search.includes('| stats')) {
    const counts = countByUser(seen).map(([user, n]) => ({ user, n: String(n) }));
    return lines(counts.slice(0, Number(/\| head (\d+)$/.exec(search)![1])));
  }
  const rows = seen.map(({ at: time, user }, n) => ({
    _bkt: 'main~1~A',
    _cd: `1:${n}`,
    _serial: String(n),
    _time: time.toISOString().replace('Z', '+00:00'),
    user,
  }));
  return lines(rows.slice(0, Number(/\| sort (\d+) _time, _cd$/.exec(search)![1])));
}

const fixture = (clock: 'event' | 'ingest' = 'event') =>
  startAndConnect(splunk, respond, { settings: (url) => ({ url }), credentials: { token: 't1' }, clock });

const queries = {
  all: 'index=auth action=login',
  groups: 'index=auth | stats count as n by user',
  empty: 'index=auth user=nobody',
  broken: 'index=auth | wheer x=1',
};
testHttpAdapter('splunk', () => fixture(), queries);
testHttpAdapter('splunk by index time', () => fixture('ingest'), queries);

const window = {
  from: new Date(firstAt.getTime() + 700),
  to: new Date(firstAt.getTime() + 3_600_900),
  clock: 'ingest' as const,
};
const { signal } = new AbortController();

test('floors the index time to seconds and searches older event times', async () => {
  const { standIn, connection } = await fixture('ingest');
  const { rows } = await connection.search('index=auth', window, limits, signal);
  const form = new URLSearchParams(standIn.asked.at(-1)!.body);
  expect(form.get('index_earliest')).toBe(String(firstAt.getTime() / 1000));
  expect(form.get('index_latest')).toBe(String(firstAt.getTime() / 1000 + 3600));
  expect(Number(form.get('earliest_time'))).toBeLessThan(firstAt.getTime() / 1000 - 6 * 86_400);
  expect(rows).toEqual([{ _id: 'main~1~A:1:0', _time: firstAt.toISOString(), user: 'ada' }]);
});

test.each([
  'index=auth | delete',
  'index=auth | OUTPUTLOOKUP x.csv',
  'index=auth [| map search="x"]',
  'index=auth url=http://x | sendemail to=a@example.com',
  'index=auth `macro`',
  'index=auth earliest=-30d',
  'index=auth user="[" earliest=-30d',
  'index=auth startdaysago=30',
])('rejects %s without sending it', async (query) => {
  const { standIn, connection } = await fixture();
  await expect(connection.search(query, window, limits, signal)).rejects.toMatchObject({
    failure: { kind: 'query_not_allowed', blame: 'author' },
  });
  expect(standIn.asked).toEqual([]);
});

test('does not count an error of a command against the author, because it may be about the events', async () => {
  const { standIn, connection } = await fixture();
  standIn.fail(failWith(400, "Error in 'mvexpand' command: the field exceeds the limit of values."));
  await expect(connection.search('index=auth | mvexpand x', window, limits, signal)).rejects.toMatchObject({
    failure: { kind: 'query_error', blame: 'author', dependsOnData: true },
  });
});

test('fails if a message reports incomplete results', async () => {
  const { standIn, connection } = await fixture();
  const text = 'Search peer idx2 is not responding, search results might be incomplete';
  standIn.fail({ body: `${JSON.stringify({ messages: [{ type: 'WARN', text }] })}\n{"lastrow":true}` });
  await expect(connection.search('index=auth', window, limits, signal)).rejects.toMatchObject({
    failure: { kind: 'partial_answer', blame: 'upstream', retryable: true },
  });
});
