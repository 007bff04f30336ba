import { z } from 'zod';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import type { QueryWindow, RemoteConnector } from '../connector.ts';
import {
  authorError,
  dataDependentError,
  httpStatusError,
  matchName,
  UnknownColumnError,
  UnknownIndexError,
  upstreamError,
} from '../siem-errors.ts';
import { requestJson, tryParseJson, type SiemResponse, type SiemServer, fetchFieldCaps } from '../siem-http.ts';
import { validateQueryText, listPipeCommands, emptyWindow, isPlainPipe } from '../query-text.ts';
import { esql } from '../dialects/esql.ts';
import { createRemoteConnection } from '../remote-connection.ts';
import { toRows, allowUnknownIndex, searchSlices, type SliceResult } from '../result-rows.ts';
import { doubleQuoted, joinBalanced } from '../sweep-language.ts';
import * as shared from '../siem-settings.ts';

const Settings = shared.clusterSettings(10_000, "At most the cluster's esql.query.result_truncation_max_size.");
type Settings = z.infer<typeof Settings>;
const Credentials = z.union([z.strictObject({ apiKey: boundedString({ min: 1, max: 1000 }) }), shared.userPassword]);

const checkMs = 10_000;

type EsqlResult = { columns: { name: string; type: string }[]; values: unknown[][]; is_partial?: boolean };
type RequestLimits = { rows: number; timeoutMs: number; signal: AbortSignal };

/**
 * Elasticsearch 8.14 or newer by ES|QL (https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-esql-query). The window is a
 * filter of the request, separate from the query. ES|QL has no pages, so a window with more rows than a response holds is read in slices.
 */
export const elasticsearch: RemoteConnector<Settings, z.infer<typeof Credentials>> = {
  label: 'Elasticsearch',
  language: 'ES|QL',
  writing: 'FROM index METADATA _id | … . The window is a filter beside the query, so do not restrict the time in it.',
  settings: Settings,
  credentials: Credentials,
  describeTarget: ({ url }) => url,
  findUnencryptedHost: (settings) => shared.findPlainHttpHost(settings, 'url'),
  supportsIngestClock: ({ ingestField }) => ingestField !== undefined,
  dialect: esql,
  timeField: '@timestamp',
  source: {
    label: 'Index',
    example: 'winlogbeat-*',
    named: /^\s*from\s+([\w.*:-]+)(?=\s*(?:\||metadata\b|$))/gi,
  },
  names: 'pipes',
  eventField: '_source',
  returnsEvents: (query) => isPlainPipe(query, /^\s*from\s/i, ['where', 'sort', 'limit', 'keep', 'drop']),
  listsAllFields: true,
  objectColumns: null,
  sweep: {
    text: (field) => `TO_LOWER(TO_STRING(${field}))`,
    isIn: (text, values) => `${text} IN (${doubleQuoted(values)})`,
    isLike: (text, patterns) => joinBalanced(' OR ', patterns, (pattern) => `${text} LIKE "${pattern}"`),
    or: ' OR ',
    query: (dataset, condition) => `FROM ${dataset} | WHERE ${condition}`,
  },
  connect: ({ settings, credentials, allow }) => {
    const authorization = 'apiKey' in credentials ? `ApiKey ${credentials.apiKey}` : shared.buildBasicAuth(credentials);
    const server: SiemServer = { base: settings.url, headers: { authorization }, allow, ca: settings.caCertificate };
    const runQuery = (query: string, window: QueryWindow, limits: RequestLimits): Promise<SliceResult> =>
      requestRows(server, { query: `${query}\n| LIMIT ${limits.rows}`, filter: buildFilter(window, settings) }, limits);
    return createRemoteConnection({
      ping: async (signal) => void (await requestJson(server, { path: '/', timeoutMs: checkMs, signal }, toError)),
      check: async (query, signal) => {
        validateQueryText(query);
        await runQuery(query, emptyWindow(), { rows: 0, timeoutMs: checkMs, signal });
      },
      search: async (query, window, limits, signal) => {
        validateQueryText(query);
        const aggregate = listPipeCommands(query).includes('stats');
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

function buildFilter({ from, to, clock, ingestedBefore }: QueryWindow, { timeField, ingestField }: Settings): unknown {
  const field = clock === 'ingest' && ingestField ? ingestField : timeField;
  const range = (name: string, bounds: Record<string, string>) => ({
    range: { [name]: { ...bounds, format: 'strict_date_optional_time' } },
  });
  const filter = [range(field, { gte: from.toISOString(), lt: to.toISOString() })];
  if (ingestedBefore && ingestField) filter.push(range(ingestField, { lt: ingestedBefore.toISOString() }));
  return { bool: { filter } };
}

function requestRows(
  server: SiemServer,
  body: object,
  { rows, timeoutMs, signal }: RequestLimits,
): Promise<SliceResult> {
  const request = { path: '/_query', query: { format: 'json' }, body, timeoutMs, signal };
  const response = requestJson<EsqlResult>(server, request, toError, 'columns', 'values');
  return allowUnknownIndex(
    response.then(({ columns, values, is_partial: isPartial }) => {
      // Rows of a shard that did not respond would be lost permanently.
      if (isPartial) throw upstreamError('partial_answer', 'A part of the cluster did not respond.', true);
      const names = columns.map(({ name }) => name);
      return { rows: toRows(names, values), isCut: rows > 0 && values.length >= rows };
    }),
  );
}

function toError({ status, text }: SiemResponse) {
  const { error } = (tryParseJson(text) ?? {}) as { error?: { type?: string; reason?: string } };
  const message = error?.reason ?? '';
  const column = matchName(message, /Unknown column \[([^\]]+)\]/);
  if (column !== undefined) return new UnknownColumnError(column);
  const index = matchName(message, /Unknown index \[([^\]]+)\]|no such index \[([^\]]+)\]/);
  if (index !== undefined) return new UnknownIndexError(index);
  if (error?.type === 'parsing_exception') return authorError('query_error', message);
  // The types of fields come from the documents, and an index may map one in two ways.
  if (error?.type === 'verification_exception' || status === 400) return dataDependentError('query_error', message);
  return httpStatusError(status, 'Elasticsearch', message);
}
