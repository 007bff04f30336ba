import { z } from 'zod';
import type { QueryWindow, SearchLimits } from '../siem/connector.ts';
import { SiemError } from '../siem/connector.ts';
import { UnsupportedError } from '../siem/dialects/dialect.ts';
import type { LogSource, ToolSources } from './tool-definition.ts';
import { createResult, resultLimits, type ToolResult } from './tool-result.ts';

/** A year, so that a question can compare with last year's events. The time limit of a call bounds what it costs. */
const hoursMax = 366 * 24;
const hourMs = 3_600_000;

/** The time span that a tool reads, as part of its input. */
export const spanInput = {
  hours: z.int().min(1).max(hoursMax).default(24).describe('How many hours before `until` to read.'),
  until: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('ISO 8601 with a zone, exclusive. Default: the end of the window of the case.'),
};

/** Returns the window of event time that an input asks for. It includes events that arrived until now. */
export function readSpan(
  { hours, until }: { hours: number; until?: string | undefined },
  logs: LogSource,
): QueryWindow {
  const to = until === undefined ? logs.windowTo : new Date(until);
  return { from: new Date(to.getTime() - hours * hourMs), to, clock: 'event', ingestedBefore: logs.now };
}

const timeoutMs = 20_000;
const bytesMax = 8 * 1024 * 1024;

/** The limits of one search: 20 seconds, 8 MiB, and rows as given. Hidden data is not read. */
export const searchLimits = (
  { hidden }: Pick<ToolSources, 'hidden'>,
  rowsMax = resultLimits.rowsMax,
): SearchLimits => ({
  rowsMax,
  groupsMax: rowsMax,
  timeoutMs,
  bytesMax,
  hidden,
});

/** Returns how to write queries for these logs, in sentences. */
export function describeLanguage({ guide, portableFields }: LogSource['connection']): string {
  const own = guide ? `Language: ${guide.language}. ${guide.writing}` : '';
  const portable = portableFields
    ? 'A query whose first line is `-- portable` is SQL of DuckDB over the datasets of portable queries, without $window.'
    : '';
  return [own, portable].filter(Boolean).join(' ');
}

type Request = { query: string | null; window: Pick<QueryWindow, 'from' | 'to'>; logs: LogSource };

/**
 * Returns the result of a search, or one without rows that says why the query was refused or failed on its data, and how to write it. Throws if the SIEM
 * fails, because then another query does not help.
 */
export async function explainRefusal(
  { query, window, logs }: Request,
  search: () => Promise<ToolResult>,
): Promise<ToolResult> {
  try {
    return await search();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return refuse({ query, window, logs }, error.message);
  }
}

/** Returns whether another query could do what failed. */
export const isRefusal = (error: unknown): error is Error =>
  error instanceof UnsupportedError ||
  (error instanceof SiemError && (error.failure.blame === 'author' || error.failure.blame === 'data'));

/** Returns a result without rows that says why a query was refused, and how to write it. */
export const refuse = ({ query, window: { from, to }, logs }: Request, reason: string): ToolResult =>
  createResult({
    query,
    from,
    to,
    note: [`The query was refused: ${reason}`, describeLanguage(logs.connection)].filter(Boolean).join('\n'),
  });

/** Says what an empty result means. */
export function describeEmpty(hasEvents: boolean | null): string {
  if (hasEvents === null) return 'No rows. Whether there are events in this time span is unknown.';
  return hasEvents
    ? 'There are events in this time span, and none of them matches.'
    : 'There are no events in this time span, so that nothing was found proves nothing. describe_dataset returns when there are.';
}
