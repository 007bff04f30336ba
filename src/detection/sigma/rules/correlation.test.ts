import { afterAll, expect, test } from 'vitest';
import { createTestFolder } from '../../../../test/support/detection/log-store.ts';
import { openEvents } from '../../../../test/support/detection/sigma/sigma-events.ts';
import { convertTask } from '../convert/convert-task.ts';

const at = (second: number): string => new Date(Date.UTC(2024, 5, 1) + second * 1000).toISOString();
const logon = (second: number, user: string, event: string, more: object = {}) => ({
  '@timestamp': at(second), user, account: user, event, ...more,
}); // prettier-ignore
const events = [
  ...[0, 10, 20].map((second) => logon(second, 'ana', 'failed', { host: `h${second}`, bytes: second })),
  logon(25, 'ana', 'success'),
  ...[0, 400, 800].map((second) => logon(second, 'bob', 'failed', { host: 'h', bytes: 1000 })),
  logon(5, 'eva', 'success'),
  logon(6, 'eva', 'failed', { bytes: 'many' }),
  logon(0, 'kim', 'failed', { '@timestamp': '2024-06-02T00:00:00.000002Z' }),
  logon(0, 'kim', 'success', { '@timestamp': '2024-06-02T00:00:00.000001Z' }),
];
const engine = await openEvents(createTestFolder(), { acme_auth: events });
afterAll(() => engine.close());

const datasets = [{ name: 'acme_auth', columns: ['event', 'user'] }];
const base = (name: string, value: string): string =>
  `title: ${name}\nname: ${name}\nlogsource: {product: acme, service: auth}\ndetection: {s: {event: ${value}}, condition: s}\n---\n`;
const rules = base('failed', 'failed') + base('success', 'success');
async function run(correlation: string): Promise<unknown[]> {
  const text = `${rules}title: c\nlevel: high\ncorrelation: ${correlation}\n`;
  const task = { rules: text, kind: 'local' as const, datasets, timeColumn: '_time', mappingFolders: [] };
  const { result } = convertTask(task).at(-1)!;
  if (result.query === null) throw new Error(JSON.stringify(result));
  const rows = await engine.run(result.query);
  return rows.map((row) => [
    row['user'] ?? row['who'],
    Date.parse(String(row['_time'])) / 1000 - Date.UTC(2024, 5, 1) / 1000,
  ]);
}

test.each([
  ['{type: event_count, rules: [failed], group-by: [user], timespan: 1m, condition: {gte: 3}}', [['ana', 20]]],
  ['{type: event_count, rules: [failed], group-by: [user], timespan: 1h, condition: {gte: 3}}', [['ana', 20], ['bob', 800]]],
  ['{type: event_count, rules: [failed, success], group-by: [user], timespan: 1m, condition: {gt: 2, lt: 4}}', [['ana', 20]]],
  ['{type: value_count, rules: [failed], group-by: [user], timespan: 1h, condition: {field: host, gte: 3}}', [['ana', 20]]],
  ['{type: value_sum, rules: [failed], group-by: [user], timespan: 1m, condition: {field: bytes, gte: 30}}', [['ana', 20], ['bob', 0], ['bob', 400], ['bob', 800]]],
  ['{type: value_avg, rules: [failed], group-by: [user], timespan: 1m, condition: {field: bytes, eq: 10}}', [['ana', 20]]],
  ['{type: value_percentile, rules: [failed], group-by: [user], timespan: 1m, condition: {field: bytes, percentile: 50, eq: 10}}', [['ana', 20]]],
  ['{type: value_median, rules: [failed], group-by: [user], timespan: 1m, condition: {field: bytes, eq: 5}}', [['ana', 10]]],
  ['{type: temporal, rules: [failed, success], group-by: [user], timespan: 10s}', [['ana', 25], ['eva', 6], ['kim', 86400]]],
  ['{type: temporal_ordered, rules: [failed, success], group-by: [user], timespan: 10s}', [['ana', 25]]],
  ['{type: temporal_ordered, rules: [success, failed], group-by: [user], timespan: 10s}', [['eva', 6], ['kim', 86400]]],
  ['{type: temporal, rules: [failed, success], group-by: [who], aliases: {who: {failed: user, success: account}}, timespan: 10s}', [['ana', 25], ['eva', 6], ['kim', 86400]]],
] as const)('%s', async (correlation, expected) => {
  expect((await run(correlation)).toSorted()).toEqual([...expected].toSorted());
}); // prettier-ignore

test('reports what a correlation lacks', () => {
  const convert = (correlation: string) =>
    convertTask({
      rules: `${rules}title: c\ncorrelation: ${correlation}`,
      kind: 'local',
      datasets,
      timeColumn: '_time',
      mappingFolders: [],
    });
  const results = convert('{type: event_count, rules: [failed, other], timespan: 1m, condition: {gte: 3}}');
  expect(results.map(({ result, isPart }) => [result.status, isPart])).toEqual([
    ['converted', true],
    ['converted', false],
    ['unsupported', false],
  ]);
  expect(results[2]!.result.errors).toEqual([
    { line: 11, message: expect.stringContaining('the rule other is not in this request') },
  ]);
});
