import { z } from 'zod';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import type { QueryWindow, RemoteConnector, QueryRow, SearchLimits } from '../connector.ts';
import { authorError, dataDependentError, httpStatusError, upstreamError } from '../siem-errors.ts';
import { sendSiemRequest, tryParseJson, parseJsonObject, type SiemRequest, type SiemServer } from '../siem-http.ts';
import { validateQueryText, listPipeCommands, removeQuotedText, isPlainPipe } from '../query-text.ts';
import { spl } from '../dialects/spl.ts';
import { createRemoteConnection } from '../remote-connection.ts';
import { sortRows } from '../result-rows.ts';
import { doubleQuoted } from '../sweep-language.ts';
import * as shared from '../siem-settings.ts';

const Settings = z.strictObject({
  url: shared.httpAddress.describe('The URL of the management port, such as https://host:8089.'),
  caCertificate: shared.caCertificate,
  index: boundedString({ min: 1, max: 200 })
    .default('*')
    .describe('The index whose fields are listed.')
    .meta(shared.shown),
  lateDays: shared.lateDays,
  datasets: shared.datasets,
});
type Settings = z.infer<typeof Settings>;
const Credentials = z.union([z.strictObject({ token: boundedString({ min: 1, max: 5000 }) }), shared.userPassword]);

const checkMs = 20_000;
const dayMs = 86_400_000;
const exportPath = '/services/search/v2/jobs/export';

/**
 * Splunk 9.0.1 or newer by its REST API (search/v2/jobs/export, search/v2/parser). The window is the time range of the job. On clock `ingest`,
 * it is the range of the index time, which Splunk stores in whole seconds.
 */
export const splunk: RemoteConnector<Settings, z.infer<typeof Credentials>> = {
  label: 'Splunk',
  language: 'SPL',
  writing:
    'A search such as index=… | … . The window is the time range of the search. Do not use earliest, latest or macros.',
  settings: Settings,
  credentials: Credentials,
  describeTarget: ({ url }) => url,
  findUnencryptedHost: (settings) => shared.findPlainHttpHost(settings, 'url'),
  supportsIngestClock: () => true,
  dialect: spl,
  timeField: '_time',
  source: { label: 'Search', example: 'index=wineventlog', named: /\bindex\s*=\s*"?([\w*-]+)/gi },
  names: 'pipes',
  eventField: '_raw',
  tableOf: (dataset) => `index=${dataset}`,
  returnsEvents: (query) =>
    isPlainPipe(
      query,
      /^\s*[^|\s]/,
      ['search', 'where', 'sort', 'head', 'tail', 'dedup', 'reverse', 'fields', 'table'],
      'spl',
    ),
  // Splunk finds the fields of an event when it reads the event.
  listsAllFields: false,
  objectColumns: null,
  // Splunk compares values case-insensitively.
  sweep: {
    text: (field) => field,
    isIn: (text, values) => `${text} IN (${doubleQuoted(values)})`,
    isLike: (text, patterns) => `${text} IN (${doubleQuoted(patterns)})`,
    or: ' OR ',
    query: (dataset, condition) => `search index=${dataset} (${condition})`,
  },
  connect: ({ settings, credentials, allow }) => {
    const authorization = 'token' in credentials ? `Bearer ${credentials.token}` : shared.buildBasicAuth(credentials);
    const server: SiemServer = { base: settings.url, headers: { authorization }, allow, ca: settings.caCertificate };
    const send = async (request: SiemRequest): Promise<string> => {
      const { status, text } = await sendSiemRequest(server, request);
      if (status !== 200) throw toError(status, listMessages(tryParseJson(text)));
      return text;
    };
    const sendForm = (path: string, form: Record<string, string>, timeoutMs: number, signal: AbortSignal) =>
      send({ path, body: new URLSearchParams({ ...form, output_mode: 'json' }), timeoutMs, signal });
    return createRemoteConnection({
      ping: async (signal) => {
        const path = '/services/authentication/current-context';
        parseJsonObject(server, await send({ path, query: { output_mode: 'json' }, timeoutMs: checkMs, signal }));
      },
      check: async (query, signal) => {
        const form = { q: normalizeSearch(query), parse_only: 'true' };
        await sendForm('/services/search/v2/parser', form, checkMs, signal);
      },
      search: async (query, window, limits, signal) => {
        const aggregate = isTransformingSearch(query);
        const range = buildTimeRange(window, settings);
        const form = { search: limitSearch(query, aggregate, limits), ...range, preview: 'false' };
        return toResult(await sendForm(exportPath, form, limits.timeoutMs, signal), aggregate, limits);
      },
      fields: async (signal = AbortSignal.timeout(checkMs)) => {
        const search = `search index=${settings.index} | head 1000 | fieldsummary maxvals=1 | table field`;
        const form = { search, earliest_time: '-24h', latest_time: 'now', preview: 'false' };
        const rows = parseLines(await sendForm(exportPath, form, checkMs, signal));
        const fields = rows.map(({ field }) => ({ name: String(field), type: 'string' }));
        return [{ dataset: settings.index, fields }];
      },
    });
  },
};

/** Validates a search and adds the implicit `search` command. */
function normalizeSearch(query: string): string {
  validateQueryText(query);
  rejectSideEffects(query);
  const trimmed = query.trim();
  return trimmed.startsWith('|') || /^search\s/i.test(trimmed) ? trimmed : `search ${trimmed}`;
}

/** Limits the rows of a search. `sort` makes a truncated result deterministic. */
function limitSearch(query: string, aggregate: boolean, { rowsMax, groupsMax }: SearchLimits): string {
  const search = normalizeSearch(query);
  return aggregate ? `${search} | head ${groupsMax + 1}` : `${search} | sort ${rowsMax + 1} _time, _cd`;
}

// Commands that change data, send it elsewhere or run stored searches. A detection's search only reads.
const sideEffects = new Set(
  `collect delete dump mcollect meventcollect map outputcsv outputlookup outputtelemetry rest run runshellscript savedsearch script
   sendalert sendemail stash summaryindex tscollect sichart sirare sistats sitimechart sitop`.split(/\s+/),
);

const transforming = new Set(
  'chart contingency eventcount fieldsummary geostats mstats pivot rare stats timechart top tstats'.split(' '),
);

const timeRange = /\b_?(?:index_)?(?:earliest|latest)\s*=/i;
// Deprecated time modifiers, which Splunk still accepts before the first pipe. After it, they are field names.
const oldTimeRange =
  /\b(?:(?:start|end)timeu?|(?:start|end)?(?:months|days|hours|minutes)ago|searchtimespan(?:months|days|hours|minutes))\s*=/i;

/** Throws `query_not_allowed` for a search with side effects or a time range of its own. Also checks quoted text, in case Splunk reads quotes differently. */
export function rejectSideEffects(query: string): void {
  for (const [, name = ''] of query.matchAll(/[|[]\s*([a-z_]+)/gi)) {
    if (sideEffects.has(name.toLowerCase()))
      throw authorError('query_not_allowed', `A search must not use the command ${name}.`);
  }
  if (query.includes('`'))
    throw authorError('query_not_allowed', 'A search must not use macros, because their content cannot be checked.');
  // Only the outer search is checked. A subsearch may have its own time range.
  const outer = withoutSubsearches(removeQuotedText(query, 'spl'));
  const hasTimeRange = [withoutSubsearches(query), outer].some((text) => timeRange.test(text));
  if (hasTimeRange || oldTimeRange.test(outer.split('|')[0]!))
    throw authorError(
      'query_not_allowed',
      'A search must not set its time range, which is that of its window. Remove earliest and latest.',
    );
}

/** Returns whether the rows of a search are groups. */
export const isTransformingSearch = (query: string): boolean =>
  listPipeCommands(withoutSubsearches(removeQuotedText(query, 'spl')), 'spl').some((command) =>
    transforming.has(command),
  );

function withoutSubsearches(query: string): string {
  let [depth, outer] = [0, ''];
  for (const letter of query) {
    if (letter === '[') depth += 1;
    else if (letter === ']') depth = Math.max(0, depth - 1);
    else if (depth === 0) outer += letter;
  }
  return outer;
}

const formatSeconds = (at: Date): string => (at.getTime() / 1000).toFixed(3);
const formatWholeSeconds = (at: Date): string => String(Math.floor(at.getTime() / 1000));

function buildTimeRange(
  { from, to, clock, ingestedBefore }: QueryWindow,
  { lateDays }: Settings,
): Record<string, string> {
  const indexed: Record<string, string> = ingestedBefore ? { index_latest: formatWholeSeconds(ingestedBefore) } : {};
  if (clock === 'event') return { earliest_time: formatSeconds(from), latest_time: formatSeconds(to), ...indexed };
  return {
    earliest_time: formatSeconds(new Date(from.getTime() - lateDays * dayMs)),
    latest_time: formatSeconds(new Date(to.getTime() + dayMs)),
    index_earliest: formatWholeSeconds(from),
    index_latest: formatWholeSeconds(to),
  };
}

function toResult(text: string, aggregate: boolean, { rowsMax, groupsMax }: SearchLimits) {
  const lines = parseLines(text);
  const max = aggregate ? groupsMax : rowsMax;
  const rows = (aggregate ? lines : sortRows(lines, '_time')).slice(0, max);
  return { rows, total: lines.length, truncated: lines.length > max, aggregate, noData: false };
}

type Message = { type?: string; text?: string };

/** Parses the export format, one JSON object per line: a row, the end marker, or messages of the search heads. */
function parseLines(text: string): QueryRow[] {
  const rows: QueryRow[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const value = tryParseJson(line) as (ExportLine & { messages?: Message[] }) | null | undefined;
    if (value === null || typeof value !== 'object')
      throw upstreamError('cut_off', 'Splunk closed the connection before the end of the response.', true);
    const failure = listMessages(value).find(
      ({ type, text: message = '' }) => type === 'FATAL' || type === 'ERROR' || /incomplete/i.test(message),
    );
    if (failure) throw toError(400, [failure]);
    if (value.result && value.preview !== true) rows.push(toSplunkRow(value.result));
  }
  return rows;
}

const listMessages = (value: unknown): Message[] => (value as { messages?: Message[] } | undefined)?.messages ?? [];

// Messages of Splunk's parser, which reads no events. Other messages of commands may be about fields and their values.
const syntaxErrors =
  /unknown search command|unable to parse|failed to parse|mismatched|unbalanced|missing (?:a |an )?(?:search|argument|closing|terminat)|malformed|syntax|unexpected/i;

function toError(status: number, messages: Message[]) {
  const message = messages.map(({ text = '' }) => text).join(' ');
  if (status !== 400) return httpStatusError(status, 'Splunk', message);
  if (/incomplete|not responding|timed out waiting for peer/i.test(message))
    return upstreamError('partial_answer', message, true);
  if (/maximum number of concurrent|quota/i.test(message)) return upstreamError('throttled', message, true);
  const detail = message || 'Splunk rejected the search.';
  return syntaxErrors.test(message) ? authorError('query_error', detail) : dataDependentError('query_error', detail);
}

/** A JSON line of search/v2/jobs/export. */
type ExportLine = { preview?: boolean; result?: Record<string, unknown>; lastrow?: boolean };

const internalFields = new Set([
  '_bkt',
  '_cd',
  '_serial',
  '_si',
  '_subsecond',
  '_kv',
  '_eventtype_color',
  '_sourcetype',
]);

/** Converts a Splunk result to a row: the time in UTC, an ID made of bucket and address, without internal fields. */
function toSplunkRow(result: Record<string, unknown>): QueryRow {
  const { _bkt: bucket, _cd: address, _time: time } = result;
  const row: QueryRow = Object.fromEntries(Object.entries(result).filter(([name]) => !internalFields.has(name)));
  if (typeof bucket === 'string' && typeof address === 'string' && !('_id' in row)) row['_id'] = `${bucket}:${address}`;
  const at = typeof time === 'string' && /^\d{4}-/.test(time) ? new Date(time) : undefined;
  if (at && !Number.isNaN(at.getTime())) row['_time'] = at.toISOString();
  return row;
}
