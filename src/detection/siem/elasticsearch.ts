import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import type { QueryWindow, RemoteConnector } from './connector.ts';
import { authorError, httpStatusError, matchName, UnknownColumnError, upstreamError } from './siem-errors.ts';
import { requestJson, tryParseJson, type SiemResponse, type SiemServer } from './clients/siem-http.ts';
import { fetchFieldCaps } from './clients/field-caps.ts';
import { validateQueryText, listPipeCommands } from './queries/query-text.ts';
import { createRemoteConnection } from './remote-connection.ts';
import { toRows } from './queries/sort-rows.ts';
import {
  buildBasicAuth,
  caCertificate,
  fieldName,
  httpAddress,
  findPlainHttpHost,
  userPassword,
} from './siem-settings.ts';
import { searchSlices, type SliceResult } from './queries/search-slices.ts';

const Settings = z.strictObject({
  url: httpAddress,
  caCertificate,
  timeField: fieldName.default('@timestamp'),
  ingestField: fieldName
    .optional()
    .describe('When a document came to be there (event.ingested): with it the clock may be `ingest`.'),
  index: boundedString({ min: 1, max: 500 }).default('logs-*').describe('Whose fields are listed.'),
  rowsAtOnce: z
    .int()
    .min(100)
    .max(10_000)
    .default(10_000)
    .describe("At most the cluster's esql.query.result_truncation_max_size."),
});
type Settings = z.infer<typeof Settings>;
const Credentials = z.union([z.strictObject({ apiKey: boundedString({ min: 1, max: 1000 }) }), userPassword]);

const checkMs = 10_000;

type Answer = { columns: { name: string; type: string }[]; values: unknown[][]; is_partial?: boolean };

/**
 * Elasticsearch 8.14 or newer by ES|QL (https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-esql-query). The window is the filter
 * of the request, beside the author's text. ES|QL has no pages: a window with more rows than come at once is read in parts.
 */
export const elasticsearch: RemoteConnector<Settings, z.infer<typeof Credentials>> = {
  label: 'Elasticsearch',
  language: 'ES|QL',
  writing: 'FROM index METADATA _id | … . The window is a filter beside the query, which names no times.',
  settings: Settings,
  credentials: Credentials,
  describeTarget: ({ url }) => url,
  findUnencryptedHost: (settings) => findPlainHttpHost(settings, 'url'),
  supportsIngestClock: ({ ingestField }) => ingestField !== undefined,
  connect: ({ settings, credentials, allow }) => {
    const authorization = 'apiKey' in credentials ? `ApiKey ${credentials.apiKey}` : buildBasicAuth(credentials);
    const server: SiemServer = { base: settings.url, headers: { authorization }, allow, ca: settings.caCertificate };
    const esql = (query: string, by: { window: QueryWindow; rows: number; timeoutMs: number }, signal: AbortSignal) =>
      askEsql(
        server,
        { query: `${query}\n| LIMIT ${by.rows}`, filter: filterOf(by.window, settings) },
        { ...by, signal },
      );
    return createRemoteConnection({
      ping: async (signal) => void (await requestJson(server, { path: '/', timeoutMs: checkMs, signal }, faultOf)),
      check: async (query, signal) => {
        validateQueryText(query);
        const now = new Date();
        await esql(query, { window: { from: now, to: now, clock: 'event' }, rows: 0, timeoutMs: checkMs }, signal);
      },
      search: async (query, window, limits, signal) => {
        validateQueryText(query);
        const aggregate = listPipeCommands(query).includes('stats');
        const rows = aggregate ? Math.min(limits.groupsMax + 1, settings.rowsAtOnce) : settings.rowsAtOnce;
        const by = { limits, aggregate, timeField: settings.timeField };
        return searchSlices(window, by, (slice) =>
          esql(query, { window: { ...window, ...slice }, rows, timeoutMs: limits.timeoutMs }, signal),
        );
      },
      fields: (signal = AbortSignal.timeout(checkMs)) =>
        fetchFieldCaps(server, settings.index, { timeoutMs: checkMs, signal }, faultOf),
    });
  },
};

function filterOf({ from, to, clock, ingestedBefore }: QueryWindow, { timeField, ingestField }: Settings): unknown {
  const field = clock === 'ingest' && ingestField ? ingestField : timeField;
  const range = (name: string, bounds: Record<string, string>) => ({
    range: { [name]: { ...bounds, format: 'strict_date_optional_time' } },
  });
  const filter = [range(field, { gte: from.toISOString(), lt: to.toISOString() })];
  if (ingestedBefore && ingestField) filter.push(range(ingestField, { lt: ingestedBefore.toISOString() }));
  return { bool: { filter } };
}

async function askEsql(
  server: SiemServer,
  body: { query: string; filter: unknown },
  { rows, timeoutMs, signal }: { rows: number; timeoutMs: number; signal: AbortSignal },
): Promise<SliceResult> {
  try {
    const answer = await requestJson<Answer>(
      server,
      { path: '/_query', query: { format: 'json' }, body, timeoutMs, signal },
      faultOf,
      'columns',
      'values',
    );
    // Rows of a shard that did not answer would be missed for good.
    if (answer.is_partial) throw upstreamError('partial_answer', 'A part of the cluster did not answer.', true);
    return {
      rows: toRows(
        answer.columns.map(({ name }) => name),
        answer.values,
      ),
      cut: rows > 0 && answer.values.length >= rows,
    };
  } catch (error) {
    if (error instanceof UnknownIndex) return { rows: [], cut: false, noData: true };
    throw error;
  }
}

/** No index of that name yet: nothing was ever written to it. */
class UnknownIndex extends UnknownColumnError {}

function faultOf({ status, text }: SiemResponse) {
  const { error } = (tryParseJson(text) ?? {}) as { error?: { type?: string; reason?: string } };
  const told = error?.reason ?? '';
  const column = matchName(told, /Unknown column \[([^\]]+)\]/);
  if (column !== undefined) return new UnknownColumnError(column);
  const index = matchName(told, /Unknown index \[([^\]]+)\]|no such index \[([^\]]+)\]/);
  if (index !== undefined) return new UnknownIndex(index);
  if (error?.type === 'verification_exception' || error?.type === 'parsing_exception')
    return authorError('query_error', told);
  return httpStatusError(status, 'Elasticsearch', told);
}
