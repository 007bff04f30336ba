import { authorError } from '../siem-errors.ts';

/** How a language quotes and remarks: with backslashes, and `@"…"` without (ClickHouse, ES|QL, KQL, PPL); PostgreSQL; Splunk. */
export type Quoting = 'escaped' | 'standard' | 'spl';

const openingsOf: Record<Quoting, string> = {
  escaped: '@?[\'"]|`|--|/[*/]',
  standard: "(?<!\\w)[eE]'|['\"]|--|/\\*",
  spl: '"',
};

/** Texts in quotes and comments, by what opens them. */
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
const queryCharsMax = 100_000;

/** What stands for the window in a query. */
export type WindowExpressions = { condition: string; start: string; end: string };

/**
 * Puts the window into a query: `$window` is the condition on the column that the connection's clock is on, `$window_start` and `$window_end` its
 * bounds. Names within text and comments are left alone. Throws blame author where a query has neither `$window` nor both bounds.
 */
export function insertWindow(query: string, words: WindowExpressions, quoting: Quoting = 'escaped'): string {
  validateQueryText(query);
  const used = new Set<string>();
  const put = (text: string): string =>
    text.replaceAll(/\$(window_start|window_end|window)\b/g, (_all, name: string) => {
      used.add(name);
      return name === 'window' ? words.condition : name === 'window_start' ? words.start : words.end;
    });
  const placed = partsOf(query, quoting)
    .map(({ text, isOpaque }) => (isOpaque ? text : put(text)))
    .join('');
  if (!used.has('window') && !(used.has('window_start') && used.has('window_end')))
    throw authorError('window_missing', 'A query uses $window, or both $window_start and $window_end.');
  return placed;
}

export function validateQueryText(query: string): void {
  if (query.length > queryCharsMax || query.includes('\u0000'))
    throw authorError('query_not_allowed', `A query has at most ${queryCharsMax} characters, none of them U+0000.`);
}

type Part = { text: string; isOpaque: boolean };

/**
 * A query as plain parts and those in quotes and comments, in order. What is opened and never closed is plain: whatever opens the same
 * way behind it is not closed either, and looking for its end each time would take time by the square of the length.
 */
function partsOf(query: string, quoting: Quoting): Part[] {
  const parts: Part[] = [];
  const unclosed = new Set<string>();
  const openings = new RegExp(openingsOf[quoting], 'g');
  let at = 0;
  for (let found = openings.exec(query); found; found = openings.exec(query)) {
    const opening = found[0].toLowerCase();
    const pattern = (quoting === 'standard' ? standard[opening] : undefined) ?? opaque[opening]!;
    const text = unclosed.has(opening) ? undefined : textAt(query, pattern, found.index);
    if (text === undefined) {
      unclosed.add(opening);
      openings.lastIndex = found.index + 1;
      continue;
    }
    parts.push({ text: query.slice(at, found.index), isOpaque: false }, { text, isOpaque: true });
    at = found.index + text.length;
    openings.lastIndex = at;
  }
  return [...parts, { text: query.slice(at), isOpaque: false }];
}

function textAt(query: string, pattern: RegExp, index: number): string | undefined {
  pattern.lastIndex = index;
  return pattern.exec(query)?.[0];
}

/** The query without what stands in quotes and comments. */
export const removeQuotedText = (query: string, quoting: Quoting): string =>
  partsOf(query, quoting)
    .map(({ text, isOpaque }) => (isOpaque ? ' ' : text))
    .join('');

/** The first word behind each `|`, of subsearches too, in lower case. */
export function listPipeCommands(query: string, quoting: Quoting = 'escaped'): string[] {
  return [...removeQuotedText(query, quoting).matchAll(/\|\s*([a-z_-]+)/gi)].map((match) => match[1]!.toLowerCase());
}

/** A statement without its end and what is remarked behind it: it can stand in brackets, or be followed by a pipe. */
export function removeTrailingSemicolon(query: string, quoting: Quoting = 'escaped'): string {
  let end = query.length;
  for (const { text, isOpaque } of partsOf(query, quoting).toReversed()) {
    const kept = isOpaque ? (/^(?:--|\/)/.test(text) ? 0 : text.length) : lengthWithoutEnd(text);
    if (kept > 0) return query.slice(0, end - text.length + kept);
    end -= text.length;
  }
  return '';
}

// Not `/[\s;]+$/`, which begins anew at each blank of a long row of them.
function lengthWithoutEnd(text: string): number {
  let length = text.length;
  while (length > 0 && /[\s;]/.test(text[length - 1]!)) length -= 1;
  return length;
}

const grouping =
  /\bgroup\s+by\b|\bselect\s+distinct\b|\b(?:count|sum|avg|min|max|array_agg|string_agg|uniq\w*|quantiles?\w*|any|argmin|argmax|grouparray\w*)\s*\(/i;

/** Whether the rows of an SQL query are groups, as far as its text tells. Those that name their events by `_id` are told by the caller. */
export function isGroupingQuery(query: string, quoting: Quoting = 'escaped'): boolean {
  const text = removeQuotedText(query, quoting);
  return grouping.test(text.replaceAll(/\b\w+\s*\([^()]*\)\s*over\s*\(/gi, ' '));
}
