import type { Span } from './stored-text.ts';

/** A text made clear, and the way back: where each span of it stands in the original (UTF-16 units). */
export type Refanged = {
  clear: string;
  /** The span of the original that a span of the clear text came from. */
  origin: (start: number, end: number) => Span;
  /** Whether something inside the span was made harmless in the original. */
  isDefanged: (start: number, end: number) => boolean;
};

// Every alternative is bounded, and begins with a character that plain prose seldom holds.
const disguise =
  /(?: \[(?:\.|dot)\] (?=\S))|[[({<]\s?(?:\.|dot|:\/\/|:|@|at|\/|\[\.\])\s?[\])}>]|\[(?=[.:]\w)|(?<=\w[.:])\](?=\w)|\\(?=\.)|\b(?:h(?:xx|tx|xt|\*\*)p(s?)|meow|mxxp)(?=(?:\[?:\]?|\[:)(?:\/\/|\\\\|\[\/)|\[:\/\/\]|__)|\bfxp(?=\[?:)|[\u200B-\u200D\u2060\u00AD\uFEFF]/gi;

/**
 * Undoes every way of disguising an address in a running text: `hxxp`, `[.]`, `(dot)`, `[:]`, `[@]`, `[://]`, `\.`, invisible characters.
 * A backslash before a dot goes only outside Windows paths.
 */
export function refangText(text: string): Refanged {
  const parts: string[] = [];
  // For each replacement: where it begins and ends in the clear text, and where it ends in the original.
  const clearStart: number[] = [];
  const clearEnd: number[] = [];
  const originEnd: number[] = [];
  let at = 0;
  let length = 0;
  disguise.lastIndex = 0;
  for (let match = disguise.exec(text); match; match = disguise.exec(text)) {
    const [printed] = match;
    const meant = meaning(printed, match[1]);
    if (printed === '\\' && !isEscapedDot(text, match.index)) continue;
    if (/^[[({<]\s?at/i.test(printed) && !/\S/.test(text[match.index - 1] ?? ' ')) continue;
    parts.push(text.slice(at, match.index), meant);
    length += match.index - at;
    clearStart.push(length);
    length += meant.length;
    clearEnd.push(length);
    at = match.index + printed.length;
    originEnd.push(at);
  }
  if (parts.length === 0) return { clear: text, origin: (start, end) => ({ start, end }), isDefanged: () => false };
  parts.push(text.slice(at));
  const lastBefore = (position: number): number => lowerBound(clearStart, position) - 1;
  /** Original position of a clear one; inside a replacement its start, or with `after` its end. */
  const back = (position: number, after: boolean): number => {
    const index = lastBefore(after ? position : position + 1);
    if (index < 0) return position;
    const end = clearEnd[index]!;
    if (position >= end) return originEnd[index]! + (position - end);
    return after ? originEnd[index]! : originEnd[index]! - printedLength(index);
  };
  const printedLength = (index: number): number => {
    const before = index === 0 ? 0 : originEnd[index - 1]!;
    const plain = clearStart[index]! - (index === 0 ? 0 : clearEnd[index - 1]!);
    return originEnd[index]! - (before + plain);
  };
  return {
    clear: parts.join(''),
    origin: (start, end) => ({ start: back(start, false), end: back(end, true) }),
    isDefanged: (start, end) => {
      const index = lowerBound(clearStart, start);
      return index < clearStart.length && clearStart[index]! < end;
    },
  };
}

/** The first index whose value is at least `value`. */
export function lowerBound(sorted: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function meaning(printed: string, secure: string | undefined): string {
  const lower = printed.toLowerCase();
  if (lower === 'fxp') return 'ftp';
  if (/^[hm]/.test(lower)) return `http${secure?.toLowerCase() ?? ''}`;
  if (lower.includes('://')) return '://';
  if (/\.|dot/.test(lower)) return '.';
  if (lower.includes(':')) return ':';
  if (/@|at/.test(lower)) return '@';
  return lower.includes('/') ? '/' : '';
}

/** `evil\.com` is a disguise, `C:\Users\.ssh` is a path. */
function isEscapedDot(text: string, at: number): boolean {
  if (!/[a-z0-9]/i.test(text[at - 1] ?? '') || !/[a-z0-9]/i.test(text[at + 2] ?? '')) return false;
  for (let back = at - 1; back > Math.max(-1, at - 80); back -= 1) {
    const char = text[back]!;
    if (/\s/.test(char)) return true;
    if (char === '\\' && text[back + 1] !== '.') return false;
    if (char === '%') return false;
  }
  return true;
}
