import type { z } from 'zod';
import type { QueryWindow, RemoteConnector, QueryRow } from '../connector.ts';
import {
  authorError,
  dataDependentError,
  httpStatusError,
  matchName,
  UnknownColumnError,
  UnknownIndexError,
} from '../siem-errors.ts';
import { fetchFieldCaps, requestJson, tryParseJson, type SiemResponse, type SiemServer } from '../siem-http.ts';
import { listPipeCommands, insertWindow, buildWindowExpressions, emptyWindow, isPlainPipe } from '../query-text.ts';
import { ppl } from '../dialects/ppl.ts';
import { createRemoteConnection } from '../remote-connection.ts';
import { toRows, allowUnknownIndex, searchSlices, type SliceResult } from '../result-rows.ts';
import { doubleQuoted, joinBalanced, toLike } from '../sweep-language.ts';
import * as shared from '../siem-settings.ts';

const Settings = shared.clusterSettings(
  200,
  "The cluster's plugins.query.size_limit: 200 in OpenSearch 2, 10000 in 3.",
);
type Settings = z.infer<typeof Settings>;

const checkMs = 10_000;
/** Default limits of clusters for rows and groups. A response of exactly this size may be cut, whatever the settings say. */
const defaultLimits = new Set([200, 1000, 10_000]);

type PplResult = { schema: { name: string; alias?: string; type: string }[]; datarows: unknown[][] };
type RequestLimits = { rows: number; timeoutMs: number; signal: AbortSignal };

/** OpenSearch 2.4 or newer by PPL (https://docs.opensearch.org/latest/search-plugins/sql/sql-ppl-api/). A window with more rows than a response holds is read in slices. */
export const opensearch: RemoteConnector<Settings, z.infer<typeof shared.userPassword>> = {
  label: 'OpenSearch',
  language: 'PPL',
  writing:
    'source=index | where $window | … . `$window` is replaced by the condition on the time field and is required.',
  settings: Settings,
  credentials: shared.userPassword,
  describeTarget: ({ url }) => url,
  findUnencryptedHost: (settings) => shared.findPlainHttpHost(settings, 'url'),
  supportsIngestClock: ({ ingestField }) => ingestField !== undefined,
  dialect: ppl,
  timeField: '@timestamp',
  source: { label: 'Index', example: 'winlogbeat-*', named: /\bsource\s*=\s*([\w.*:-]+)(?![\w.*:-]|\s*,)/gi },
  names: 'pipes',
  eventField: null,
  returnsEvents: (query) =>
    isPlainPipe(query, /^\s*(?:search\s+)?source\s*=/i, ['where', 'sort', 'head', 'fields', 'dedup']),
  listsAllFields: true,
  objectColumns: null,
  sweep: {
    text: (field) => `lower(cast(\`${field}\` as string))`,
    isIn: (text, values) => `${text} in (${doubleQuoted(values)})`,
    isLike: (text, patterns) => joinBalanced(' or ', patterns, (pattern) => `like(${text}, "${toLike(pattern)}")`),
    or: ' or ',
    query: (dataset, condition) => `source=${dataset} | where $window and (${condition})`,
  },
  connect: ({ settings, credentials, allow }) => {
    const headers = { authorization: shared.buildBasicAuth(credentials) };
    const server: SiemServer = { base: settings.url, headers, allow, ca: settings.caCertificate };
    const columns = toClockColumns(settings);
    const runQuery = (query: string, window: QueryWindow, limits: RequestLimits): Promise<SliceResult> => {
      const bounded = insertWindow(query, buildWindowExpressions(window, columns, formatTime));
      return requestRows(server, `${bounded}\n| head ${limits.rows}`, limits);
    };
    return createRemoteConnection({
      ping: async (signal) => void (await requestJson(server, { path: '/', timeoutMs: checkMs, signal }, toError)),
      check: async (query, signal) => {
        await runQuery(query, emptyWindow(), { rows: 1, timeoutMs: checkMs, signal });
      },
      search: async (query, window, limits, signal) => {
        const aggregate = listPipeCommands(query).some((command) => ['stats', 'top', 'rare'].includes(command));
        const rows = aggregate ? Math.min(limits.groupsMax + 1, settings.rowsAtOnce) : settings.rowsAtOnce;
        return searchSlices(window, { limits, aggregate, timeField: settings.timeField }, (slice) =>
          runQuery(query, { ...window, ...slice }, { rows, timeoutMs: limits.timeoutMs, signal }),
        );
      },
      fields: (signal = AbortSignal.timeout(checkMs), index = settings.index) =>
        fetchFieldCaps(server, index, { timeoutMs: checkMs, signal }, toError),
    });
  },
};

const toClockColumns = ({ timeField, ingestField }: Settings) => ({
  timeColumn: `\`${timeField}\``,
  ingestColumn: ingestField && `\`${ingestField}\``,
});
const formatTime = (at: Date): string => `TIMESTAMP('${at.toISOString().slice(0, -1).replace('T', ' ')}')`;

function requestRows(
  server: SiemServer,
  query: string,
  { rows, timeoutMs, signal }: RequestLimits,
): Promise<SliceResult> {
  const request = { path: '/_plugins/_ppl', body: { query }, timeoutMs, signal };
  const response = requestJson<PplResult>(server, request, toError, 'schema', 'datarows');
  return allowUnknownIndex(
    response.then(({ schema, datarows }) => {
      const names = schema.map(({ name, alias }) => alias ?? name);
      const times = names.filter((_, index) => schema[index]!.type === 'timestamp');
      const isCut = datarows.length >= rows || defaultLimits.has(datarows.length);
      return { rows: toRows(names, datarows).map((row) => parseTimes(row, times)), isCut };
    }),
  );
}

/** Converts PPL times, which are UTC in the form `2026-01-05 09:00:00.123`, to ISO text. */
function parseTimes(row: QueryRow, names: string[]): QueryRow {
  const times = names.map((name): [string, unknown] => {
    const at = new Date(`${String(row[name]).replace(' ', 'T')}Z`);
    return [name, Number.isNaN(at.getTime()) ? row[name] : at.toISOString()];
  });
  return { ...row, ...Object.fromEntries(times) };
}

function toError({ status, text }: SiemResponse) {
  const { error } = (tryParseJson(text) ?? {}) as { error?: { type?: string; reason?: string; details?: string } };
  const message = error?.details ?? error?.reason ?? '';
  const column = matchName(message, /namespace=FIELD_NAME, name=([^)]+)\)|Field \[([^\]]+)\] not found/);
  if (column !== undefined) return new UnknownColumnError(column);
  const missingIndex = /no such index \[([^\]]+)\]/;
  const index = matchName(error?.reason ?? '', missingIndex) ?? matchName(message, missingIndex);
  if (index !== undefined) return new UnknownIndexError(index);
  if (error?.type?.includes('SyntaxCheckException')) return authorError('query_error', message);
  // The types of fields come from the documents, and an index may map one in two ways.
  if (/(?:SemanticCheck|ExpressionEvaluation|IllegalArgument)Exception/.test(error?.type ?? ''))
    return dataDependentError('query_error', message);
  return httpStatusError(status, 'OpenSearch', message);
}
