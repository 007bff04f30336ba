import { z } from 'zod';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import type { QueryWindow, RemoteConnector, QueryRow, SearchLimits } from '../connector.ts';
import {
  authorError,
  dataDependentError,
  dataError,
  matchName,
  UnknownColumnError,
  upstreamError,
} from '../siem-errors.ts';
import { requestJson, type SiemResponse, type SiemServer } from '../siem-http.ts';
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
import { groupFields } from '../result-rows.ts';
import { clickhouse as dialect } from '../dialects/clickhouse.ts';
import { createRemoteConnection } from '../remote-connection.ts';
import { singleQuoted, toRegex } from '../sweep-language.ts';
import * as shared from '../siem-settings.ts';

const Settings = z.strictObject({
  url: shared.httpAddress,
  database: boundedString({ min: 1, max: 100 }).default('default').meta(shared.shown),
  user: boundedString({ min: 1, max: 100 })
    .default('default')
    .describe('A user that can read the data and has `readonly = 2` in its profile.')
    .meta(shared.shown),
  caCertificate: shared.caCertificate,
  timeColumn: shared.timeColumn,
  ingestColumn: shared.ingestColumn,
  datasets: shared.datasets,
});
const Credentials = z.strictObject({ password: boundedString({ max: 1000 }) });

const checkMs = 10_000;
const fieldsMax = 20_000;

type QueryResult = { data: QueryRow[] };
type RunQuery = (sql: string, timeoutMs: number, signal: AbortSignal) => Promise<QueryResult>;

/** ClickHouse 22.8 or newer by its HTTP interface (https://clickhouse.com/docs/interfaces/http), read-only. Responses are buffered until the query ends. */
export const clickhouse: RemoteConnector<z.infer<typeof Settings>, z.infer<typeof Credentials>> = {
  label: 'ClickHouse',
  language: 'SQL',
  writing:
    'One SELECT. `$window` is replaced by the condition on the time column and is required: WHERE $window AND … .',
  settings: Settings,
  credentials: Credentials,
  describeTarget: ({ url }) => url,
  findUnencryptedHost: (settings) => shared.findPlainHttpHost(settings, 'url'),
  supportsIngestClock: ({ ingestColumn }) => ingestColumn !== undefined,
  dialect,
  timeField: 'timestamp',
  source: { label: 'Table', example: 'windows_events', named: sqlSource },
  names: 'sql',
  eventField: null,
  returnsEvents: (query) => isPlainSelect(query),
  listsAllFields: true,
  objectColumns: /./,
  sweep: {
    text: (field) => `lower(toString(\`${field}\`))`,
    isIn: (text, values) => `${text} IN (${singleQuoted(values)})`,
    isLike: (text, patterns) => `match(${text}, '${toRegex(patterns)}')`,
    or: ' OR ',
    query: (dataset, condition) => `SELECT * FROM \`${dataset}\` WHERE $window AND (${condition})`,
  },
  connect: ({ settings, credentials, allow }) => {
    const { url: base, user, database, caCertificate: ca } = settings;
    const headers = { 'x-clickhouse-user': user, 'x-clickhouse-key': credentials.password };
    const runQuery = createRunQuery({ base, headers, allow, ca }, database);
    const boundQuery = (query: string, window: QueryWindow): string =>
      removeTrailingSemicolon(insertWindow(query, buildWindowExpressions(window, settings, formatTime)));
    return createRemoteConnection({
      ping: async (signal) => void (await runQuery('select 1', checkMs, signal)),
      check: async (query, signal) => {
        await runQuery(`describe table (${boundQuery(query, emptyWindow())}\n)`, checkMs, signal);
      },
      search: (query, window, limits, signal) =>
        readRows((sql) => runQuery(sql, limits.timeoutMs, signal), {
          sql: boundQuery(query, window),
          timeColumn: settings.timeColumn,
          limits,
        }),
      fields: async (signal = AbortSignal.timeout(checkMs)) => {
        const { data } = await runQuery(listFields, checkMs, signal);
        return groupFields(data, 'table');
      },
    });
  },
};

const listFields = `select table, name, type from system.columns where database = currentDatabase() order by table, position limit ${fieldsMax}`;
const formatTime = (at: Date): string => `toDateTime64('${at.toISOString().slice(0, -1).replace('T', ' ')}', 3, 'UTC')`;
const quoteName = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;

async function readRows(
  runQuery: (sql: string) => Promise<QueryResult>,
  { sql, timeColumn, limits }: { sql: string; timeColumn: string; limits: SearchLimits },
) {
  const subquery = `(${sql}\n)`;
  const names = (await runQuery(`describe table ${subquery}`)).data.map(({ name }) => String(name));
  const aggregate = isGroupingQuery(sql) && !names.includes('_id');
  const rowsMax = aggregate ? limits.groupsMax : limits.rowsMax;
  const first = pickOrderColumns(names, timeColumn);
  // As text, because maps and similar types have no order.
  const rest = names.filter((name) => !first.includes(name)).map((name) => `toString(${quoteName(name)})`);
  const order = [...first.map(quoteName), ...rest].join(', ');
  const { data } = await runQuery(`select * from ${subquery} order by ${order} limit ${rowsMax + 1}`);
  const truncated = data.length > rowsMax;
  const total = truncated
    ? Number((await runQuery(`select count() as n from ${subquery}`)).data[0]?.['n'])
    : data.length;
  return { rows: data.slice(0, rowsMax), total, truncated, aggregate, noData: false };
}

function createRunQuery(server: SiemServer, database: string): RunQuery {
  return (sql, timeoutMs, signal) =>
    requestJson<QueryResult>(
      server,
      {
        path: '/',
        method: 'POST',
        query: {
          database,
          // Without this, an error after the first rows has status 200.
          wait_end_of_query: '1',
          // Cancels the query when the run is aborted.
          cancel_http_readonly_queries_on_client_close: '1',
          max_execution_time: String(Math.ceil(timeoutMs / 1000)),
          date_time_output_format: 'iso',
          // Plain integers, also inside of JSON, maps and tuples. `requestJson` reads them exactly.
          output_format_json_quote_64bit_integers: '0',
          // Last, so that a profile that allows no settings reports another one. A query may try to set this one.
          readonly: '2',
        },
        body: `${sql}\nformat JSON`,
        timeoutMs: timeoutMs + 5_000,
        signal,
      },
      toError,
      'data',
    );
}

const ownSettings =
  /Cannot modify '(?:max_execution_time|date_time_output_format|output_format_json_quote_64bit_integers|cancel_http_readonly_queries_on_client_close)'/;
// Errors of values: conversions, overflows, divisions, and arrays or subqueries of unexpected size.
const valueErrors = new Set([
  6, 25, 26, 27, 38, 41, 69, 70, 72, 117, 125, 128, 131, 153, 190, 321, 349, 376, 407, 467, 675, 676,
]);
// Limits of rows and bytes that a query reads or collects.
const dataLimits = new Set([158, 191, 307, 396]);
// Errors of files, disks, the network, other servers, Keeper and shutdown.
const outages = new Set([23, 32, 74, 75, 76, 198, 209, 210, 225, 236, 242, 243, 279, 369, 394, 425, 499, 999, 1000]);

// Errors of the text of a query, whatever the tables contain: syntax, unknown functions, types and settings, and misplaced aggregates.
const queryErrors = new Set([42, 46, 50, 62, 63, 80, 115, 133, 184, 215]);

/** Converts ClickHouse's error codes (src/Common/ErrorCodes.cpp). */
function toError({ header, text }: SiemResponse) {
  const code = Number(header('x-clickhouse-exception-code') ?? /^Code: (\d+)/.exec(text)?.[1] ?? 0);
  const message = text.replace(/^Code: \d+\. DB::Exception: /, '').slice(0, 400);
  if (code === 0) return undefined;
  if (code === 47 || code === 16) {
    const name = matchName(message, /identifier [`']([^`']+)[`']|columns?:? [`']([^`']+)[`']/i);
    return name !== undefined ? new UnknownColumnError(name) : dataDependentError('unknown_column', message);
  }
  if ([192, 193, 194, 195, 516].includes(code)) return upstreamError('credentials_refused', message);
  if (code === 497) return upstreamError('rights_missing', message);
  // The profile rejects the settings of this connection: it has readonly = 1 and needs readonly = 2.
  if (code === 164 && ownSettings.test(message))
    return upstreamError('rights_missing', `${message} (its profile needs readonly = 2)`);
  if (code === 81) return upstreamError('not_found', message);
  if ([201, 202, 203].includes(code)) return upstreamError('throttled', message, true);
  if (code === 159) return dataDependentError('query_timeout', 'The query exceeded its time limit.');
  // The author is responsible for the memory limit of a query, but not for that of the server or user.
  if (code === 241)
    return /\((?:total|for user)\)/.test(message)
      ? upstreamError('throttled', message, true)
      : dataDependentError('query_memory', message);
  if (code === 164) return authorError('query_not_allowed', message);
  if (valueErrors.has(code)) return dataError(message);
  if (dataLimits.has(code)) return dataDependentError('query_limit', message);
  if (outages.has(code)) return upstreamError('unavailable', message, true);
  return queryErrors.has(code) ? authorError('query_error', message) : dataDependentError('query_error', message);
}
