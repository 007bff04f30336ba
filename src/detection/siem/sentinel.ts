import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { SiemError, type QueryWindow, type RemoteConnector, type QueryRow } from './connector.ts';
import { authorError, httpStatusError, matchName, UnknownColumnError, upstreamError } from './siem-errors.ts';
import { requestJson, tryParseJson, type SiemResponse, type SiemServer } from './clients/siem-http.ts';
import { listPipeCommands, insertWindow, removeTrailingSemicolon } from './queries/query-text.ts';
import { createRemoteConnection } from './remote-connection.ts';
import { toRows } from './queries/sort-rows.ts';
import { createTokenSource } from './clients/sentinel-token.ts';
import { columnName, httpAddress, findPlainHttpHost } from './siem-settings.ts';
import { searchSlices, type SliceResult } from './queries/search-slices.ts';
import { buildWindowExpressions } from './queries/window-expressions.ts';

const guid = z.guid('must be a UUID').toLowerCase();
const Settings = z.strictObject({
  tenantId: guid,
  workspaceId: guid,
  clientId: guid.describe('An application with the role Log Analytics Reader on the workspace.'),
  endpoint: httpAddress.default('https://api.loganalytics.azure.com'),
  authority: httpAddress.default('https://login.microsoftonline.com'),
  scope: boundedString({ max: 200 }).default('https://api.loganalytics.io/.default'),
  timeColumn: columnName.default('TimeGenerated'),
  lateDays: z
    .int()
    .min(1)
    .max(365)
    .default(7)
    .describe('On the clock `ingest`: how far the time of an event may lie before its ingestion.'),
});
type Settings = z.infer<typeof Settings>;
const Credentials = z.strictObject({ clientSecret: boundedString({ min: 1, max: 1000 }) });

const checkMs = 20_000;
const dayMs = 86_400_000;
const rowsAtOnce = 10_000;
const groupings = ['summarize', 'count', 'distinct', 'make-series', 'top-nested', 'evaluate'];

type Column = { name: string; type: string };
type Answer = {
  tables: { name: string; columns: Column[]; rows: unknown[][] }[];
  error?: { code?: string; message?: string };
};
type Metadata = { tables?: { name: string; columns?: Column[] }[] };

/**
 * Microsoft Sentinel by the Log Analytics query API (https://learn.microsoft.com/azure/azure-monitor/logs/api/overview), with the client credentials of
 * an application. On the clock `ingest` the window is on `ingestion_time()`.
 */
export const sentinel: RemoteConnector<Settings, z.infer<typeof Credentials>> = {
  label: 'Microsoft Sentinel',
  language: 'KQL',
  writing: 'Table | where $window | … . `$window` stands for the condition on the time column and must be used.',
  settings: Settings,
  credentials: Credentials,
  describeTarget: ({ endpoint, authority }) => `${endpoint} ${authority}`,
  findUnencryptedHost: (settings) => findPlainHttpHost(settings, 'endpoint', 'authority'),
  supportsIngestClock: () => true,
  connect: ({ settings, credentials, allow }) => {
    const token = createTokenSource({ ...settings, ...credentials, allow });
    const path = `/v1/workspaces/${settings.workspaceId}`;
    const asked = async <T>(
      signal: AbortSignal,
      work: (server: SiemServer) => Promise<T>,
      renew = false,
    ): Promise<T> => {
      const authorization = `Bearer ${await token(signal, renew)}`;
      try {
        return await work({ base: settings.endpoint, headers: { authorization }, allow });
      } catch (error) {
        // A token may end before its time, or while the machine slept.
        if (renew || !(error instanceof SiemError) || error.failure.kind !== 'credentials_refused') throw error;
        return asked(signal, work, true);
      }
    };
    const kql = async (body: object, rows: number, by: { timeoutMs: number; signal: AbortSignal }) => {
      const headers = { prefer: `wait=${Math.ceil(by.timeoutMs / 1000)}` };
      const given = { path: `${path}/query`, body, headers, signal: by.signal, timeoutMs: by.timeoutMs + 5_000 };
      const answer = await asked(by.signal, (server) => requestJson<Answer>(server, given, faultOf, 'tables'));
      return rowsOfAnswer(answer, rows);
    };
    const columns = { timeColumn: settings.timeColumn, ingestColumn: 'ingestion_time()' };
    const place = (query: string, window: QueryWindow, rows: number) => ({
      query: `${removeTrailingSemicolon(insertWindow(query, buildWindowExpressions(window, columns, literal)))}\n| take ${rows}`,
      ...(window.clock === 'ingest' ? { timespan: timespan(window, settings) } : {}),
    });
    return createRemoteConnection({
      ping: async (signal) => void (await kql({ query: 'print 1' }, 2, { timeoutMs: checkMs, signal })),
      check: async (query, signal) => {
        const now = new Date();
        await kql(place(query, { from: now, to: now, clock: 'event' }, 1), 2, { timeoutMs: checkMs, signal });
      },
      search: async (query, window, limits, signal) => {
        const aggregate = listPipeCommands(query).some((command) => groupings.includes(command));
        const rows = aggregate ? limits.groupsMax + 1 : rowsAtOnce;
        const by = { limits, aggregate, timeField: settings.timeColumn };
        return searchSlices(window, by, (slice) =>
          kql(place(query, { ...window, ...slice }, rows), rows, { timeoutMs: limits.timeoutMs, signal }),
        );
      },
      fields: async (signal = AbortSignal.timeout(checkMs)) => {
        const given = { path: `${path}/metadata`, timeoutMs: checkMs, signal };
        const { tables = [] } = await asked(signal, (server) => requestJson<Metadata>(server, given, faultOf));
        return tables.map(({ name, columns: fields = [] }) => ({
          dataset: name,
          fields: fields.map(({ name: field, type }) => ({ name: field, type })),
        }));
      },
    });
  },
};

const literal = (at: Date): string => `datetime(${at.toISOString()})`;

// So that the engine need not look at all that it ever took in; by `TimeGenerated` it bounds itself, and a query may look back beside its window.
function timespan({ from, to }: QueryWindow, { lateDays }: Settings): string {
  const [since, until] = [from.getTime() - lateDays * dayMs, to.getTime() + dayMs];
  return `${new Date(since).toISOString()}/${new Date(until).toISOString()}`;
}

function rowsOfAnswer({ tables, error }: Answer, rows: number): SliceResult {
  const [table] = tables;
  if (error && !/exceed/i.test(JSON.stringify(error)))
    throw upstreamError('partial_answer', `Sentinel answered in part: ${error.message ?? error.code}`, true);
  if (!table) return { rows: [], cut: error !== undefined };
  const times = table.columns.flatMap(({ name, type }) => (type === 'datetime' ? [name] : []));
  const dynamic = table.columns.flatMap(({ name, type }) => (type === 'dynamic' ? [name] : []));
  const found = toRows(
    table.columns.map(({ name }) => name),
    table.rows,
  ).map((row) => valuesOf(row, { times, dynamic }));
  return { rows: found, cut: error !== undefined || table.rows.length >= rows };
}

function valuesOf(row: QueryRow, { times, dynamic }: { times: string[]; dynamic: string[] }): QueryRow {
  const out = { ...row };
  for (const name of times) {
    const at = new Date(String(row[name]));
    if (!Number.isNaN(at.getTime())) out[name] = at.toISOString();
  }
  for (const name of dynamic) if (typeof row[name] === 'string') out[name] = tryParseJson(row[name]) ?? row[name];
  return out;
}

type Inner = { code?: string; message?: string; innererror?: Inner };

function faultOf({ status, text }: SiemResponse) {
  const { error } = (tryParseJson(text) ?? {}) as { error?: Inner };
  let inner = error;
  for (let depth = 0; inner?.innererror && depth < 5; depth += 1) inner = inner.innererror;
  const told = [...new Set([error?.message, inner?.message])].filter(Boolean).join(' ');
  if (status !== 400) return httpStatusError(status, 'Sentinel', told);
  const column = matchName(inner?.message ?? '', /(?:expression|column)[^']* named '([^']+)'/i);
  if (column !== undefined) return new UnknownColumnError(column);
  if (/quota|throttl|limits? (?:was )?exceeded/i.test(told)) return upstreamError('throttled', told, true);
  return authorError('query_error', inner?.message ?? told);
}
