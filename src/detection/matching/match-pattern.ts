import type { TextPattern } from './expression.ts';

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
