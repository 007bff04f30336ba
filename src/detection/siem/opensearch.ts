import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import type { QueryWindow, RemoteConnector, Row } from './connector.ts';
import { authorFault, faultOfStatus, nameIn, UnknownColumn } from './siem-failures.ts';
import { fieldCaps } from './field-caps.ts';
import { askJson, jsonOf, type HttpAnswer, type HttpServer } from './clients/siem-http.ts';
import { pipeCommands, placeWindow } from './queries/query-text.ts';
import { reached } from './remote-connection.ts';
import { rowsOf } from './queries/order-rows.ts';
import { basicAuth, caCertificate, fieldName, httpAddress, plainHttp, userPassword } from './siem-settings.ts';
import { searchSlices, type SliceRows } from './queries/search-slices.ts';
import { windowWords } from './queries/window-words.ts';

const Settings = z.strictObject({
  url: httpAddress,
  caCertificate,
  timeField: fieldName.default('@timestamp'),
  ingestField: fieldName.optional().describe('When a document came to be there: with it the clock may be `ingest`.'),
  index: boundedString({ min: 1, max: 500 }).default('logs-*').describe('Whose fields are listed.'),
  rowsAtOnce: z
    .int()
    .min(100)
    .max(10_000)
    .default(200)
    .describe("The cluster's plugins.query.size_limit: 200 in OpenSearch 2, 10000 in 3."),
});
type Settings = z.infer<typeof Settings>;

const checkMs = 10_000;
/** What clusters give at once where nobody set it, rows and groups: with just as many the answer may have been cut, whatever the settings say. */
const usualLimits = new Set([200, 1000, 10_000]);

type Answer = { schema: { name: string; alias?: string; type: string }[]; datarows: unknown[][] };

/** OpenSearch 2.4 or newer by PPL (https://docs.opensearch.org/latest/search-plugins/sql/sql-ppl-api/). A window with more rows than come at once is read in parts. */
export const opensearch: RemoteConnector<Settings, z.infer<typeof userPassword>> = {
  label: 'OpenSearch',
  language: 'PPL',
  writing: 'source=index | where $window | … . `$window` stands for the condition on the time field and must be used.',
  settings: Settings,
  credentials: userPassword,
  address: ({ url }) => url,
  plainHost: (settings) => plainHttp(settings, 'url'),
  canIngest: ({ ingestField }) => ingestField !== undefined,
  connect: ({ settings, credentials, allow }) => {
    const headers = { authorization: basicAuth(credentials) };
    const server: HttpServer = { base: settings.url, headers, allow, ca: settings.caCertificate };
    const place = (query: string, window: QueryWindow): string =>
      placeWindow(query, windowWords(window, columnsOf(settings), literal));
    const ppl = (query: string, by: { rows: number; timeoutMs: number; signal: AbortSignal }) =>
      askPpl(server, `${query}\n| head ${by.rows}`, by);
    return reached({
      ping: async (signal) => void (await askJson(server, { path: '/', timeoutMs: checkMs, signal }, faultOf)),
      check: async (query, signal) => {
        const now = new Date();
        await ppl(place(query, { from: now, to: now, clock: 'event' }), { rows: 1, timeoutMs: checkMs, signal });
      },
      search: async (query, window, limits, signal) => {
        const aggregate = pipeCommands(query).some((command) => ['stats', 'top', 'rare'].includes(command));
        const rows = aggregate ? Math.min(limits.groupsMax + 1, settings.rowsAtOnce) : settings.rowsAtOnce;
        const by = { limits, aggregate, timeField: settings.timeField };
        return searchSlices(window, by, (slice) =>
          ppl(place(query, { ...window, ...slice }), { rows, timeoutMs: limits.timeoutMs, signal }),
        );
      },
      fields: (signal = AbortSignal.timeout(checkMs)) =>
        fieldCaps(server, settings.index, { timeoutMs: checkMs, signal }, faultOf),
    });
  },
};

const columnsOf = ({ timeField, ingestField }: Settings) => ({
  timeColumn: `\`${timeField}\``,
  ingestColumn: ingestField && `\`${ingestField}\``,
});
const literal = (at: Date): string => `TIMESTAMP('${at.toISOString().slice(0, -1).replace('T', ' ')}')`;

async function askPpl(
  server: HttpServer,
  query: string,
  { rows, timeoutMs, signal }: { rows: number; timeoutMs: number; signal: AbortSignal },
): Promise<SliceRows> {
  try {
    const answer = await askJson<Answer>(
      server,
      { path: '/_plugins/_ppl', body: { query }, timeoutMs, signal },
      faultOf,
      'schema',
      'datarows',
    );
    const times = answer.schema.flatMap(({ name, alias, type }) => (type === 'timestamp' ? [alias ?? name] : []));
    const found = rowsOf(
      answer.schema.map(({ name, alias }) => alias ?? name),
      answer.datarows,
    );
    return {
      rows: found.map((row) => withTimes(row, times)),
      cut: answer.datarows.length >= rows || usualLimits.has(answer.datarows.length),
    };
  } catch (error) {
    if (error instanceof UnknownIndex) return { rows: [], cut: false, noData: true };
    throw error;
  }
}

/** PPL writes times in UTC as `2026-01-05 09:00:00.123`. */
function withTimes(row: Row, names: string[]): Row {
  const times = names.map((name): [string, unknown] => {
    const at = new Date(`${String(row[name]).replace(' ', 'T')}Z`);
    return [name, Number.isNaN(at.getTime()) ? row[name] : at.toISOString()];
  });
  return { ...row, ...Object.fromEntries(times) };
}

/** No index of that name yet: nothing was ever written to it. */
class UnknownIndex extends UnknownColumn {}

function faultOf({ status, text }: HttpAnswer) {
  const { error } = (jsonOf(text) ?? {}) as { error?: { type?: string; reason?: string; details?: string } };
  const told = error?.details ?? error?.reason ?? '';
  const column = nameIn(told, /namespace=FIELD_NAME, name=([^)]+)\)|Field \[([^\]]+)\] not found/);
  if (column !== undefined) return new UnknownColumn(column);
  const noIndex = /no such index \[([^\]]+)\]/;
  const index = nameIn(error?.reason ?? '', noIndex) ?? nameIn(told, noIndex);
  if (index !== undefined) return new UnknownIndex(index);
  if (/(?:SyntaxCheck|SemanticCheck|ExpressionEvaluation|IllegalArgument)Exception/.test(error?.type ?? ''))
    return authorFault('query_error', told);
  return faultOfStatus(status, 'OpenSearch', told);
}
