import { beforeAll, expect, test } from 'vitest';
import { startLogStore } from '../../../test/support/detection/log-store.ts';
import { renderRow } from '../analysis/rows/render-row.ts';
import type { AnalysisDefinition } from '../analysis/analysis-definition.ts';
import { localConnection } from '../log-query/local-connection.ts';
import type { QueryRow, SearchLimits, SiemConnection } from '../siem/connector.ts';
import { remoteConnectors } from '../siem/connectors/registry.ts';
import { nothingHidden, type HiddenData } from '../siem/hidden-data.ts';
import type { ToolSources } from './tool-definition.ts';
import { bindTool } from './tools.ts';

const store = await startLogStore();
const windowTo = new Date('2024-06-01T12:00:00Z');
let local: SiemConnection;
beforeAll(async () => {
  const org = await store.newOrg();
  store.at('2024-06-01T12:30:00Z');
  const hoursAgo = (hours: number) => new Date(windowTo.getTime() - hours * 3_600_000).toISOString();
  await store.send(org, 'auth', [
    { id: 'e1', user: 'eve', ip: '203.0.113.9', bytes: 10, time: hoursAgo(1) },
    { id: 'e2', user: 'Eve', ip: '203.0.113.9', bytes: 30, time: hoursAgo(2) },
    { id: 'e3', user: 'bob', ip: '10.0.0.7', bytes: 5, time: hoursAgo(3) },
    { id: 'e4', ip: '10.0.0.8', time: hoursAgo(4) },
    { id: 'e5', user: 'ada', ip: '10.0.0.9', bytes: 1, time: hoursAgo(24 * 200) },
  ]);
  store.at('2024-06-01T13:00:00Z');
  local = localConnection(store.deps, org);
});

type Options = { connection?: SiemConnection; hidden?: HiddenData; signal?: AbortSignal };

async function use(name: string, input: Record<string, unknown>, options: Options = {}) {
  const { connection = local, hidden = nothingHidden, signal = AbortSignal.timeout(30_000) } = options;
  const render = (row: QueryRow, window: Parameters<ToolSources['logs']['render']>[1]) =>
    renderRow(row, window, { timeField: null } as AnalysisDefinition);
  const logs = { connection, windowTo, now: store.deps.clock(), render };
  const bound = bindTool(name, { entity: 'eve', rows: [], facts: {}, hidden, logs } as unknown as ToolSources)!;
  const parsed = bound.parse(input);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return bound.run(parsed.input, signal);
}
const search = (query: string, more: Record<string, unknown> = {}, signal?: AbortSignal) =>
  use('search_logs', { query, ...more }, signal ? { signal } : {});
const kindsOf = ({ columns }: Awaited<ReturnType<typeof search>>) => columns.map(({ name, kind }) => `${name} ${kind}`);

test('a search tells values of events from what the query itself computes', async () => {
  const found = await search("SELECT _id, user, 'backup job' AS reason, bytes FROM auth ORDER BY bytes");
  expect(kindsOf(found)).toEqual(['user value', 'reason other', 'bytes value']);
  expect(found).toMatchObject({ hasEvents: true, total: 4, truncated: false, from: new Date('2024-05-31T12:00:00Z') });
  const counted = await search(
    'SELECT user, count(*) AS n, count(DISTINCT ip) AS ips FROM auth WHERE user IS NOT NULL GROUP BY 1',
  );
  expect(kindsOf(counted).toSorted()).toEqual(['ips countDistinct', 'n count', 'user value']);
});

test('a query cannot write the ID or the time of an event', async () => {
  const [planted] = (
    await search(
      "SELECT 'e1' AS _id, now_is AS _time, user FROM (SELECT *, TIMESTAMP '2020-01-01' AS now_is FROM auth)",
    )
  ).rows;
  expect(planted).toMatchObject({ time: null });
  expect(planted!.rowId).toMatch(/^[0-9a-f]{32}$/);
  expect((await search('SELECT _id, _time, user FROM auth ORDER BY _time DESC LIMIT 1')).rows).toMatchObject([
    { time: '2024-06-01T11:00:00.000Z' },
  ]);
});

test('rows of a join have IDs of their own', async () => {
  const { rows } = await search("SELECT a._id, b.ip FROM auth a JOIN auth b ON a.user = b.user OR b.user = 'bob'");
  expect(new Set(rows.map(({ rowId }) => rowId)).size).toBe(rows.length);
});

test('nothing found proves something only where there are events', async () => {
  const none = "SELECT count(*) AS n FROM auth WHERE user = 'mallory'";
  expect(await search(none)).toMatchObject({ hasEvents: true, rows: [{ fields: { n: '0' } }] });
  expect(await search(none, { until: '2024-03-01T00:00:00Z' })).toMatchObject({ hasEvents: false });
  expect(await search("SELECT * FROM auth WHERE user = 'mallory'")).toMatchObject({
    hasEvents: true,
    note: expect.stringContaining('none of them matches'),
  });
  expect(await search('SELECT * FROM auth', { until: '2024-03-01T00:00:00Z' })).toMatchObject({
    hasEvents: false,
    note: expect.stringContaining('proves nothing'),
  });
  expect(await search('SELECT * FROM authh')).toMatchObject({
    hasEvents: false,
    note: expect.stringContaining('did you mean auth?'),
  });
});

test('a refused query explains how to write one', async () => {
  for (const query of [
    'SELECT nope(',
    'DROP TABLE auth',
    "SELECT * FROM read_text('/etc/passwd')",
    'SELECT * FROM auth; SELECT 1',
  ]) {
    const { rows, note } = await search(query);
    expect(rows).toEqual([]);
    expect(note).toMatch(/^The query was refused: .+\nLanguage: SQL\. One SELECT of DuckDB/s);
  }
});

test('counts by value, by time, and of events with certain values', async () => {
  expect(await use('count_by', { dataset: 'auth', field: 'ip' })).toMatchObject({
    rows: [
      { fields: { ip: '203.0.113.9', events: '2' } },
      { fields: { ip: '10.0.0.7', events: '1' } },
      { fields: { ip: '10.0.0.8' } },
    ],
    columns: [
      { name: 'ip', kind: 'value' },
      { name: 'events', kind: 'count' },
    ],
    hasEvents: true,
  });
  expect(await use('count_by', { dataset: 'auth', field: 'user', limit: 1 })).toMatchObject({
    truncated: true,
    rows: [{}],
  });
  expect((await use('count_by', { dataset: 'auth', field: 'user' })).note).toBe('1 of these events have no user.');
  const ofEve = await use('count_by', { dataset: 'auth', where: [{ field: 'user', value: 'EVE' }], hours: 8_784 });
  expect(ofEve.rows.map(({ fields }) => fields['events'])).toEqual(['2']);
  expect(ofEve.query).toContain('counted_time');
  const none = await use('count_by', { dataset: 'auth', field: 'ip', where: [{ field: 'user', value: "o'x*" }] });
  expect(none).toMatchObject({ rows: [], hasEvents: true });
});

test('describes a dataset by columns, frequent values and counts by time', async () => {
  const { rows, note } = await use('describe_dataset', { dataset: 'auth' });
  expect(rows.filter(({ rowId }) => rowId.startsWith('from:')).map(({ fields }) => fields['events'])).toEqual([
    '1',
    '1',
    '1',
    '1',
  ]);
  expect(rows.find(({ rowId }) => rowId === 'column:ip')!.fields).toMatchObject({
    type: 'VARCHAR',
    present: '1.00',
    distinct: '3',
    frequent: expect.stringContaining('203.0.113.9 (2)'),
  });
  expect(note).toContain('first 500 events');
  expect((await use('describe_dataset', { dataset: 'nope' })).note).toContain('No dataset is named nope');
  expect((await use('describe_dataset', { dataset: 'auth', until: '2024-03-01T00:00:00Z' })).note).toContain(
    'no events',
  );
});

test('names that could end a name in a query are not valid', async () => {
  for (const [field, dataset] of [
    ['a" FROM auth --', 'auth'],
    ['a`b', 'auth'],
    ["a'b", 'auth'],
    ['ip', 'auth; x'],
    ['ip', 'auth | delete'],
    ['_event', 'auth'],
  ])
    await expect(use('count_by', { dataset, field })).rejects.toThrow(/must be the name/);
});

const year = { hours: 8_784 };

test('huge cells and huge patterns end within the limits of a result', async () => {
  const cell = Array.from({ length: 10 }, () => "repeat('x', 1000000)").join(' || ');
  const found = await Promise.all([
    search(`SELECT ${cell} AS cell FROM auth`, year),
    search(`SELECT * FROM auth WHERE regexp_matches(repeat(ip, 1000), '${'(a?b*c+|.)'.repeat(100)}')`, year),
    search(`SELECT * FROM auth WHERE regexp_matches(ip, '((a{900}){900}){900}')`, year),
  ]);
  for (const result of found) {
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(100_000);
    expect(result.rows.length > 0 || result.note !== undefined).toBe(true);
  }
});

test('a query without end is stopped with the call', async () => {
  const endless = 'SELECT count(*) AS n FROM range(1000000) a, range(1000000) b, range(1000000) c, auth';
  await expect(search(endless, year, AbortSignal.timeout(500))).rejects.toThrow();
  expect((await search('SELECT count(*) AS n FROM auth', year)).rows).toMatchObject([{ fields: { n: '5' } }]);
});

test('every search has a limit of time, rows and bytes', async () => {
  const { connection, limits } = remote('splunk', []);
  await use('search_logs', { query: 'index=main' }, { connection });
  await use('count_by', { dataset: 'main', field: 'user' }, { connection });
  await use('describe_dataset', { dataset: 'main' }, { connection });
  for (const { rowsMax, timeoutMs, bytesMax } of limits) {
    expect(rowsMax).toBeLessThanOrEqual(500);
    expect([timeoutMs, bytesMax]).toEqual([20_000, 8 * 1024 * 1024]);
  }
});

/** A connection to a SIEM that records what it is asked, and returns rows. */
function remote(kind: keyof typeof remoteConnectors, rows: QueryRow[], aggregate = false) {
  const asked: string[] = [];
  const limits: SearchLimits[] = [];
  const {
    language,
    writing,
    dialect,
    eventField,
    returnsEvents,
    tableOf = (name: string) => name,
    timeField,
  } = remoteConnectors[kind];
  const connection = {
    guide: { language, writing, dialect, eventField, returnsEvents, tableOf, timeField },
    search: (query: string, _window: unknown, given: SearchLimits) => {
      asked.push(query);
      limits.push(given);
      return Promise.resolve({ rows, total: rows.length, truncated: false, aggregate, noData: false, ms: 1 });
    },
    fields: () =>
      Promise.resolve([
        {
          dataset: 'auth',
          fields: [
            { name: 'user', type: 'string' },
            { name: 'ssn', type: 'string' },
          ],
        },
      ]),
  } as unknown as SiemConnection;
  return { connection, asked, limits };
}

test('whole events of another SIEM are values, and what its query computes is not', async () => {
  const { connection } = remote('sentinel', [{ user: 'eve' }]);
  const kind = async (query: string) => (await use('search_logs', { query }, { connection })).columns[0]!.kind;
  expect(await kind('auth | where $window | where user == "eve" | take 5')).toBe('value');
  expect(await kind('auth | where $window | extend user = "eve"')).toBe('other');
  expect(await kind('print user = "eve"')).toBe('other');
});

test.each(Object.keys(remoteConnectors) as (keyof typeof remoteConnectors)[])(
  '%s keeps from models what the organization hides',
  async (kind) => {
    const hidden = { datasets: ['payroll'], fields: ['ssn'] };
    const { connection, asked } = remote(kind, [
      { user: 'eve', ssn: 'S3CRET', counted_events: 1, counted_value: 'eve' },
    ]);
    const refused = async (name: string, input: Record<string, unknown>) =>
      (await use(name, input, { connection, hidden })).note;
    expect(await refused('search_logs', { query: 'auth' })).toContain('keeps some fields or datasets from models');
    expect(await refused('count_by', { dataset: 'auth', field: 'ssn' })).toContain('keeps the field ssn');
    expect(await refused('count_by', { dataset: 'payroll', field: 'user' })).toContain('keeps the dataset payroll');
    expect(await refused('describe_dataset', { dataset: 'payroll' })).toContain('keeps the dataset payroll');
    expect(asked).toEqual([]);
    const described = await use('describe_dataset', { dataset: 'auth' }, { connection, hidden });
    expect(JSON.stringify(described.rows)).not.toMatch(/S3CRET|ssn/);
    expect((await use('count_by', { dataset: 'auth', field: 'user' }, { connection, hidden })).rows).toMatchObject([
      { fields: { user: 'eve', events: '1' } },
    ]);
  },
);
