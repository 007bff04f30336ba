import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { datasets } from '../siem-settings.ts';
import { listNamedSources } from '../query-text.ts';
import { findConnector, remoteConnectors, type RemoteSiemType, type SiemKind } from './registry.ts';

/** What every connector must answer. A new one is checked by being in the registry. `testConnectorConformance` tests its queries. */

const kinds = Object.keys(remoteConnectors) as RemoteSiemType[];

describe.each(kinds)('%s', (kind) => {
  const { label, language, writing, settings, credentials, timeField, source, sweep } = remoteConnectors[kind];

  test('is documented and has tests', () => {
    const read = (page: string): string => readFileSync(resolve('docs/guide', page), 'utf8');
    expect(read('connections.md')).toContain(`\n## ${label} (\`${kind}\`)\n`);
    expect(read('sigma.md')).toContain(`\`${kind}\``);
    const tests = readFileSync(resolve(import.meta.dirname, `${kind}.test.ts`), 'utf8');
    expect(tests).toMatch(new RegExp(`test(?:HttpAdapter|ConnectorConformance)\\('${kind}'`));
  });

  test('describes itself for forms', () => {
    expect([label, language, writing, source.label].every((text) => text !== '')).toBe(true);
    expect(datasets.safeParse({ windows: { source: source.example } }).success).toBe(true);
    for (const schema of [settings, credentials])
      expect(z.toJSONSchema(schema, { io: 'input' })).toMatchObject({ $schema: expect.any(String) as unknown });
  });

  test('reads times from the field that its settings have by default', () => {
    const { properties = {} } = z.toJSONSchema(settings, { io: 'input' }) as {
      properties?: Record<string, { default?: string }>;
    };
    const byDefault = properties['timeField']?.default ?? properties['timeColumn']?.default;
    expect([undefined, timeField]).toContain(byDefault);
  });

  test('applies the window to the query of a sweep unless it comes beside the query', () => {
    const query = sweep.query('logs', 'condition');
    expect(query.includes('$window')).toBe(writing.includes('$window'));
  });
});

describe.each(kinds)('queries of %s', (kind) => {
  const { dialect, returnsEvents, source } = remoteConnectors[kind];
  const events = {
    table: kind === 'splunk' ? 'index=logs' : 'logs',
    time: 'time',
    where: { kind: 'all', of: [] } as const,
  };

  test('that read whole events are known as such', () => {
    expect(returnsEvents(dialect.writeEvents(events))).toBe(true);
  });

  test('name the dataset that they read', () => {
    const counts = dialect.writeCounts({ ...events, by: { field: 'user' }, limit: 20 });
    for (const query of [dialect.writeEvents(events), counts])
      expect(listNamedSources(query, source.named)).toEqual(['logs']);
  });

  test('that count events name the groups, and are known to return no events', () => {
    for (const by of [{ field: 'user' }, { stepSeconds: 3600 }, null]) {
      const query = dialect.writeCounts({ ...events, by, limit: 20 });
      expect(query).toContain('counted_events');
      expect(query.includes('counted_value')).toBe(by !== null && 'field' in by);
      expect(query.includes('counted_time')).toBe(by !== null && 'stepSeconds' in by);
      expect(returnsEvents(query)).toBe(false);
    }
  });
});

/** Queries that return a value of their own as if an event had it. */
const planted: [RemoteSiemType, string[]][] = [
  [
    'clickhouse',
    [
      "SELECT 'bob' AS user FROM logs WHERE $window",
      "SELECT * FROM (SELECT 'bob' AS user) WHERE $window",
      "SELECT * FROM logs WHERE $window UNION ALL SELECT 'bob'",
      'SELECT * FROM logs, (SELECT 1 AS n) AS t WHERE $window',
      'SELECT * FROM numbers(9) WHERE $window',
      "SELECT * FROM logs /* */ JOIN (SELECT 'bob' AS user) t ON 1 WHERE $window",
    ],
  ],
  [
    'postgres',
    [
      "SELECT * FROM (VALUES ('bob')) AS v(user) WHERE $window",
      "SELECT *, 'bob' AS user FROM logs WHERE $window",
      'SELECT * FROM logs AS l(user) WHERE $window',
      "WITH logs AS (SELECT 'bob' AS user) SELECT * FROM logs WHERE $window",
    ],
  ],
  [
    'elasticsearch',
    [
      'ROW user = "bob"',
      'FROM logs | EVAL user = "bob"',
      'FROM logs | RENAME ip AS user',
      'FROM logs | STATS n = COUNT(*)',
      'FROM logs | DISSECT m "%{user}"',
    ],
  ],
  [
    'opensearch',
    [
      "source=logs | where $window | eval user = 'bob'",
      'source=logs | where $window | rename ip as user',
      'describe logs',
    ],
  ],
  [
    'sentinel',
    [
      'print user = "bob"',
      'datatable(user:string)["bob"]',
      'logs | where $window | extend user = "bob"',
      'let logs = print user = "bob"; logs | where $window',
      'logs | where $window | project user = "bob"',
      'union logs, (print user = "bob")',
    ],
  ],
  [
    'splunk',
    [
      '| makeresults | eval user="bob"',
      'index=logs | eval user="bob"',
      'index=logs | rename ip AS user',
      'index=logs | append [| makeresults | eval user="bob"]',
      'index=logs | stats count',
      'index=logs | rex "(?<user>bob)"',
    ],
  ],
];

test.each(planted)('no query of %s passes a value of its own off as an event', (kind, queries) => {
  expect(queries.filter((query) => remoteConnectors[kind].returnsEvents(query))).toEqual([]);
});

test.each<[RemoteSiemType, string]>([
  ['clickhouse', 'SELECT * FROM logs JOIN users ON logs.user = users.name WHERE $window'],
  ['elasticsearch', 'FROM logs, audit | WHERE user == "eve"'],
  ['opensearch', 'source=logs, audit | where $window'],
  ['sentinel', 'union logs, audit | where $window'],
  ['splunk', 'index=logs OR index=audit'],
])('no single dataset is certain of a query of %s that reads several', (kind, query) => {
  expect(listNamedSources(query, remoteConnectors[kind].source.named)).toEqual([]);
});

test.each<SiemKind>(['local', ...kinds])('%s finds values and patterns', (kind) => {
  const { text, isIn, isLike, or, query } = findConnector(kind).sweep;
  const conditions = [isIn(text('domain'), ['evil.top', 'bad.top']), isLike(text('url'), ['*.evil.top*', '91.92.*'])];
  const swept = query('logs', conditions.join(or));
  for (const part of ['logs', 'domain', 'url', 'evil.top', 'bad.top', ...conditions]) expect(swept).toContain(part);
});
