import type { PatternPart, TextPattern } from './expression.ts';

const special = new Set(['*', '?', '\\']);

/**
 * Parses a value with wildcards (Sigma specification 2.1, "Escaping"): `*` and `?` are wildcards, a backslash before one of them or before
 * another backslash makes it literal, and any other backslash is literal itself.
 */
export function parsePattern(value: string): TextPattern {
  const parts: PatternPart[] = [];
  let text = '';
  for (let at = 0; at < value.length; at++) {
    const character = value[at]!;
    if (character === '\\' && special.has(value[at + 1] ?? '')) text += value[++at]!;
    else if (character === '*' || character === '?') {
      parts.push({ text }, { wildcard: character });
      text = '';
    } else text += character;
  }
  return simplifyPattern([...parts, { text }]);
}

/** Joins neighboring texts and `*`, and drops empty texts. */
export function simplifyPattern(parts: TextPattern): TextPattern {
  const result: PatternPart[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if ('text' in part) {
      if (part.text === '') continue;
      if (last && 'text' in last) result[result.length - 1] = { text: last.text + part.text };
      else result.push(part);
    } else if (part.wildcard === '?' || !last || !('wildcard' in last) || last.wildcard !== '*') result.push(part);
  }
  return result;
}

/** Returns the pattern's text, or undefined if it has wildcards. */
export function plainText(pattern: TextPattern): string | undefined {
  if (pattern.length === 0) return '';
  const [part] = pattern;
  return pattern.length === 1 && 'text' in part! ? part.text : undefined;
}

export const anyText: PatternPart = { wildcard: '*' };

/** How a simple pattern compares a value with one text. */
export type SimpleComparison = { relation: 'equals' | 'startswith' | 'endswith' | 'contains'; text: string };

/** Returns the comparison that a pattern stands for, or undefined if it has wildcards inside. */
export function toSimpleComparison(pattern: TextPattern): SimpleComparison | undefined {
  const isAny = (part: PatternPart | undefined): boolean =>
    part !== undefined && 'wildcard' in part && part.wildcard === '*';
  const [startsOpen, endsOpen] = [isAny(pattern[0]), isAny(pattern.at(-1))];
  const inner = pattern.slice(startsOpen ? 1 : 0, endsOpen && pattern.length > 1 ? -1 : pattern.length);
  const text = plainText(inner);
  if (text === undefined || (startsOpen && text === '')) return undefined;
  if (startsOpen) return { relation: endsOpen ? 'contains' : 'endswith', text };
  return { relation: endsOpen ? 'startswith' : 'equals', text };
}
