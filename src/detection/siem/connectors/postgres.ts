import { z } from 'zod';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import type { QueryWindow, RemoteConnector, SearchLimits } from '../connector.ts';
import { withPostgresSession, type PostgresSession, type PostgresTarget } from './postgres-session.ts';
import {
  isGroupingQuery,
  insertWindow,
  removeTrailingSemicolon,
  buildWindowExpressions,
  emptyWindow,
  pickOrderColumns,
  isPlainSelect,
  sqlSource,
} from '../query-text.ts';
import { postgres as dialect } from '../dialects/postgres.ts';
import { createRemoteConnection } from '../remote-connection.ts';
import { groupFields } from '../result-rows.ts';
import { singleQuoted, quotePath, toRegex } from '../sweep-language.ts';
import * as shared from '../siem-settings.ts';

const Settings = z.strictObject({
  host: boundedString({ min: 1, max: 255 }),
  port: z.int().min(1).max(65_535).default(5432).meta(shared.shown),
  database: boundedString({ min: 1, max: 63 }),
  user: boundedString({ min: 1, max: 63 }).describe('A user with read access only.'),
  tls: z.enum(['verify', 'off']).default('verify').describe('`off` is accepted only for hosts in TOCSIN_FETCH_ALLOW.'),
  caCertificate: shared.caCertificate,
  timeColumn: shared.timeColumn,
  ingestColumn: shared.ingestColumn,
  datasets: shared.datasets,
});
const Credentials = z.strictObject({ password: boundedString({ min: 1, max: 1000 }) });

const firstRows = 100;
const fetchRows = 5_000;
const pageBytes = 16 * 1024 * 1024;
const bytesMax = 128 * 1024 * 1024;
const checkMs = 10_000;
const fieldsMax = 20_000;

/** PostgreSQL 12 or newer. Each query is a read-only transaction with the server's time limit, read through a cursor. */
export const postgres: RemoteConnector<z.infer<typeof Settings>, z.infer<typeof Credentials>> = {
  label: 'PostgreSQL',
  language: 'SQL',
  writing:
    'One SELECT. `$window` is replaced by the condition on the time column and is required: WHERE $window AND … .',
  settings: Settings,
  credentials: Credentials,
  describeTarget: ({ host, port }) => `${host}:${port}`,
  findUnencryptedHost: ({ host, tls }) => (tls === 'off' ? { field: 'tls', host } : undefined),
  supportsIngestClock: ({ ingestColumn }) => ingestColumn !== undefined,
  dialect,
  timeField: 'timestamp',
  source: { label: 'Table', example: 'windows_events', named: sqlSource },
  names: 'postgres',
  eventField: null,
  returnsEvents: (query) => isPlainSelect(query, 'standard'),
  listsAllFields: true,
  // A value of type `json` may have an escape that its text cannot have, which would make the query fail.
  objectColumns: /^jsonb$/,
  // As text, an `inet` address ends with its mask.
  sweep: {
    text: (field) => `regexp_replace(lower("${field}"::text), '/(32|128)$', '')`,
    isIn: (text, values) => `${text} IN (${singleQuoted(values)})`,
    isLike: (text, patterns) => `${text} ~ '${toRegex(patterns)}'`,
    or: ' OR ',
    query: (dataset, condition) => `SELECT * FROM ${quotePath(dataset)} WHERE $window AND (${condition})`,
  },
  connect: ({ settings, credentials, allow }) => {
    const target: PostgresTarget = { ...settings, ...credentials, allow };
    const boundQuery = (query: string, window: QueryWindow): string => {
      const bounded = insertWindow(query, buildWindowExpressions(window, settings, formatTime), 'standard');
      return removeTrailingSemicolon(bounded, 'standard');
    };
    const check = { timeoutMs: checkMs };
    return createRemoteConnection({
      ping: (signal) =>
        withPostgresSession(target, { ...check, signal }, async (session) => void (await session.query('select 1'))),
      check: (query, signal) => {
        // As a subquery, as `readRows` runs it. Not every statement is one.
        const sql = `explain select * from (${boundQuery(query, emptyWindow())}\n) as q`;
        return withPostgresSession(target, { ...check, signal }, async (session) => void (await session.query(sql)));
      },
      search: (query, window, limits, signal) =>
        withPostgresSession(target, { timeoutMs: limits.timeoutMs, signal }, (session) =>
          readRows(session, { sql: boundQuery(query, window), timeColumn: settings.timeColumn, limits, signal }),
        ),
      fields: (signal = AbortSignal.timeout(checkMs)) =>
        withPostgresSession(target, { ...check, signal }, async (session) =>
          groupFields((await session.query(listFields)).rows, 'dataset'),
        ),
    });
  },
};

const listFields = `
  select case when table_schema = 'public' then table_name else table_schema || '.' || table_name end as dataset,
    column_name as name, data_type as type
  from information_schema.columns where table_schema not in ('pg_catalog', 'information_schema')
  order by 1, ordinal_position limit ${fieldsMax}`;

const formatTime = (at: Date): string => `'${at.toISOString()}'::timestamptz`;
const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;

async function readRows(
  { query, bytesRead }: PostgresSession,
  { sql, timeColumn, limits, signal }: { sql: string; timeColumn: string; limits: SearchLimits; signal: AbortSignal },
) {
  const subquery = `(${sql}\n) as q`;
  const { names } = await query(`select * from ${subquery} limit 0`);
  const aggregate = isGroupingQuery(sql, 'standard') && !names.includes('_id');
  const rowsMax = aggregate ? limits.groupsMax : limits.rowsMax;
  // The row's text decides between rows with the same time and ID.
  const order = [...pickOrderColumns(names, timeColumn).map((name) => `q.${quoteName(name)}`), 'q::text'].join(', ');
  await query(`declare tocsin no scroll cursor for select * from ${subquery} order by ${order} limit ${rowsMax + 1}`);
  const rows: Record<string, unknown>[] = [];
  let isComplete = false;
  // The first page shows how wide rows are, so that a page of wide rows does not fill the memory.
  for (let size = firstRows; !isComplete && bytesRead() < bytesMax;) {
    signal.throwIfAborted();
    const page = (await query(`fetch ${size} from tocsin`)).rows;
    for (const row of page) rows.push(row);
    isComplete = page.length < size;
    size = Math.max(1, Math.min(fetchRows, Math.floor((pageBytes * rows.length) / bytesRead())));
  }
  const truncated = rows.length > rowsMax || !isComplete;
  const total = truncated ? Number((await query(`select count(*) as n from ${subquery}`)).rows[0]?.['n']) : rows.length;
  const warnings = findDuplicates(names).map((name) => ({
    code: 'query',
    detail: `Several columns are named ${name}. Rows contain the last one.`,
  }));
  return { rows: rows.slice(0, rowsMax), total, truncated, aggregate, noData: false, warnings };
}

const findDuplicates = (names: string[]): string[] => [
  ...new Set(names.filter((name, n) => names.indexOf(name) !== n)),
];
