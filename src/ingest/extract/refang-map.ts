import type { Span } from './stored-text.ts';

/** A text made clear, and the way back: where each span of it stands in the original (UTF-16 units). */
export type Refanged = {
  clear: string;
  /** The span of the original that a span of the clear text came from. */
  origin: (start: number, end: number) => Span;
  /** Whether something inside the span was made harmless in the original. */
  isDefanged: (start: number, end: number) => boolean;
};

// Where a disguise may begin: brackets, a backslash, the first letters of disguised schemes, invisible characters, dots of other scripts.
const openers = new Uint8Array(128);
for (const char of '[({<]\\hHmMfF') openers[char.charCodeAt(0)] = 1;
const isRare = (code: number): boolean =>
  code === 0xad ||
  (code >= 0x200b && code <= 0x200d) ||
  code === 0x2060 ||
  code === 0xfeff ||
  code === 0x3002 ||
  code === 0xff0e;

// Every alternative is bounded. A backslash, and a bracket that closes, stand for nothing.
const disguise =
  /[[({<]\s?(?:\.|dot|:\/\/|:|@|at|\/|\[\.\])\s?[\])}>]|\[(?=[.:]\w)|(?<=\w[.:])\](?=\w)|\\(?=\.)|\b(?:h(?:xx|tx|xt|\*\*)p(s?)|meow|mxxp)(?=(?:\[?:\]?|\[:)(?:\/\/|\\\\|\[\/)|\[:\/\/\]|__)|\bfxp(?=\[?:)|(?<=[a-z0-9])[\u3002\uFF0E](?=[a-z0-9])|[\u200B-\u200D\u2060\u00AD\uFEFF]/iy;

/** The next disguise at or behind a place. */
function findDisguise(text: string, from: number): RegExpExecArray | null {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 128 ? openers[code] === 0 : !isRare(code)) continue;
    disguise.lastIndex = at;
    const match = disguise.exec(text);
    if (match) return match;
  }
  return null;
}

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
  for (let match = findDisguise(text, 0); match; match = findDisguise(text, match.index + match[0].length)) {
    const [printed] = match;
    const meant = meaning(printed, match[1]);
    if (printed === '\\' && !isEscapedDot(text, match.index)) continue;
    if (/^[[({<]\s?at/i.test(printed) && !/\S/.test(text[match.index - 1] ?? ' ')) continue;
    // `evil [.] com`: blanks on both sides belong to the disguise.
    const isSpaced = isSpacedDot(text, at, match);
    const from = isSpaced ? match.index - 1 : match.index;
    parts.push(text.slice(at, from), meant);
    length += from - at;
    clearStart.push(length);
    length += meant.length;
    clearEnd.push(length);
    at = match.index + printed.length + (isSpaced ? 1 : 0);
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

function isSpacedDot(text: string, taken: number, { 0: printed, index }: RegExpExecArray): boolean {
  const end = index + printed.length;
  return (
    printed.length > 2 &&
    text[index - 1] === ' ' &&
    index - 1 >= taken &&
    text[end] === ' ' &&
    /[a-z0-9]/i.test(text[index - 2] ?? '') &&
    /[a-z0-9]/.test(text[end + 1] ?? '') &&
    /\.|dot/i.test(printed)
  );
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
  if (/[.\u3002\uFF0E]|dot/.test(lower)) return '.';
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
