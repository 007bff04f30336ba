import { refangText } from '../../model/values/indicator-forms.ts';
import { toPlainCharacters, hasUnspacedText, listRuns, toPhraseWords, toSearchTerms } from './characters.ts';

/** Words of one alternative of a search. Phrases are in quotation marks, and a minus sign excludes. */
type Clause = string[];

const clausesMax = 16;
const tokens = /[-(]*"[^"]*"?\)*|\S+/g;
const scheme = /\b(?:https?|ftp):\/\//gi;
const looseCve = /\bcve[\s_:-]*((?:19|20)\d{2})[\s_-]+(\d{4,7})\b/gi;
const bareCve = /^(-?)((?:19|20)\d{2}-\d{4,7})$/;
const conjunctions = new Set(['AND', '&&', '&', '+']);
const disjunctions = new Set(['||', '|']);

/** Words that say nothing about an item. In capitals they may be names. */
const fillers = new Set(
  'a an and are as at be by for from has in into is its of on that the their this to was were which with'.split(' '),
);

/**
 * Rewrites a search as people type it into the syntax of PostgreSQL's `websearch_to_tsquery`: plain characters, addresses without defanging and
 * scheme, CVE ids in their usual form, `AND`, `NOT` and parentheses by minus signs and `or`, text of scripts without spaces by pairs of
 * characters, and without words such as `the` beside others. Parentheses that would make more than 16 alternatives are ignored.
 */
export function toQueryText(text: string): string {
  return toClauses(text)
    .map((clause) => clause.flatMap(toIndexedTerms).join(' '))
    .filter((terms) => terms !== '')
    .join(' or ');
}

/** Returns the runs of characters of scripts without spaces that a search looks for. */
export const listSearchedRuns = (text: string): string[] =>
  hasUnspacedText(text)
    ? [
        ...new Set(
          toClauses(text).flatMap((clause) => clause.filter((term) => !term.startsWith('-')).flatMap(listRuns)),
        ),
      ]
    : [];

function toClauses(text: string): Clause[] {
  const plain = refangText(toPlainCharacters(text)).replaceAll(scheme, '').replaceAll(looseCve, 'CVE-$1-$2');
  const list = readTokens(plain);
  const clauses = readClauses(list) ?? readClauses(list.filter((token) => !isParenthesis(token))) ?? [];
  return clauses.map(withoutFillers);
}

/** Returns the words and phrases that match a word or phrase as it is indexed. An excluded word or phrase is one phrase. */
function toIndexedTerms(term: string): string[] {
  if (!hasUnspacedText(term)) return [term];
  const [, minus, quote, content] = /^(-?)("?)([^"]*)"?$/s.exec(term) as unknown as [string, string, string, string];
  return minus === '' && quote === '' ? toSearchTerms(content) : [`${minus}"${toPhraseWords(content)}"`];
}

const isParenthesis = (token: string): boolean => token === '(' || token === ')';

/** Returns words, phrases, `or` and parentheses. */
function readTokens(text: string): string[] {
  const list: string[] = [];
  let isNegated = false;
  for (const [token] of text.matchAll(tokens)) {
    if (conjunctions.has(token)) continue;
    if (token === 'NOT') {
      isNegated = true;
      continue;
    }
    const [, opening, rest] = /^(\(*)(.*)$/s.exec(token) as unknown as [string, string, string];
    const word = rest.replace(/\)+$/, '');
    list.push(...opening);
    if (word !== '') list.push(toWord(isNegated && !word.startsWith('-') ? `-${word}` : word));
    list.push(...rest.slice(word.length));
    isNegated = false;
  }
  return list;
}

const toWord = (word: string): string =>
  disjunctions.has(word) || word.toLowerCase() === 'or' ? 'or' : word.replace(bareCve, '$1CVE-$2');

/** Returns the alternatives of a search, or undefined if its parentheses do not match or make too many of them. */
function readClauses(list: string[]): Clause[] | undefined {
  const rest = [...list];
  const clauses = readAlternatives(rest);
  return rest.length === 0 ? clauses : undefined;
}

/** Removes tokens up to the parenthesis that closes the group from `rest`. */
function readAlternatives(rest: string[]): Clause[] | undefined {
  const finished: Clause[] = [];
  let current: Clause[] = [[]];
  while (rest.length > 0 && rest[0] !== ')') {
    const token = rest.shift()!;
    if (token === 'or') {
      finished.push(...current);
      current = [[]];
    } else if (token === '(') {
      const group = readAlternatives(rest);
      if (!group || rest.shift() !== ')' || group.length * current.length > clausesMax) return undefined;
      current = current.flatMap((before) => group.map((after) => [...before, ...after]));
    } else for (const clause of current) clause.push(token);
  }
  return [...finished, ...current];
}

const plainWordsMax = 8;
const plainText = /^[\p{L}\p{N}]+(?:\s+[\p{L}\p{N}]+)*$/u;
const plainOrCompounds = /^[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*(?:\s+[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)*)*$/u;

/**
 * Returns the words of a text that has at most eight and nothing else. Undefined for an address, a phrase or an exclusion, which are meant as they are, and for an
 * id or another compound unless `withCompounds`.
 */
export function listPlainWords(text: string, { withCompounds = false } = {}): string[] | undefined {
  if (!(withCompounds ? plainOrCompounds : plainText).test(text.trim())) return undefined;
  const words = text.trim().split(/\s+/);
  return words.length > plainWordsMax ? undefined : words;
}

/** Removes words that say nothing about an item, unless there are no others. */
export function withoutFillers(clause: string[]): string[] {
  const kept = clause.filter((word) => !isFiller(word));
  return kept.some((word) => !word.startsWith('-')) ? kept : clause;
}

const isFiller = (word: string): boolean =>
  fillers.has(word.toLowerCase()) && (word.length === 1 || word !== word.toUpperCase());
