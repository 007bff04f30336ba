import { z } from 'zod';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import { SiemError, type QueryWindow, type RemoteConnector, type QueryRow } from '../connector.ts';
import {
  authorError,
  dataDependentError,
  httpStatusError,
  matchName,
  UnknownColumnError,
  upstreamError,
} from '../siem-errors.ts';
import { requestJson, tryParseJson, type SiemResponse, type SiemRequest, sendSiemRequest } from '../siem-http.ts';
import {
  listPipeCommands,
  insertWindow,
  removeTrailingSemicolon,
  buildWindowExpressions,
  emptyWindow,
  isPlainPipe,
} from '../query-text.ts';
import { kql } from '../dialects/kql.ts';
import { createRemoteConnection } from '../remote-connection.ts';
import { toRows, searchSlices, type SliceResult } from '../result-rows.ts';
import { doubleQuoted, toRegex } from '../sweep-language.ts';
import * as shared from '../siem-settings.ts';

const guid = z.guid('must be a UUID').toLowerCase();
const Settings = z.strictObject({
  tenantId: guid,
  workspaceId: guid,
  clientId: guid.describe('The ID of an application with the role Log Analytics Reader on the workspace.'),
  endpoint: shared.httpAddress.default('https://api.loganalytics.azure.com'),
  authority: shared.httpAddress.default('https://login.microsoftonline.com'),
  scope: boundedString({ max: 200 }).default('https://api.loganalytics.io/.default'),
  timeColumn: shared.columnName.default('TimeGenerated'),
  lateDays: shared.lateDays,
  datasets: shared.datasets,
});
type Settings = z.infer<typeof Settings>;
const Credentials = z.strictObject({ clientSecret: boundedString({ min: 1, max: 1000 }) });

const checkMs = 20_000;
const dayMs = 86_400_000;
const rowsAtOnce = 10_000;
const groupings = ['summarize', 'count', 'distinct', 'make-series', 'top-nested', 'evaluate'];

type Column = { name: string; type: string };
type QueryResult = {
  tables: { name: string; columns: Column[]; rows: unknown[][] }[];
  error?: { code?: string; message?: string };
};
type Metadata = { tables?: { name: string; columns?: Column[] }[] };

/**
 * Microsoft Sentinel by the Log Analytics query API (https://learn.microsoft.com/azure/azure-monitor/logs/api/overview), with an application's
 * client credentials. On clock `ingest`, the window is on `ingestion_time()`.
 */
export const sentinel: RemoteConnector<Settings, z.infer<typeof Credentials>> = {
  label: 'Microsoft Sentinel',
  language: 'KQL',
  writing: 'Table | where $window | … . `$window` is replaced by the condition on the time column and is required.',
  settings: Settings,
  credentials: Credentials,
  describeTarget: ({ endpoint, authority }) => `${endpoint} ${authority}`,
  findUnencryptedHost: (settings) => shared.findPlainHttpHost(settings, 'endpoint', 'authority'),
  supportsIngestClock: () => true,
  dialect: kql,
  timeField: 'TimeGenerated',
  source: { label: 'Table', example: 'SecurityEvent', named: /^\s*([a-z_]\w*)\s*(?=\||$)/gi },
  names: 'pipes',
  eventField: null,
  returnsEvents: (query) =>
    isPlainPipe(query, /^\s*[a-z_]\w*\s*\|/i, ['where', 'sort', 'order', 'take', 'limit', 'top']),
  listsAllFields: true,
  objectColumns: /^dynamic$/,
  sweep: {
    text: (field) => `tostring(${field})`,
    isIn: (text, values) => `${text} in~ (${doubleQuoted(values)})`,
    isLike: (text, patterns) => `${text} matches regex "(?i)${toRegex(patterns)}"`,
    or: ' or ',
    query: (dataset, condition) => `${dataset} | where $window | where ${condition}`,
  },
  connect: ({ settings, credentials, allow }) => {
    const fetchToken = createTokenSource({ ...settings, ...credentials, allow });
    const path = `/v1/workspaces/${settings.workspaceId}`;
    const request = async <T>(input: SiemRequest, lists: string[], renewToken = false): Promise<T> => {
      const authorization = `Bearer ${await fetchToken(input.signal, renewToken)}`;
      try {
        const server = { base: settings.endpoint, headers: { authorization }, allow };
        return await requestJson<T>(server, input, toError, ...lists);
      } catch (error) {
        // A token may be revoked early, or expire while the machine sleeps.
        if (renewToken || !(error instanceof SiemError) || error.failure.kind !== 'credentials_refused') throw error;
        return request(input, lists, true);
      }
    };
    const runQuery = async (body: object, rows: number, timeoutMs: number, signal: AbortSignal) => {
      const headers = { prefer: `wait=${Math.ceil(timeoutMs / 1000)}` };
      const input = { path: `${path}/query`, body, headers, signal, timeoutMs: timeoutMs + 5_000 };
      return readRows(await request<QueryResult>(input, ['tables']), rows);
    };
    const columns = { timeColumn: settings.timeColumn, ingestColumn: 'ingestion_time()' };
    const buildBody = (query: string, window: QueryWindow, rows: number) => ({
      query: `${removeTrailingSemicolon(insertWindow(query, buildWindowExpressions(window, columns, formatTime)))}\n| take ${rows}`,
      ...(window.clock === 'ingest' ? { timespan: buildTimespan(window, settings) } : {}),
    });
    return createRemoteConnection({
      ping: async (signal) => void (await runQuery({ query: 'print 1' }, 2, checkMs, signal)),
      check: async (query, signal) => {
        await runQuery(buildBody(query, emptyWindow(), 1), 2, checkMs, signal);
      },
      search: async (query, window, limits, signal) => {
        const aggregate = listPipeCommands(query).some((command) => groupings.includes(command));
        const rows = aggregate ? limits.groupsMax + 1 : rowsAtOnce;
        return searchSlices(window, { limits, aggregate, timeField: settings.timeColumn }, (slice) =>
          runQuery(buildBody(query, { ...window, ...slice }, rows), rows, limits.timeoutMs, signal),
        );
      },
      fields: async (signal = AbortSignal.timeout(checkMs)) => {
        const { tables = [] } = await request<Metadata>({ path: `${path}/metadata`, timeoutMs: checkMs, signal }, []);
        return tables.map(({ name, columns: fields = [] }) => ({
          dataset: name,
          fields: fields.map(({ name: field, type }) => ({ name: field, type })),
        }));
      },
    });
  },
};

const formatTime = (at: Date): string => `datetime(${at.toISOString()})`;

/**
 * Returns the range of event times to scan on clock `ingest`, so that the engine does not scan all data. Queries on event time bound
 * themselves and may look back before their window.
 */
function buildTimespan({ from, to }: QueryWindow, { lateDays }: Settings): string {
  const [since, until] = [from.getTime() - lateDays * dayMs, to.getTime() + dayMs];
  return `${new Date(since).toISOString()}/${new Date(until).toISOString()}`;
}

function readRows({ tables, error }: QueryResult, rowsMax: number): SliceResult {
  const [table] = tables;
  if (error && !/exceed/i.test(JSON.stringify(error)))
    throw upstreamError('partial_answer', `Sentinel returned a partial result: ${error.message ?? error.code}`, true);
  if (!table) return { rows: [], isCut: error !== undefined };
  const times = table.columns.flatMap(({ name, type }) => (type === 'datetime' ? [name] : []));
  const dynamic = table.columns.flatMap(({ name, type }) => (type === 'dynamic' ? [name] : []));
  const names = table.columns.map(({ name }) => name);
  const rows = toRows(names, table.rows).map((row) => parseValues(row, { times, dynamic }));
  return { rows, isCut: error !== undefined || table.rows.length >= rowsMax };
}

function parseValues(row: QueryRow, { times, dynamic }: { times: string[]; dynamic: string[] }): QueryRow {
  const out = { ...row };
  for (const name of times) {
    const at = new Date(String(row[name]));
    if (!Number.isNaN(at.getTime())) out[name] = at.toISOString();
  }
  for (const name of dynamic) if (typeof row[name] === 'string') out[name] = tryParseJson(row[name]) ?? row[name];
  return out;
}

type ErrorBody = { code?: string; message?: string; innererror?: ErrorBody };

function toError({ status, text }: SiemResponse) {
  const { error } = (tryParseJson(text) ?? {}) as { error?: ErrorBody };
  let inner = error;
  let isSyntaxError = false;
  for (let depth = 0; inner?.innererror && depth < 5; depth += 1) {
    inner = inner.innererror;
    isSyntaxError ||= /^SYN|^SyntaxError$/.test(inner.code ?? '');
  }
  const message = [...new Set([error?.message, inner?.message])].filter(Boolean).join(' ');
  if (status !== 400) return httpStatusError(status, 'Sentinel', message);
  const column = matchName(inner?.message ?? '', /(?:expression|column)[^']* named '([^']+)'/i);
  if (column !== undefined) return new UnknownColumnError(column);
  if (/quota|throttl|limits? (?:was )?exceeded/i.test(message)) return upstreamError('throttled', message, true);
  const detail = inner?.message ?? message;
  // Tables have the columns and types that their data collection gives them.
  return isSyntaxError ? authorError('query_error', detail) : dataDependentError('query_error', detail);
}

type EntraApplication = {
  authority: string;
  tenantId: string;
  clientId: string;
  clientSecret: string;
  scope: string;
  allow: readonly string[];
};

type Grant = { access_token?: string; expires_in?: number; error?: string; error_description?: string };

const timeoutMs = 15_000;
/** A token is renewed five minutes before it expires, because a query may take that long. */
const renewBeforeMs = 5 * 60_000;

/**
 * Returns a function that fetches and caches an application's access token by the OAuth 2.0 client credentials flow
 * (https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow). `renew` replaces a rejected token.
 */
function createTokenSource(app: EntraApplication): (signal: AbortSignal, renew: boolean) => Promise<string> {
  let cached: { token: string; untilMs: number } | undefined;
  return async (signal, renew) => {
    if (cached && !renew && performance.now() < cached.untilMs) return cached.token;
    const { access_token: token, expires_in: seconds = 0 } = await fetchToken(app, signal);
    if (!token) throw upstreamError('unexpected_answer', 'The identity platform returned no token.');
    cached = { token, untilMs: performance.now() + seconds * 1000 - renewBeforeMs };
    return token;
  };
}

async function fetchToken(
  { authority, tenantId, clientId, clientSecret, scope, allow }: EntraApplication,
  signal: AbortSignal,
): Promise<Grant> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    scope,
  });
  const server = { base: authority, headers: {}, allow };
  const response = await sendSiemRequest(server, { path: `/${tenantId}/oauth2/v2.0/token`, body, timeoutMs, signal });
  const grant = (tryParseJson(response.text) ?? {}) as Grant;
  if (response.status === 200) return grant;
  const message = grant.error_description?.split('\n')[0] ?? grant.error ?? '';
  if (response.status === 400 || response.status === 401)
    throw upstreamError('credentials_refused', `The identity platform rejected the application: ${message}`);
  throw httpStatusError(response.status, 'The identity platform', message);
}
