import { z } from 'zod';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import type { QueryWindow, RemoteConnector, QueryRow, SearchLimits } from './connector.ts';
import { authorError, httpStatusError, upstreamError } from './siem-errors.ts';
import {
  sendSiemRequest,
  tryParseJson,
  parseJsonObject,
  type SiemRequest,
  type SiemServer,
} from './clients/siem-http.ts';
import { validateQueryText } from './queries/query-text.ts';
import { createRemoteConnection } from './remote-connection.ts';
import { sortRows } from './queries/sort-rows.ts';
import { buildBasicAuth, caCertificate, httpAddress, findPlainHttpHost, userPassword } from './siem-settings.ts';
import { toSplunkRow, type ExportLine } from './clients/splunk-events.ts';
import { isTransformingSearch, rejectSideEffects } from './queries/splunk-query.ts';

const Settings = z.strictObject({
  url: httpAddress.describe('Of the management port, https://host:8089.'),
  caCertificate,
  index: boundedString({ min: 1, max: 200 }).default('*').describe('Whose fields are listed.'),
  lateDays: z
    .int()
    .min(1)
    .max(365)
    .default(7)
    .describe('On the clock `ingest`: how far the time of an event may lie before its indexing.'),
});
type Settings = z.infer<typeof Settings>;
const Credentials = z.union([z.strictObject({ token: boundedString({ min: 1, max: 5000 }) }), userPassword]);

const checkMs = 20_000;
const dayMs = 86_400_000;

/**
 * Splunk 9.0.1 or newer by its REST interface (search/v2/jobs/export, search/v2/parser). The window is the time range of the job; on the clock
 * `ingest` that of its index time, which Splunk keeps in whole seconds.
 */
export const splunk: RemoteConnector<Settings, z.infer<typeof Credentials>> = {
  label: 'Splunk',
  language: 'SPL',
  writing:
    'A search such as index=… | … . The window is the time range of the search, which uses neither earliest nor latest; no macros.',
  settings: Settings,
  credentials: Credentials,
  describeTarget: ({ url }) => url,
  findUnencryptedHost: (settings) => findPlainHttpHost(settings, 'url'),
  supportsIngestClock: () => true,
  connect: ({ settings, credentials, allow }) => {
    const authorization = 'token' in credentials ? `Bearer ${credentials.token}` : buildBasicAuth(credentials);
    const server: SiemServer = { base: settings.url, headers: { authorization }, allow, ca: settings.caCertificate };
    const send = async (given: Omit<SiemRequest, 'body'> & { form: Record<string, string> }): Promise<string> => {
      const { form, ...rest } = given;
      const answer = await sendSiemRequest(server, {
        ...rest,
        body: new URLSearchParams({ ...form, output_mode: 'json' }),
      });
      if (answer.status !== 200) throw faultOf(answer.status, messagesOf(tryParseJson(answer.text)));
      return answer.text;
    };
    return createRemoteConnection({
      ping: async (signal) => {
        const path = '/services/authentication/current-context';
        const answer = await sendSiemRequest(server, {
          path,
          query: { output_mode: 'json' },
          timeoutMs: checkMs,
          signal,
        });
        if (answer.status !== 200) throw faultOf(answer.status, messagesOf(tryParseJson(answer.text)));
        parseJsonObject(server, answer.text);
      },
      check: async (query, signal) => {
        const form = { q: readable(query), parse_only: 'true' };
        await send({ path: '/services/search/v2/parser', form, timeoutMs: checkMs, signal });
      },
      search: async (query, window, limits, signal) => {
        const aggregate = isTransformingSearch(query);
        const range = rangeOf(window, settings);
        const form = { search: bounded(query, aggregate, limits), ...range, preview: 'false' };
        const text = await send({ path: '/services/search/v2/jobs/export', form, timeoutMs: limits.timeoutMs, signal });
        return resultOf(text, { aggregate, limits });
      },
      fields: async (signal = AbortSignal.timeout(checkMs)) => {
        const search = `search index=${settings.index} | head 1000 | fieldsummary maxvals=1 | table field`;
        const form = { search, earliest_time: '-24h', latest_time: 'now', preview: 'false' };
        const { rows } = readLines(
          await send({ path: '/services/search/v2/jobs/export', form, timeoutMs: checkMs, signal }),
        );
        return [
          { dataset: settings.index, fields: rows.map(({ field }) => ({ name: String(field), type: 'string' })) },
        ];
      },
    });
  },
};

/** As Splunk reads it: a search that does not begin with a command begins with `search`. */
function readable(query: string): string {
  validateQueryText(query);
  rejectSideEffects(query);
  const trimmed = query.trim();
  return trimmed.startsWith('|') || /^search\s/i.test(trimmed) ? trimmed : `search ${trimmed}`;
}

// `sort` keeps the first of its order; without it the rows of a cut answer would be others each time.
function bounded(query: string, aggregate: boolean, { rowsMax, groupsMax }: SearchLimits): string {
  const search = readable(query);
  return aggregate ? `${search} | head ${groupsMax + 1}` : `${search} | sort ${rowsMax + 1} _time, _cd`;
}

const seconds = (at: Date): string => (at.getTime() / 1000).toFixed(3);
const wholeSeconds = (at: Date): string => String(Math.floor(at.getTime() / 1000));

function rangeOf({ from, to, clock, ingestedBefore }: QueryWindow, { lateDays }: Settings): Record<string, string> {
  const known: Record<string, string> = ingestedBefore ? { index_latest: wholeSeconds(ingestedBefore) } : {};
  if (clock === 'event') return { earliest_time: seconds(from), latest_time: seconds(to), ...known };
  return {
    earliest_time: seconds(new Date(from.getTime() - lateDays * dayMs)),
    latest_time: seconds(new Date(to.getTime() + dayMs)),
    index_earliest: wholeSeconds(from),
    index_latest: wholeSeconds(to),
  };
}

function resultOf(text: string, { aggregate, limits }: { aggregate: boolean; limits: SearchLimits }) {
  const { rows } = readLines(text);
  const rowsMax = aggregate ? limits.groupsMax : limits.rowsMax;
  const kept = aggregate ? rows : sortRows(rows, '_time');
  return {
    rows: kept.slice(0, rowsMax),
    total: rows.length,
    truncated: rows.length > rowsMax,
    aggregate,
    noData: false,
  };
}

type Message = { type?: string; text?: string };

/** One JSON object a line: a row, the end, or what the search heads have to say. */
function readLines(text: string): { rows: QueryRow[] } {
  const rows: QueryRow[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const value = tryParseJson(line) as (ExportLine & { messages?: Message[] }) | null | undefined;
    if (value === null || typeof value !== 'object') throw upstreamError('cut_off', 'Splunk cut its answer off.', true);
    const bad = messagesOf(value).find(
      ({ type, text: told = '' }) => type === 'FATAL' || type === 'ERROR' || /incomplete/i.test(told),
    );
    if (bad) throw faultOf(400, [bad]);
    if (value.result && value.preview !== true) rows.push(toSplunkRow(value.result));
  }
  return { rows };
}

const messagesOf = (value: unknown): Message[] => (value as { messages?: Message[] } | undefined)?.messages ?? [];

function faultOf(status: number, messages: Message[]) {
  const told = messages.map(({ text = '' }) => text).join(' ');
  if (status !== 400) return httpStatusError(status, 'Splunk', told);
  if (/incomplete|not responding|timed out waiting for peer/i.test(told))
    return upstreamError('partial_answer', told, true);
  if (/maximum number of concurrent|quota/i.test(told)) return upstreamError('throttled', told, true);
  return authorError('query_error', told || 'Splunk refused the search.');
}
