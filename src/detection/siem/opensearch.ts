import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import type { QueryWindow, RemoteConnector, QueryRow } from './connector.ts';
import { authorError, httpStatusError, matchName, UnknownColumnError } from './siem-errors.ts';
import { fetchFieldCaps } from './clients/field-caps.ts';
import { requestJson, tryParseJson, type SiemResponse, type SiemServer } from './clients/siem-http.ts';
import { listPipeCommands, insertWindow } from './queries/query-text.ts';
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
import { buildWindowExpressions } from './queries/window-expressions.ts';

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
  describeTarget: ({ url }) => url,
  findUnencryptedHost: (settings) => findPlainHttpHost(settings, 'url'),
  supportsIngestClock: ({ ingestField }) => ingestField !== undefined,
  connect: ({ settings, credentials, allow }) => {
    const headers = { authorization: buildBasicAuth(credentials) };
    const server: SiemServer = { base: settings.url, headers, allow, ca: settings.caCertificate };
    const place = (query: string, window: QueryWindow): string =>
      insertWindow(query, buildWindowExpressions(window, columnsOf(settings), literal));
    const ppl = (query: string, by: { rows: number; timeoutMs: number; signal: AbortSignal }) =>
      askPpl(server, `${query}\n| head ${by.rows}`, by);
    return createRemoteConnection({
      ping: async (signal) => void (await requestJson(server, { path: '/', timeoutMs: checkMs, signal }, faultOf)),
      check: async (query, signal) => {
        const now = new Date();
        await ppl(place(query, { from: now, to: now, clock: 'event' }), { rows: 1, timeoutMs: checkMs, signal });
      },
      search: async (query, window, limits, signal) => {
        const aggregate = listPipeCommands(query).some((command) => ['stats', 'top', 'rare'].includes(command));
        const rows = aggregate ? Math.min(limits.groupsMax + 1, settings.rowsAtOnce) : settings.rowsAtOnce;
        const by = { limits, aggregate, timeField: settings.timeField };
        return searchSlices(window, by, (slice) =>
          ppl(place(query, { ...window, ...slice }), { rows, timeoutMs: limits.timeoutMs, signal }),
        );
      },
      fields: (signal = AbortSignal.timeout(checkMs)) =>
        fetchFieldCaps(server, settings.index, { timeoutMs: checkMs, signal }, faultOf),
    });
  },
};

const columnsOf = ({ timeField, ingestField }: Settings) => ({
  timeColumn: `\`${timeField}\``,
  ingestColumn: ingestField && `\`${ingestField}\``,
});
const literal = (at: Date): string => `TIMESTAMP('${at.toISOString().slice(0, -1).replace('T', ' ')}')`;

async function askPpl(
  server: SiemServer,
  query: string,
  { rows, timeoutMs, signal }: { rows: number; timeoutMs: number; signal: AbortSignal },
): Promise<SliceResult> {
  try {
    const answer = await requestJson<Answer>(
      server,
      { path: '/_plugins/_ppl', body: { query }, timeoutMs, signal },
      faultOf,
      'schema',
      'datarows',
    );
    const times = answer.schema.flatMap(({ name, alias, type }) => (type === 'timestamp' ? [alias ?? name] : []));
    const found = toRows(
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
function withTimes(row: QueryRow, names: string[]): QueryRow {
  const times = names.map((name): [string, unknown] => {
    const at = new Date(`${String(row[name]).replace(' ', 'T')}Z`);
    return [name, Number.isNaN(at.getTime()) ? row[name] : at.toISOString()];
  });
  return { ...row, ...Object.fromEntries(times) };
}

/** No index of that name yet: nothing was ever written to it. */
class UnknownIndex extends UnknownColumnError {}

function faultOf({ status, text }: SiemResponse) {
  const { error } = (tryParseJson(text) ?? {}) as { error?: { type?: string; reason?: string; details?: string } };
  const told = error?.details ?? error?.reason ?? '';
  const column = matchName(told, /namespace=FIELD_NAME, name=([^)]+)\)|Field \[([^\]]+)\] not found/);
  if (column !== undefined) return new UnknownColumnError(column);
  const noIndex = /no such index \[([^\]]+)\]/;
  const index = matchName(error?.reason ?? '', noIndex) ?? matchName(told, noIndex);
  if (index !== undefined) return new UnknownIndex(index);
  if (/(?:SyntaxCheck|SemanticCheck|ExpressionEvaluation|IllegalArgument)Exception/.test(error?.type ?? ''))
    return authorError('query_error', told);
  return httpStatusError(status, 'OpenSearch', told);
}
