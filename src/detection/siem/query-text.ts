import { authorError } from './siem-errors.ts';
import type { QueryWindow } from './connector.ts';

/** How a language quotes text: `escaped` with backslashes, or `@"…"` without (ClickHouse, ES|QL, KQL, PPL), `standard` for PostgreSQL, `spl` for Splunk. */
type Quoting = 'escaped' | 'standard' | 'spl';

const openingsOf: Record<Quoting, string> = {
  escaped: '@?[\'"]|`|--|/[*/]',
  standard: "(?<!\\w)[eE]'|['\"]|--|/\\*",
  spl: '"',
};

/** Patterns of quoted texts and comments, by their opening. */
const opaque: Record<string, RegExp> = {
  "'": /'(?:[^'\\]|\\[^]|'')*'/y,
  '"': /"(?:[^"\\]|\\[^]|"")*"/y,
  '`': /`[^`]*`/y,
  '--': /--[^\n]*/y,
  '/*': /\/\*[^]*?\*\//y,
  '//': /\/\/[^\n]*/y,
  "@'": /@'(?:[^']|'')*'/y,
  '@"': /@"(?:[^"]|"")*"/y,
  "e'": /e'(?:[^'\\]|\\[^]|'')*'/iy,
};
const standard: Record<string, RegExp> = { "'": /'(?:[^']|'')*'/y, '"': /"(?:[^"]|"")*"/y };
export const queryCharsMax = 100_000;

/** The expressions that replace `$window`, `$window_start` and `$window_end` in a query. `conditionFrom` is the condition for another start. */
type WindowExpressions = {
  condition: string;
  start: string;
  end: string;
  conditionFrom: (secondsBefore: number) => string;
};

/**
 * Replaces `$window` in a query by the condition on the clock's column, `$window_back_300s` by that of the window with the 300 seconds before it,
 * and `$window_start` and `$window_end` by its bounds, except in quoted text and comments. Throws `window_missing` if the query uses neither `$window` nor both bounds.
 */
export function insertWindow(query: string, expressions: WindowExpressions, quoting: Quoting = 'escaped'): string {
  validateQueryText(query);
  const used = new Set<string>();
  const { condition, start, end, conditionFrom } = expressions;
  const byName: Record<string, string> = { window: condition, window_start: start, window_end: end };
  const replace = (text: string): string =>
    text.replaceAll(
      /\$(?:(window_start|window_end|window)|window_back_(\d{1,9})s)\b/g,
      (_match, name?: string, back?: string) => {
        used.add(name ?? 'window');
        return name === undefined ? conditionFrom(Number(back)) : byName[name]!;
      },
    );
  const bounded = splitQuery(query, quoting)
    .map(({ text, isOpaque }) => (isOpaque ? text : replace(text)))
    .join('');
  if (!used.has('window') && !(used.has('window_start') && used.has('window_end')))
    throw authorError('window_missing', 'The query must use $window, or both $window_start and $window_end.');
  return bounded;
}

export function validateQueryText(query: string): void {
  if (query.length > queryCharsMax || query.includes('\u0000'))
    throw authorError('query_not_allowed', `A query may have at most ${queryCharsMax} characters and no U+0000.`);
}

type Part = { text: string; isOpaque: boolean };

/**
 * Splits a query into plain parts and opaque ones (quoted text and comments). An unclosed opening is plain. Later openings of that kind are
 * not searched for their end again, which would take quadratic time.
 */
function splitQuery(query: string, quoting: Quoting): Part[] {
  const parts: Part[] = [];
  const unclosed = new Set<string>();
  const openings = new RegExp(openingsOf[quoting], 'g');
  let at = 0;
  for (let match = openings.exec(query); match; match = openings.exec(query)) {
    const opening = match[0].toLowerCase();
    const pattern = (quoting === 'standard' ? standard[opening] : undefined) ?? opaque[opening]!;
    const text = unclosed.has(opening) ? undefined : matchAt(query, pattern, match.index);
    if (text === undefined) {
      unclosed.add(opening);
      openings.lastIndex = match.index + 1;
      continue;
    }
    parts.push({ text: query.slice(at, match.index), isOpaque: false }, { text, isOpaque: true });
    at = match.index + text.length;
    openings.lastIndex = at;
  }
  return [...parts, { text: query.slice(at), isOpaque: false }];
}

function matchAt(query: string, pattern: RegExp, index: number): string | undefined {
  pattern.lastIndex = index;
  return pattern.exec(query)?.[0];
}

/** Replaces quoted text and comments by a space. */
export const removeQuotedText = (query: string, quoting: Quoting): string =>
  splitQuery(query, quoting)
    .map(({ text, isOpaque }) => (isOpaque ? ' ' : text))
    .join('');

/** Returns the command after each `|`, including those of subsearches, in lower case. */
export function listPipeCommands(query: string, quoting: Quoting = 'escaped'): string[] {
  return [...removeQuotedText(query, quoting).matchAll(/\|\s*([a-z_-]+)/gi)].map((match) => match[1]!.toLowerCase());
}

/** Removes trailing semicolons and comments, so that a statement can be put in parentheses or followed by a pipe. */
export function removeTrailingSemicolon(query: string, quoting: Quoting = 'escaped'): string {
  let end = query.length;
  for (const { text, isOpaque } of splitQuery(query, quoting).toReversed()) {
    const kept = isOpaque ? (/^(?:--|\/)/.test(text) ? 0 : text.length) : measureTrimmed(text);
    if (kept > 0) return query.slice(0, end - text.length + kept);
    end -= text.length;
  }
  return '';
}

/** Returns the length without trailing spaces and semicolons. The pattern `/[\s;]+$/` would take quadratic time. */
function measureTrimmed(text: string): number {
  let length = text.length;
  while (length > 0 && /[\s;]/.test(text[length - 1]!)) length -= 1;
  return length;
}

const grouping =
  /\bgroup\s+by\b|\bselect\s+distinct\b|\b(?:count|sum|avg|min|max|array_agg|string_agg|uniq\w*|quantiles?\w*|any|argmin|argmax|grouparray\w*)\s*\(/i;

/** Returns whether an SQL query groups or aggregates, judging by its text. Callers treat rows with `_id` as events. */
export function isGroupingQuery(query: string, quoting: Quoting = 'escaped'): boolean {
  const text = removeQuotedText(query, quoting);
  return grouping.test(text.replaceAll(/\b\w+\s*\([^()]*\)\s*over\s*\(/gi, ' '));
}

/**
 * Returns whether an SQL query selects whole rows of one table, by its text. A second SELECT, a set operation, a join or a list of sources could add
 * rows or columns of its own.
 */
export function isPlainSelect(query: string, quoting: Quoting = 'escaped'): boolean {
  const text = removeQuotedText(query, quoting);
  const start = /^\s*select\s+\*\s+from\s+[\w\s.]*?\bwhere\b/i.exec(text);
  return start !== null && !/\b(?:select|union|except|intersect|join|format|into)\b/i.test(text.slice(start[0].length));
}

/** Returns whether a query with pipes begins as it must to read events, and has commands only that select, order or leave out columns of them. */
export const isPlainPipe = (
  query: string,
  start: RegExp,
  commands: readonly string[],
  quoting: Quoting = 'escaped',
): boolean =>
  start.test(removeQuotedText(query, quoting)) &&
  !query.includes(';') &&
  listPipeCommands(query, quoting).every((command) => commands.includes(command));

/** Where an SQL query names a table without quotes. */
export const sqlSource = /\b(?:from|join)\s+([a-z_][\w.]*)/gi;

/** Returns the dataset that a query names, by its text, in a list. Of several none is certain, so that the list is empty. */
export function listNamedSources(query: string, named: RegExp): string[] {
  const names = new Set([...query.matchAll(named)].map((match) => match[1]!));
  return names.size === 1 ? [...names] : [];
}

type ClockColumns = { timeColumn: string; ingestColumn?: string | undefined };

/** Builds the window expressions of an SQL or pipe language. Applies `ingestedBefore` if there is an ingest column. `literal` formats a time. */
export function buildWindowExpressions(
  { from, to, clock, ingestedBefore }: QueryWindow,
  { timeColumn, ingestColumn }: ClockColumns,
  literal: (at: Date) => string,
): WindowExpressions {
  const column = clock === 'ingest' && ingestColumn ? ingestColumn : timeColumn;
  const [start, end] = [literal(from), literal(to)];
  const ingested = ingestedBefore && ingestColumn ? ` and ${ingestColumn} < ${literal(ingestedBefore)}` : '';
  const between = (first: string): string => `(${column} >= ${first} and ${column} < ${end}${ingested})`;
  return {
    condition: between(start),
    start,
    end,
    conditionFrom: (seconds) => between(literal(new Date(from.getTime() - seconds * 1000))),
  };
}

/** Returns an empty window, with which a query is checked. */
export function emptyWindow(): QueryWindow {
  const now = new Date();
  return { from: now, to: now, clock: 'event' };
}

/** Returns the columns by which rows are sorted: `_time` or the time column, then `_id`, if the query returns them. */
export function pickOrderColumns(names: readonly string[], timeColumn: string): string[] {
  const time = timeColumn.split('.').at(-1)!.replaceAll(/["`]/g, '');
  return [names.includes('_time') ? '_time' : time, '_id'].filter((name) => names.includes(name));
}

const firstLine = /^\s*--\s*portable\s*(?:\n|$)/i;

/**
 * Returns whether a query for a connection is portable, as its first line `-- portable` says: SQL of the embedded engine, which reads the events
 * of the connection's datasets. Any other query is in the language of the SIEM.
 */
export const isPortableQuery = (query: string): boolean => firstLine.test(query);

/** Returns a query of the embedded engine as a portable one. */
export const toPortableQuery = (query: string): string => (isPortableQuery(query) ? query : `-- portable\n${query}`);

const lookbackLine = /^(?:\s*--[^\n]*\n)*?\s*--\s*lookback\s+(\d{1,9})s\s*(?:\n|$)/i;

/**
 * Returns how far the events before the window (`<dataset>_history`) reach, in milliseconds, which a comment such as `-- lookback 1200s` at the
 * beginning of a query of the embedded engine says. Undefined: all events before the window.
 */
export function readLookbackMs(query: string): number | undefined {
  const seconds = lookbackLine.exec(query)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

const correlationLine = /^(?:\s*--[^\n]*\n)*?\s*--\s*correlation\s*(?:\n|$)/i;

/**
 * Returns whether a query of the embedded engine finds correlations of events whatever its windows, as the line `-- correlation` at its beginning says:
 * a correlation has the same `_id` in each window that returns it, and is returned by the window whose events complete it.
 */
export const isCorrelationQuery = (query: string): boolean =>
  correlationLine.test(query) && readLookbackMs(query) !== undefined;
