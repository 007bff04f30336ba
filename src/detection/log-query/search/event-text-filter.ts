import type { Expression } from '../../matching/expression.ts';
import { chooseGuards, type Guard } from '../../matching/guards.ts';
import { eventTextSql } from '../../log-engine/sql/field-sql.ts';
import { duck, quoteLiteral, type SqlText } from '../../log-engine/sql/sql-text.ts';

const patternCharsMax = 4000;
/** ASCII without the characters that encoders often escape, because JSON needs it or HTML does. */
const plainRun = /[^\0-\x1f"&'/<>\\\x7f-\uffff]+/g;

/**
 * Returns SQL for the text of an event, like `eventTextSql`, that may be null where that changes none of these conditions. Most events have none of
 * the texts that conditions look for, and decoding takes longer than reading the fields of an event.
 */
export function filteredTextSql(conditions: readonly Expression[]): (json: SqlText) => SqlText {
  const literals = new Set<string>();
  for (const guard of conditions.flatMap((condition) => listDecisive(condition))) {
    const literal = guard && findPlainRun(guard.text);
    if (literal === undefined) return eventTextSql;
    literals.add(literal);
  }
  const pattern = writePattern([...literals]);
  if (literals.size === 0 || pattern.length > patternCharsMax) return eventTextSql;
  return (json) =>
    duck`CASE WHEN regexp_matches(lower(${json}), ${quoteLiteral(pattern)}) THEN ${eventTextSql(json)} END`;
}

/**
 * Returns texts of an event so that a condition is the same with and without the event's text if none of them is in it. Undefined stands for a test
 * that requires none.
 */
function listDecisive(condition: Expression): (Guard | undefined)[] {
  const guards = chooseGuards(condition, costOf);
  if (guards?.every(({ field }) => field === null)) return [...guards];
  if (condition.kind === 'match') return condition.field === null ? [undefined] : [];
  return condition.kind === 'not' ? listDecisive(condition.of) : condition.of.flatMap((one) => listDecisive(one));
}

/** Prefers long texts of the event. */
const costOf = (guards: readonly Guard[]): number =>
  guards.reduce((sum, { field, text }) => sum + (field === null ? 1 / text.length : Infinity), 0);

const findPlainRun = (text: string): string | undefined =>
  text.match(plainRun)?.toSorted((a, b) => b.length - a.length)[0];

/** Returns a regular expression for JSON, in lower case, that has one of the texts or an escape of one of their characters. */
function writePattern(literals: readonly string[]): string {
  const characters = [...new Set(literals.join(''))];
  const codes = characters.flatMap((character) => [character, character.toUpperCase()]).map(toCode);
  // The other characters whose lower case is an ASCII letter.
  const escapes = [...new Set([...codes, toCode('\u0130'), toCode('\u212a')])].join('|');
  const texts = literals.map((literal) => literal.replaceAll(/[^\w ]/g, String.raw`\$&`));
  // A backslash that is itself escaped begins no escape.
  return [...texts, String.raw`[^\\](?:\\\\)*\\u(?:${escapes})`].join('|');
}

const toCode = (character: string): string => character.charCodeAt(0).toString(16).padStart(4, '0');
