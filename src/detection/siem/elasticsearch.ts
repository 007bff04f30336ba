import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import type { QueryWindow, RemoteConnector } from './connector.ts';
import { authorFault, faultOfStatus, nameIn, UnknownColumn, upstreamFault } from './siem-failures.ts';
import { askJson, jsonOf, type HttpAnswer, type HttpServer } from './clients/siem-http.ts';
import { fieldCaps } from './field-caps.ts';
import { checkText, pipeCommands } from './queries/query-text.ts';
import { reached } from './remote-connection.ts';
import { rowsOf } from './queries/order-rows.ts';
import { basicAuth, caCertificate, fieldName, httpAddress, plainHttp, userPassword } from './siem-settings.ts';
import { searchSlices, type SliceRows } from './queries/search-slices.ts';

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
  address: ({ url }) => url,
  plainHost: (settings) => plainHttp(settings, 'url'),
  canIngest: ({ ingestField }) => ingestField !== undefined,
  connect: ({ settings, credentials, allow }) => {
    const authorization = 'apiKey' in credentials ? `ApiKey ${credentials.apiKey}` : basicAuth(credentials);
    const server: HttpServer = { base: settings.url, headers: { authorization }, allow, ca: settings.caCertificate };
    const esql = (query: string, by: { window: QueryWindow; rows: number; timeoutMs: number }, signal: AbortSignal) =>
      askEsql(
        server,
        { query: `${query}\n| LIMIT ${by.rows}`, filter: filterOf(by.window, settings) },
        { ...by, signal },
      );
    return reached({
      ping: async (signal) => void (await askJson(server, { path: '/', timeoutMs: checkMs, signal }, faultOf)),
      check: async (query, signal) => {
        checkText(query);
        const now = new Date();
        await esql(query, { window: { from: now, to: now, clock: 'event' }, rows: 0, timeoutMs: checkMs }, signal);
      },
      search: async (query, window, limits, signal) => {
        checkText(query);
        const aggregate = pipeCommands(query).includes('stats');
        const rows = aggregate ? Math.min(limits.groupsMax + 1, settings.rowsAtOnce) : settings.rowsAtOnce;
        const by = { limits, aggregate, timeField: settings.timeField };
        return searchSlices(window, by, (slice) =>
          esql(query, { window: { ...window, ...slice }, rows, timeoutMs: limits.timeoutMs }, signal),
        );
      },
      fields: (signal = AbortSignal.timeout(checkMs)) =>
        fieldCaps(server, settings.index, { timeoutMs: checkMs, signal }, faultOf),
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
  server: HttpServer,
  body: { query: string; filter: unknown },
  { rows, timeoutMs, signal }: { rows: number; timeoutMs: number; signal: AbortSignal },
): Promise<SliceRows> {
  try {
    const answer = await askJson<Answer>(
      server,
      { path: '/_query', query: { format: 'json' }, body, timeoutMs, signal },
      faultOf,
      'columns',
      'values',
    );
    // Rows of a shard that did not answer would be missed for good.
    if (answer.is_partial) throw upstreamFault('partial_answer', 'A part of the cluster did not answer.', true);
    return {
      rows: rowsOf(
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
class UnknownIndex extends UnknownColumn {}

function faultOf({ status, text }: HttpAnswer) {
  const { error } = (jsonOf(text) ?? {}) as { error?: { type?: string; reason?: string } };
  const told = error?.reason ?? '';
  const column = nameIn(told, /Unknown column \[([^\]]+)\]/);
  if (column !== undefined) return new UnknownColumn(column);
  const index = nameIn(told, /Unknown index \[([^\]]+)\]|no such index \[([^\]]+)\]/);
  if (index !== undefined) return new UnknownIndex(index);
  if (error?.type === 'verification_exception' || error?.type === 'parsing_exception')
    return authorFault('query_error', told);
  return faultOfStatus(status, 'Elasticsearch', told);
}
