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

/**
 * Returns a function that reports whether a whole value matches a pattern. `?` is one Unicode character. Takes at most the product of both
 * lengths: the match is greedy, and only the last `*` is ever tried again.
 */
export function compilePattern(pattern: TextPattern): (value: string) => boolean {
  // Each segment between two `*` is a list of texts and single characters.
  const segments: (string | null)[][] = [[]];
  for (const part of pattern) {
    if ('text' in part) segments.at(-1)!.push(part.text);
    else if (part.wildcard === '?') segments.at(-1)!.push(null);
    else segments.push([]);
  }
  if (segments.length === 1) return (value) => matchAt(segments[0]!, value, 0) === value.length;
  const [first, ...others] = segments as [(string | null)[], ...(string | null)[][]];
  const last = others.pop()!;
  return (value) => {
    let at = matchAt(first, value, 0);
    for (const segment of others) {
      if (at < 0) return false;
      at = findSegment(segment, value, at);
    }
    return at >= 0 && matchesEnd(last, value, at);
  };
}

/** Returns the end of a segment's match at a position, or -1. */
function matchAt(segment: readonly (string | null)[], value: string, from: number): number {
  let at = from;
  for (const piece of segment) {
    if (piece === null) {
      if (at >= value.length) return -1;
      at += value.codePointAt(at)! > 0xffff ? 2 : 1;
    } else if (value.startsWith(piece, at)) at += piece.length;
    else return -1;
  }
  return at;
}

function findSegment(segment: readonly (string | null)[], value: string, from: number): number {
  if (segment.length === 0) return from;
  const [piece] = segment;
  for (let at = from; at <= value.length; at++) {
    if (typeof piece === 'string') {
      at = value.indexOf(piece, at);
      if (at < 0) return -1;
    }
    const end = isBoundary(value, at) ? matchAt(segment, value, at) : -1;
    if (end >= 0) return end;
  }
  return -1;
}

function matchesEnd(segment: readonly (string | null)[], value: string, from: number): boolean {
  let at = value.length;
  for (const piece of segment.toReversed()) {
    if (piece === null) at -= at >= 2 && !isBoundary(value, at - 1) ? 2 : 1;
    else if (at >= piece.length && value.endsWith(piece, at)) at -= piece.length;
    else return false;
    if (at < from) return false;
  }
  return at >= from;
}

/** Returns whether a position is not inside a surrogate pair. */
function isBoundary(value: string, at: number): boolean {
  const unit = value.charCodeAt(at);
  const before = value.charCodeAt(at - 1);
  return !(at > 0 && unit >= 0xdc00 && unit <= 0xdfff && before >= 0xd800 && before <= 0xdbff);
}

// oxlint-disable-next-line no-control-regex -- The range of ASCII.
const beyondAscii = /[^\0-\x7f]/;

export const isAscii = (text: string): boolean => !beyondAscii.test(text);

// Letters whose lower case is newer than the Unicode version of the embedded engine.
const unfolded = /[\u1c89\ua7cb\ua7cc\ua7ce\ua7d2\ua7d4\ua7da\ua7dc\u{10d50}-\u{10d65}\u{16ea0}-\u{16eb8}]/u;
/** Letters that `toLowerCase` of a whole text does not fold as it folds each of them: one becomes two, one depends on its neighbors. */
const unevenlyFolded = /[\u0130\u03a3]/;

/**
 * Returns the text in lower case, one character for each character, exactly as `lower` of the embedded engine does. In contrast to
 * `toLowerCase`, no character becomes two and none depends on its neighbors.
 */
export function foldCase(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  if (!unevenlyFolded.test(text) && !unfolded.test(text)) return text.toLowerCase();
  let result = '';
  for (const character of text) result += foldCharacter(character);
  return result;
}

function foldCharacter(character: string): string {
  if (character === '\u0130') return 'i';
  const lower = character.toLowerCase();
  const isSingle = lower.length === (lower.codePointAt(0)! > 0xffff ? 2 : 1);
  return isSingle && !unfolded.test(character) ? lower : character;
}
