import { authorFault } from './failures.ts';

const opaque = /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`[^`]*`|--[^\n]*|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
const queryCharsMax = 100_000;

/** What stands for the window in a query. */
export type WindowWords = { condition: string; start: string; end: string };

/**
 * Puts the window into a query: `$window` is the condition on the column that the connection's clock is on, `$window_start` and `$window_end` its
 * bounds. Names within text and comments are left alone. Throws blame author where a query has neither `$window` nor both bounds.
 */
export function placeWindow(query: string, words: WindowWords): string {
  checkText(query);
  const used = new Set<string>();
  const put = (text: string): string =>
    text.replaceAll(/\$(window_start|window_end|window)\b/g, (_all, name: string) => {
      used.add(name);
      return name === 'window' ? words.condition : name === 'window_start' ? words.start : words.end;
    });
  let placed = '';
  let at = 0;
  for (const { 0: kept, index } of query.matchAll(opaque)) {
    placed += put(query.slice(at, index)) + kept;
    at = index + kept.length;
  }
  placed += put(query.slice(at));
  if (!used.has('window') && !(used.has('window_start') && used.has('window_end')))
    throw authorFault('window_missing', 'A query uses $window, or both $window_start and $window_end.');
  return placed;
}

export function checkText(query: string): void {
  if (query.length > queryCharsMax || query.includes('\u0000'))
    throw authorFault('query_not_allowed', `A query has at most ${queryCharsMax} characters, none of them U+0000.`);
}

/** The query without what stands in quotes and comments. */
export const withoutTexts = (query: string): string => query.replaceAll(opaque, ' ');

/** The first word behind each `|`, of subsearches too, in lower case. */
export function pipeCommands(query: string): string[] {
  return [...withoutTexts(query).matchAll(/\|\s*([a-z_-]+)/gi)].map((match) => match[1]!.toLowerCase());
}

/** A statement without its end and what is remarked behind it: it can stand in brackets, or be followed by a pipe. */
export function withoutSemicolon(query: string): string {
  const seen = query.replaceAll(opaque, (text) => (/^(?:--|\/)/.test(text) ? ' ' : 'x').repeat(text.length));
  return query.slice(0, seen.replace(/[\s;]+$/, '').length);
}

const grouping =
  /\bgroup\s+by\b|\bselect\s+distinct\b|\b(?:count|sum|avg|min|max|array_agg|string_agg|uniq\w*|quantiles?\w*|any|argmin|argmax|grouparray\w*)\s*\(/i;

/** Whether the rows of an SQL query are groups, as far as its text tells. Those that name their events by `_id` are told by the caller. */
export function groupsRows(query: string): boolean {
  const text = withoutTexts(query);
  return grouping.test(text.replaceAll(/\w+\s*\([^()]*\)\s*over\s*\(/gi, ' '));
}
