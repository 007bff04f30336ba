import { afterAll, expect, test } from 'vitest';
import { createTestFolder, failureOf } from '../../../test/support/detection/log-store.ts';
import { createEngine } from '../log-engine/process/engine.ts';
import { createFileStore } from '../log-store/files/file-store.ts';
import { convertTask } from '../sigma/convert/convert-task.ts';
import type { QueryRow, QueryWindow, SearchResult, SiemConnection } from '../siem/connector.ts';
import { remoteConnectors, type RemoteSiemType } from '../siem/connectors/registry.ts';
import { readPortableTarget, withPortableQueries } from './portable-connection.ts';

const segmentStore = createFileStore(createTestFolder());
const engine = createEngine({ directoryOf: segmentStore.folderOf });
afterAll(() => engine.close());
const deps = { engine, segmentStore, organization: '11111111-1111-4111-8111-111111111111' };
const signal = new AbortController().signal;
const limits = { rowsMax: 1000, groupsMax: 1000, timeoutMs: 20_000 };
const window: QueryWindow = {
  from: new Date('2030-01-07T00:00:00Z'),
  to: new Date('2030-01-08T00:00:00Z'),
  clock: 'event',
};
const query = `-- portable
SELECT winlog(_event, 'Computer') AS host, _id, _time FROM windows
WHERE winlog(_event, 'EventID') = '1' AND regexp_matches(winlog(_event, 'CommandLine'), '(?i)vssadmin')`;
const event = {
  winlog: { event_id: '1', computer_name: 'FS-01', event_data: { CommandLine: 'vssadmin delete shadows' } },
};
const other = { winlog: { event_id: '1', computer_name: 'FS-02', event_data: { CommandLine: 'notadmin' } } };
const flat = { EventID: 1, Computer: 'FS-01', CommandLine: 'VSSADMIN delete shadows' };
const time = '2030-01-07T10:00:00.000Z';
const row = { host: 'FS-01', _id: 'e1', _time: time };

/** A SIEM that lists these fields with their types, returns these rows, and remembers what it was asked. */
function fakeSiem(fields: Record<string, string[]>, rows: QueryRow[], more: Partial<SearchResult> = {}) {
  const asked: string[] = [];
  const connection: SiemConnection = {
    clock: 'event',
    delayMs: 0,
    search: async (text, { from, to }, { timeoutMs }) => {
      // Timers take whole numbers.
      expect(Number.isInteger(timeoutMs)).toBe(true);
      asked.push(text);
      const isWithin = (at: unknown): boolean =>
        at === undefined || (new Date(String(at)) >= from && new Date(String(at)) < to);
      const found = rows.filter((one) => isWithin(one['@timestamp'] ?? one['ts']));
      return { rows: found, total: found.length, truncated: false, aggregate: false, noData: false, ms: 1, ...more };
    },
    check: async (text) => void asked.push(text),
    fields: async () =>
      Object.entries(fields).map(([dataset, names]) => ({
        dataset,
        fields: names.map((name) => ({ name: name.split(' ')[0]!, type: name.split(' ')[1] ?? 'text' })),
      })),
    ping: async () => undefined,
  };
  return { connection, asked };
}

type Case = { settings: object; fields: Record<string, string[]>; rows: QueryRow[]; native: string };
const cases: Record<RemoteSiemType, Case> = {
  elasticsearch: {
    settings: { url: 'https://es.example', datasets: { windows: { source: 'winlogbeat-*' } } },
    fields: { 'winlogbeat-*': ['winlog.event_id', 'winlog.event_data.CommandLine', 'process.command_line'] },
    rows: [
      { '@timestamp': time, _id: 'e1', _source: event },
      { '@timestamp': time, _id: 'e2', _source: other },
    ],
    native: `FROM winlogbeat-* METADATA _id, _source
| WHERE (TO_STRING(\`winlog.event_id\`) == "1" OR MV_COUNT(\`winlog.event_id\`) > 1)
    AND (
      (LOCATE(TO_LOWER(TO_STRING(\`winlog.event_data.CommandLine\`)), "admin") > 0 OR MV_COUNT(\`winlog.event_data.CommandLine\`) > 1)
      OR (LOCATE(TO_LOWER(TO_STRING(\`process.command_line\`)), "admin") > 0 OR MV_COUNT(\`process.command_line\`) > 1)
    )
| KEEP \`@timestamp\`, _id, _source`,
  },
  opensearch: {
    settings: { url: 'https://os.example', datasets: { windows: { source: 'winlogbeat-*' } } },
    fields: { 'winlogbeat-*': ['winlog.event_id', 'winlog.event_data.CommandLine'] },
    rows: [{ '@timestamp': time, _id: 'e1', ...event }],
    native: `source=winlogbeat-*
| where $window
| where cast(\`winlog.event_id\` as string) = '1'
    and locate('admin', lower(cast(\`winlog.event_data.CommandLine\` as string))) > 0`,
  },
  splunk: {
    settings: { url: 'https://splunk.example:8089', datasets: { windows: { source: 'index=wineventlog' } } },
    fields: {},
    rows: [{ _time: time, _id: 'e1', _raw: JSON.stringify(flat) }],
    native: 'index=wineventlog',
  },
  sentinel: {
    settings: {
      tenantId: '11111111-1111-4111-8111-111111111111',
      workspaceId: '11111111-1111-4111-8111-111111111111',
      clientId: '11111111-1111-4111-8111-111111111111',
      datasets: { windows: { source: 'SecurityEvent' } },
    },
    fields: { SecurityEvent: ['EventID int', 'CommandLine string', 'EventData string', 'System dynamic'] },
    rows: [{ TimeGenerated: time, _ItemId: 'e1', ...flat }],
    native: `SecurityEvent
| where $window
| where (
      tostring(tostring(EventID)) == "1"
      or tostring(tostring(System["EventID"])) == "1"
      or tostring(tostring(System["EventId"])) == "1"
      or tostring(tostring(System["EventCode"])) == "1"
    )`,
  },
  postgres: {
    settings: {
      host: 'db.example',
      database: 'd',
      user: 'u',
      timeColumn: 'audit.ts',
      datasets: { windows: { source: 'audit', event: 'doc' } },
    },
    fields: { audit: ['ts', '_id', 'doc jsonb'] },
    rows: [{ ts: time, _id: 'e1', doc: event }],
    native: `SELECT *
FROM audit
WHERE $window
  AND ((
    ("doc"::jsonb ->> 'EventID') = '1'
`,
  },
  clickhouse: {
    settings: {
      url: 'https://ch.example:8443',
      timeColumn: 'ts',
      datasets: { windows: { source: 'events', event: 'doc' } },
    },
    fields: { events: ['ts', 'doc'] },
    rows: [{ ts: time, _id: 'e1', doc: JSON.stringify(event) }],
    native: `SELECT *
FROM events
WHERE $window
  AND (`,
  },
};

const connect = (kind: RemoteSiemType, siem: SiemConnection, settings: object = cases[kind].settings) =>
  withPortableQueries(siem, deps, readPortableTarget(kind, remoteConnectors[kind].settings.parse(settings)));

test.each(Object.entries(cases))('%s returns the events that can match, and the engine decides', async (name, one) => {
  const kind = name as RemoteSiemType;
  const { connection, asked } = fakeSiem(one.fields, one.rows);
  const found = await connect(kind, connection).search(query, window, limits, signal);
  expect(asked).toHaveLength(1);
  expect(asked[0]).toContain(one.native);
  expect(found).toMatchObject({ rows: [row], total: 1, truncated: false, noData: false, warnings: [] });
});

test('a portable query does not read what is hidden, and says what its columns have', async () => {
  const { fields, rows, settings } = cases.clickhouse;
  const { connection } = fakeSiem(fields, rows);
  const hidden = { datasets: [], fields: ['winlog.computer_name'] };
  const search = (sql: string) =>
    connect('clickhouse', connection, settings).search(`-- portable\n${sql}`, window, { ...limits, hidden }, signal);
  const all = await search("SELECT *, 'made up' AS planted FROM windows");
  expect(JSON.stringify(all.rows)).toContain('vssadmin delete shadows');
  expect(JSON.stringify(all.rows)).not.toContain('FS-01');
  expect((await search("SELECT winlog(_event, 'Computer') AS host FROM windows")).rows).toEqual([{ host: null }]);
  expect(new Set(all.kinds)).toEqual(new Set(['value', 'other']));
  expect(all.kinds!.at(-1)).toBe('other');
  await expect(search('SELECT winlog.computer_name FROM windows')).rejects.toThrow('keeps the field');
});

test('a native query goes to the SIEM as it is', async () => {
  const { connection, asked } = fakeSiem({}, [{ user: 'ada' }]);
  const found = await connect('elasticsearch', connection).search('FROM logs-*', window, limits, signal);
  expect([asked, found.rows]).toEqual([['FROM logs-*'], [{ user: 'ada' }]]);
});

test('without a list of fields, the SIEM returns all events of the window', async () => {
  const { connection, asked } = fakeSiem({ 'logs-*': ['CommandLine'] }, cases.elasticsearch.rows);
  const found = await connect('elasticsearch', connection).search(query, window, limits, signal);
  expect(asked[0]).toContain('| WHERE true');
  expect(found.rows).toEqual([row]);
});

test('events without an ID are named by their content, so that they have the same name when they are read again', async () => {
  const { fields, rows } = cases.opensearch;
  const twice = [...rows, ...rows].map(({ _id, ...rest }) => rest);
  const { connection } = fakeSiem(fields, twice);
  const ids = async () =>
    (await connect('opensearch', connection).search(query, window, limits, signal)).rows.map(({ _id }) => _id);
  const first = await ids();
  expect(new Set(first).size).toBe(2);
  expect(await ids()).toEqual(first);
});

test('leaves out the longest conditions of a query that is too long for the SIEM', async () => {
  const { settings, fields, rows } = cases.clickhouse;
  const { connection, asked } = fakeSiem(fields, rows);
  const commands = Array.from({ length: 500 }, (_, n) => `'vssadmin delete shadows${n || ''}'`);
  const long = `-- portable
SELECT winlog(_event, 'Computer') AS host, _id, _time FROM windows
WHERE winlog(_event, 'EventID') = '1' AND winlog(_event, 'CommandLine') IN (${commands.join(', ')})`;
  const found = await connect('clickhouse', connection, settings).search(long, window, limits, signal);
  expect(asked[0]!.length).toBeLessThan(100_000);
  expect(asked[0]).toContain("'EventID'");
  expect(asked[0]).not.toContain('vssadmin');
  expect(found.rows).toEqual([row]);
});

test('a correlation looks back over the events before the window', async () => {
  const at = (minute: number): string => new Date(window.from.getTime() + minute * 60_000).toISOString();
  const rows = [-21, -3, -2, 1].map((minute) => ({ ts: at(minute), _id: String(minute), doc: { EventID: 4625, user: 'ada' } })); // prettier-ignore
  const rules = `title: f
name: f
logsource: {product: acme, service: auth}
detection: {s: {EventID: 4625}, condition: s}
---
title: c
correlation: {type: event_count, rules: [f], group-by: [user], timespan: 10m, condition: {gte: 3}}
`;
  const datasets = [{ name: 'acme_auth', columns: [] }];
  const task = { rules, kind: 'local' as const, datasets, timeColumn: '_time', mappingFolders: [] };
  const { query: correlation } = convertTask(task).at(-1)!.result;
  const { connection, asked } = fakeSiem({ audit: ['ts', '_id', 'doc jsonb'] }, rows);
  const settings = { ...cases.postgres.settings, timeColumn: 'ts', datasets: { acme_auth: { source: 'audit', event: 'doc' } } }; // prettier-ignore
  const found = await connect('postgres', connection, settings).search(
    `-- portable\n${correlation!}`,
    window,
    limits,
    signal,
  );
  expect(found.rows).toMatchObject([{ _ids: ['1'], user: 'ada', value: 3 }]);
  expect(asked).toHaveLength(2);
});

test('groups are counted over all events of the window', async () => {
  const { connection } = fakeSiem(cases.elasticsearch.fields, cases.elasticsearch.rows);
  const grouped = '-- portable\nSELECT count(*) AS n FROM windows';
  const found = await connect('elasticsearch', connection).search(grouped, window, limits, signal);
  expect(found).toMatchObject({ rows: [{ n: 2 }], aggregate: true });
});

test.each([
  ['-- portable\nSELECT * FROM windwos', 'unknown_dataset', 'did you mean windows?'],
  ['-- portable\nSELECT * FROM windows_history', 'query_not_allowed', 'windows_history'],
  ['-- portable\nSELEC * FROM windows', 'query_error', 'SELEC'],
])('%s fails as %s', async (text, kind, message) => {
  const { connection, asked } = fakeSiem({}, []);
  const siem = connect('elasticsearch', connection);
  for (const work of [() => siem.search(text, window, limits, signal), () => siem.check(text, signal)]) {
    const failure = await failureOf(work());
    expect(failure).toMatchObject({ kind, blame: 'author' });
    expect(failure.message).toContain(message);
  }
  expect(asked).toEqual([]);
});

test('a window with too many events fails, which no author is blamed for in the long run', async () => {
  const { connection } = fakeSiem({}, [], { truncated: true });
  const failure = await failureOf(connect('elasticsearch', connection).search(query, window, limits, signal));
  expect(failure).toMatchObject({ kind: 'too_many_events', dependsOnData: true });
});

test('a check asks the SIEM whether it would run the query, and returns the columns', async () => {
  const { connection, asked } = fakeSiem(cases.elasticsearch.fields, []);
  const checked = await connect('elasticsearch', connection).check(query, signal);
  expect(asked).toEqual([cases.elasticsearch.native]);
  expect(checked).toEqual({ noData: false, columns: ['host', '_id', '_time'], warnings: [] });
});
