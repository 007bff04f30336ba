import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import type { QueryWindow, RemoteConnector, SearchLimits } from './connector.ts';
import { withPostgresSession, type PostgresSession, type PostgresTarget } from './clients/postgres-session.ts';
import { isGroupingQuery, insertWindow, removeTrailingSemicolon } from './queries/query-text.ts';
import { createRemoteConnection } from './remote-connection.ts';
import { caCertificate, columnName } from './siem-settings.ts';
import { pickOrderColumns, buildWindowExpressions } from './queries/window-expressions.ts';

const Settings = z.strictObject({
  host: boundedString({ min: 1, max: 255 }),
  port: z.int().min(1).max(65_535).default(5432),
  database: boundedString({ min: 1, max: 63 }),
  user: boundedString({ min: 1, max: 63 }).describe('Give it the right to read, and no other.'),
  tls: z.enum(['verify', 'off']).default('verify').describe('off: only for a host that TOCSIN_FETCH_ALLOW names.'),
  caCertificate,
  timeColumn: columnName.describe('The time of an event, as $window uses it.'),
  ingestColumn: columnName.optional().describe('When a row came to be there: with it the clock may be `ingest`.'),
});
const Credentials = z.strictObject({ password: boundedString({ min: 1, max: 1000 }) });

const firstRows = 100;
const fetchRows = 5_000;
const pageBytes = 16 * 1024 * 1024;
const bytesMax = 128 * 1024 * 1024;
const checkMs = 10_000;
const fieldsMax = 20_000;

/** PostgreSQL 12 or newer: one read-only transaction a query, with the server's own time limit, read through a cursor. */
export const postgres: RemoteConnector<z.infer<typeof Settings>, z.infer<typeof Credentials>> = {
  label: 'PostgreSQL',
  language: 'SQL',
  writing: 'One SELECT. `$window` stands for the condition on the time column and must be used: WHERE $window AND … .',
  settings: Settings,
  credentials: Credentials,
  describeTarget: ({ host, port }) => `${host}:${port}`,
  findUnencryptedHost: ({ host, tls }) => (tls === 'off' ? { field: 'tls', host } : undefined),
  supportsIngestClock: ({ ingestColumn }) => ingestColumn !== undefined,
  connect: ({ settings, credentials, allow }) => {
    const target: PostgresTarget = { ...settings, ...credentials, allow };
    const place = (query: string, window: QueryWindow): string =>
      removeTrailingSemicolon(
        insertWindow(query, buildWindowExpressions(window, settings, literal), 'standard'),
        'standard',
      );
    return createRemoteConnection({
      ping: (signal) =>
        withPostgresSession(
          target,
          { timeoutMs: checkMs, signal },
          async ({ query: ask }) => void (await ask('select 1')),
        ),
      check: (query, signal) => {
        const now = new Date();
        const sql = place(query, { from: now, to: now, clock: 'event' });
        return withPostgresSession(
          target,
          { timeoutMs: checkMs, signal },
          // As `read` asks it: what can stand alone is no query yet.
          async ({ query: ask }) => void (await ask(`explain select * from (${sql}\n) as q`)),
        );
      },
      search: (query, window, limits, signal) =>
        withPostgresSession(target, { timeoutMs: limits.timeoutMs, signal }, (session) =>
          read(session, { sql: place(query, window), timeColumn: settings.timeColumn, limits, signal }),
        ),
      fields: (signal = AbortSignal.timeout(checkMs)) =>
        withPostgresSession(target, { timeoutMs: checkMs, signal }, async ({ query: ask }) => {
          const { rows } = await ask(listFields);
          const tables = Map.groupBy(rows, (row) => String(row['dataset']));
          return [...tables].map(([dataset, columns]) => ({
            dataset,
            fields: columns.map(({ name, type }) => ({ name: String(name), type: String(type) })),
          }));
        }),
    });
  },
};

const listFields = `
  select case when table_schema = 'public' then table_name else table_schema || '.' || table_name end as dataset,
    column_name as name, data_type as type
  from information_schema.columns where table_schema not in ('pg_catalog', 'information_schema')
  order by 1, ordinal_position limit ${fieldsMax}`;

const literal = (at: Date): string => `'${at.toISOString()}'::timestamptz`;
const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

async function read(
  { query: ask, bytesRead }: PostgresSession,
  { sql, timeColumn, limits, signal }: { sql: string; timeColumn: string; limits: SearchLimits; signal: AbortSignal },
) {
  const within = `(${sql}\n) as q`;
  const { names } = await ask(`select * from ${within} limit 0`);
  const aggregate = isGroupingQuery(sql, 'standard') && !names.includes('_id');
  const rowsMax = aggregate ? limits.groupsMax : limits.rowsMax;
  // The text of the row decides between rows that time and id do not tell apart.
  const order = [...pickOrderColumns(names, timeColumn).map((name) => `q.${quoted(name)}`), 'q::text'].join(', ');
  await ask(`declare tocsin no scroll cursor for select * from ${within} order by ${order} limit ${rowsMax + 1}`);
  const rows: Record<string, unknown>[] = [];
  let isWhole = false;
  // The first page tells how wide rows are: a page of very wide ones must not fill the memory.
  for (let size = firstRows; !isWhole && bytesRead() < bytesMax;) {
    signal.throwIfAborted();
    const page = (await ask(`fetch ${size} from tocsin`)).rows;
    for (const row of page) rows.push(row);
    isWhole = page.length < size;
    size = Math.max(1, Math.min(fetchRows, Math.floor((pageBytes * rows.length) / bytesRead())));
  }
  const truncated = rows.length > rowsMax || !isWhole;
  const total = truncated ? Number((await ask(`select count(*) as n from ${within}`)).rows[0]?.['n']) : rows.length;
  const warnings = twiceIn(names).map((name) => `Several columns are named ${name}; rows hold the last one.`);
  return { rows: rows.slice(0, rowsMax), total, truncated, aggregate, noData: false, warnings };
}

const twiceIn = (names: string[]): string[] => [...new Set(names.filter((name, n) => names.indexOf(name) !== n))];
