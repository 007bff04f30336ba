import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import type { QueryWindow, RemoteConnector, QueryRow, SearchLimits } from './connector.ts';
import { authorError, matchName, UnknownColumnError, upstreamError } from './siem-errors.ts';
import { requestJson, type SiemResponse, type SiemServer } from './clients/siem-http.ts';
import { isGroupingQuery, insertWindow, removeTrailingSemicolon } from './queries/query-text.ts';
import { createRemoteConnection } from './remote-connection.ts';
import { caCertificate, columnName, httpAddress, findPlainHttpHost } from './siem-settings.ts';
import { pickOrderColumns, buildWindowExpressions } from './queries/window-expressions.ts';

const Settings = z.strictObject({
  url: httpAddress,
  database: boundedString({ min: 1, max: 100 }).default('default'),
  user: boundedString({ min: 1, max: 100 })
    .default('default')
    .describe('With readonly = 2 in its profile, and the right to read.'),
  caCertificate,
  timeColumn: columnName.describe('The time of an event, as $window uses it.'),
  ingestColumn: columnName.optional().describe('When a row came to be there: with it the clock may be `ingest`.'),
});
const Credentials = z.strictObject({ password: boundedString({ max: 1000 }) });

const checkMs = 10_000;
const fieldsMax = 20_000;

type Answer = { meta: { name: string; type: string }[]; data: QueryRow[] };
type Ask = (sql: string, timeoutMs: number, signal: AbortSignal) => Promise<Answer>;

/** ClickHouse 22.8 or newer by its HTTP interface (https://clickhouse.com/docs/interfaces/http), read-only, the whole answer held back until the query is through. */
export const clickhouse: RemoteConnector<z.infer<typeof Settings>, z.infer<typeof Credentials>> = {
  label: 'ClickHouse',
  language: 'SQL',
  writing: 'One SELECT. `$window` stands for the condition on the time column and must be used: WHERE $window AND … .',
  settings: Settings,
  credentials: Credentials,
  describeTarget: ({ url }) => url,
  findUnencryptedHost: (settings) => findPlainHttpHost(settings, 'url'),
  supportsIngestClock: ({ ingestColumn }) => ingestColumn !== undefined,
  connect: ({ settings, credentials, allow }) => {
    const { url: base, user, database, caCertificate: ca } = settings;
    const headers = { 'x-clickhouse-user': user, 'x-clickhouse-key': credentials.password };
    const ask = askWith({ base, headers, allow, ca }, database);
    const place = (query: string, window: QueryWindow): string =>
      removeTrailingSemicolon(insertWindow(query, buildWindowExpressions(window, settings, literal)));
    return createRemoteConnection({
      ping: async (signal) => void (await ask('select 1', checkMs, signal)),
      check: async (query, signal) => {
        const now = new Date();
        await ask(`describe table (${place(query, { from: now, to: now, clock: 'event' })}\n)`, checkMs, signal);
      },
      search: (query, window, limits, signal) =>
        read((sql) => ask(sql, limits.timeoutMs, signal), {
          sql: place(query, window),
          timeColumn: settings.timeColumn,
          limits,
        }),
      fields: async (signal = AbortSignal.timeout(checkMs)) => {
        const { data } = await ask(listFields, checkMs, signal);
        const tables = Map.groupBy(data, (row) => String(row['table']));
        return [...tables].map(([dataset, columns]) => ({
          dataset,
          fields: columns.map(({ name, type }) => ({ name: String(name), type: String(type) })),
        }));
      },
    });
  },
};

const listFields = `select table, name, type from system.columns where database = currentDatabase() order by table, position limit ${fieldsMax}`;
const literal = (at: Date): string => `toDateTime64('${at.toISOString().slice(0, -1).replace('T', ' ')}', 3, 'UTC')`;
const quoted = (name: string): string => `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;

async function read(
  ask: (sql: string) => Promise<Answer>,
  { sql, timeColumn, limits }: { sql: string; timeColumn: string; limits: SearchLimits },
) {
  const within = `(${sql}\n)`;
  const names = (await ask(`describe table ${within}`)).data.map(({ name }) => String(name));
  const aggregate = isGroupingQuery(sql) && !names.includes('_id');
  const rowsMax = aggregate ? limits.groupsMax : limits.rowsMax;
  const first = pickOrderColumns(names, timeColumn);
  // As text, since maps and the like have no order.
  const rest = names.filter((name) => !first.includes(name)).map((name) => `toString(${quoted(name)})`);
  const order = [...first.map(quoted), ...rest].join(', ');
  const { meta, data } = await ask(`select * from ${within} order by ${order} limit ${rowsMax + 1}`);
  const truncated = data.length > rowsMax;
  const total = truncated ? Number((await ask(`select count() as n from ${within}`)).data[0]?.['n']) : data.length;
  const isWhole = new Set(
    meta
      .filter(({ type }) => /^(?:LowCardinality\()?(?:Nullable\()?U?Int(?:64|128|256)/.test(type))
      .map(({ name }) => name),
  );
  const rows = data.slice(0, rowsMax).map((row) => valuesOf(row, isWhole));
  return { rows, total, truncated, aggregate, noData: false };
}

function valuesOf(row: QueryRow, isWhole: ReadonlySet<string>): QueryRow {
  const entries = Object.entries(row).map(([name, value]): [string, unknown] =>
    isWhole.has(name) && typeof value === 'string' && Number.isSafeInteger(Number(value))
      ? [name, Number(value)]
      : [name, value],
  );
  return Object.fromEntries(entries);
}

function askWith(server: SiemServer, database: string): Ask {
  return (sql, timeoutMs, signal) =>
    requestJson<Answer>(
      server,
      {
        path: '/',
        method: 'POST',
        query: {
          database,
          // An error after the first rows would otherwise come with status 200.
          wait_end_of_query: '1',
          // A run that is given up leaves no query behind.
          cancel_http_readonly_queries_on_client_close: '1',
          max_execution_time: String(Math.ceil(timeoutMs / 1000)),
          date_time_output_format: 'iso',
          output_format_json_quote_64bit_integers: '1',
          // Last, so that where nothing may be set the answer names another: an author's query may try to set this one.
          readonly: '2',
        },
        body: `${sql}\nformat JSON`,
        timeoutMs: timeoutMs + 5_000,
        signal,
      },
      faultOf,
      'meta',
      'data',
    );
}

const isOurs =
  /Cannot modify '(?:max_execution_time|date_time_output_format|output_format_json_quote_64bit_integers|cancel_http_readonly_queries_on_client_close)'/;
// Files, disks, the network, other servers, Keeper, a shutdown.
const unwell = new Set([23, 32, 74, 75, 76, 198, 209, 210, 225, 236, 242, 243, 279, 369, 394, 425, 499, 999, 1000]);

/** By the numbers of ClickHouse's own errors (src/Common/ErrorCodes.cpp). */
function faultOf({ header, text }: SiemResponse) {
  const code = Number(header('x-clickhouse-exception-code') ?? /^Code: (\d+)/.exec(text)?.[1] ?? 0);
  const told = text.replace(/^Code: \d+\. DB::Exception: /, '').slice(0, 400);
  if (code === 0) return undefined;
  if (code === 47 || code === 16) {
    const name = matchName(told, /identifier [`']([^`']+)[`']|columns?:? [`']([^`']+)[`']/i);
    return name !== undefined ? new UnknownColumnError(name) : authorError('unknown_column', told);
  }
  if ([192, 193, 194, 195, 516].includes(code)) return upstreamError('credentials_refused', told);
  if (code === 497) return upstreamError('rights_missing', told);
  // What this connection sends with each query may not be set: readonly = 1 in the profile, where it has to be 2.
  if (code === 164 && isOurs.test(told))
    return upstreamError('rights_missing', `${told} (its profile needs readonly = 2)`);
  if (code === 81) return upstreamError('not_found', told);
  if ([201, 202, 203].includes(code)) return upstreamError('throttled', told, true);
  if (code === 159) return authorError('query_timeout', 'The query did not end within its time limit.');
  // The limit of one query is its author's, that of the server or of all of a user is not.
  if (code === 241)
    return /\((?:total|for user)\)/.test(told)
      ? upstreamError('throttled', told, true)
      : authorError('query_memory', told);
  if (code === 164) return authorError('query_not_allowed', told);
  if (unwell.has(code)) return upstreamError('unavailable', told, true);
  return authorError('query_error', told);
}
