import { matchAt } from './indicator-candidate.ts';
import { unspacedScripts } from './readers/char-classes.ts';
import type { Span } from '../text/stored-text.ts';
import { findWordDots } from './word-dots.ts';

/** A refanged text with a map of its spans to the original (UTF-16 units). */
export type RefangedText = {
  clear: string;
  /** Returns the span of the original for a span of the refanged text. */
  origin: (start: number, end: number) => Span;
  /** Returns whether any part of a span is defanged in the original. */
  isDefanged: (start: number, end: number) => boolean;
};

// First characters of a defanged part. A defanged scheme ends before one of the last three. A single character class searches fastest.
const defangMark = /[({<&\]\\\u00AD\u200B-\u200D\u2010\u2011\u2024\u2060\u3002\uFEFF\uFF0E[:_]/g;
const scheme = /(?:h(?:x{1,3}|tx|xt|zz|\*\*|\[tt\])ps?|meow|mxxp|fxp)$/i;
const schemeMaxChars = 7;

/** A space or an invisible character inside brackets: `[\u00AD.]` */
const gap = String.raw`[\s\u00AD\u200B-\u200D\u2060\uFEFF]`;

// Every alternative is bounded; `secure` is the s of a scheme.
const defangPattern = new RegExp(
  [
    // Markdown escapes brackets: `evil\[.\]com`.
    String.raw`\\[[(]\s?(?:\.|dot|:)\s?\\[\])]`,
    String.raw`[[({<]${gap}?(?:\.|,|dot|d0t|point|punkt|punto|ponto|::?\/{0,2}|@|at|\/\/?|\[\.\])${gap}?[\])}>]`,
    // A page that was escaped twice.
    String.raw`(?<=\w)&(?:#0{0,4}46|#x0{0,4}2e|period);(?=\w)`,
    String.raw`(?<=\w)&(?:#0{0,4}58|#x0{0,4}3a|colon);(?=\/|&)`,
    String.raw`(?<=[\w/:;])&(?:#0{0,4}47|#x0{0,4}2f|sol);`,
    String.raw`(?<=[\w%=])&amp;(?=[\w.-]{1,40}=)`,
    // A dot or colon with a bracket on one side only.
    String.raw`(?<=\d\.)\[(?=\d{1,3}\])|(?<=\d\.\[\d{1,3})\]`,
    String.raw`\[(?=[.:]\w)|(?<=\w[.:])\](?=\w)`,
    String.raw`\\(?=[./])`,
    String.raw`(?<=ps?(?:\[:\]|:))\\\\(?=\w)`,
    String.raw`(?:h(?:x{1,3}|tx|xt|zz|\*\*|\[tt\])p(?<secure>s?)|\bmeow|\bmxxp)(?=(?:\[?:\]?|\[:)(?:\/\/|\\\\|\[\/)|\[:\/\/?\]|__)`,
    String.raw`\bfxp(?=\[?:)`,
    // Dots of other scripts, unless the text continues in such a script.
    String.raw`(?<=[a-z0-9])[\u2024\u3002\uFF0E](?=[a-z0-9-]{1,63}(?:[^a-z0-9${unspacedScripts}-]|[\u3002\uFF0E]\w|$))`,
    String.raw`(?<=[a-z0-9])[\u2010\u2011](?=[a-z0-9])`,
    String.raw`[\u200B-\u200D\u2060\u00AD\uFEFF]`,
  ].join('|'),
  'iy',
);
/** Typesetting and escape characters, which do not make a value unclickable and so do not count as defanging. */
const typeset = /^(?:[\u00AD\u200B-\u200D\u2010\u2011\u2060\uFEFF]|\\|&[#\w]{1,12};)$/;

const wordReach = 100;
const otherInvisible = /[\u00AD\u200B-\u200D\u2060\uFEFF](?!\.)/;

/** Returns whether an invisible character defangs the dot after it. If the word has others elsewhere, they only allow line breaks. */
function isInvisibleDot(text: string, at: number): boolean {
  if (text[at + 1] !== '.') return false;
  const before = /\S*$/.exec(text.slice(Math.max(0, at - wordReach), at))?.[0] ?? '';
  const behind = /^\S*/.exec(text.slice(at + 1, at + wordReach))?.[0] ?? '';
  return !otherInvisible.test(before) && !otherInvisible.test(behind);
}

/** Finds the next defanged part at or after an offset. */
function findDefanging(text: string, from: number): RegExpExecArray | null {
  defangMark.lastIndex = from;
  while (defangMark.test(text)) {
    const at = defangMark.lastIndex - 1;
    const start = findSchemeStart(text, from, at);
    const match = (start < at ? matchAt(defangPattern, text, start) : null) ?? matchAt(defangPattern, text, at);
    if (match) return match;
  }
  return null;
}

/** Returns the start of the defanged scheme that ends at a mark, or the offset of the mark itself. */
function findSchemeStart(text: string, from: number, at: number): number {
  const code = text.charCodeAt(at);
  if (code !== 0x3a && code !== 0x5b && code !== 0x5f) return at;
  const last = text.charCodeAt(at - 1) | 32;
  // `hxxp`, `hxxps`, `meow`
  if (last !== 0x70 && last !== 0x73 && last !== 0x77) return at;
  const length = scheme.exec(text.slice(Math.max(from, at - schemeMaxChars), at))?.[0].length ?? 0;
  return at - length;
}

/** Returns a function that finds the next defanged part or spelled dot at or after an offset. Offsets must not decrease. */
function createPartFinder(text: string): (from: number) => RegExpExecArray | null {
  const wordDots = findWordDots(text);
  let wordDot = 0;
  let match = findDefanging(text, 0);
  return (from) => {
    while (wordDot < wordDots.length && wordDots[wordDot]!.index < from) wordDot += 1;
    // The last match is still the next one until its place is passed.
    if (match && match.index < from) match = findDefanging(text, from);
    const spelled = wordDots[wordDot];
    return spelled && (!match || spelled.index < match.index) ? spelled : match;
  };
}

/**
 * Refangs all addresses of a text: `hxxp`, `[.]`, `(dot)`, `[:]`, `[@]`, `[://]`, `\.`, invisible characters. Keeps a backslash before
 * a dot inside Windows paths.
 */
export function refangText(text: string): RefangedText {
  const parts: string[] = [];
  const replacements: Replacements = { clearStarts: [], clearEnds: [], originEnds: [] };
  // Starts of defanged parts in the refanged text, without typesetting marks.
  const defangedStarts: number[] = [];
  let at = 0;
  let length = 0;
  const findNext = createPartFinder(text);
  for (let part = findNext(0); part; part = findNext(part.index + part[0].length)) {
    const [printed] = part;
    const meant = refangMatch(printed, part.groups?.['secure']);
    if (printed === '\\' && !isEscape(text, part.index)) continue;
    const { before, after } = blanksAround(text, at, part);
    if (before === 0 && /^[[({<]\s?at/i.test(printed) && !/\S/.test(text[part.index - 1] ?? ' ')) continue;
    const from = part.index - before;
    parts.push(text.slice(at, from), meant);
    length += from - at;
    replacements.clearStarts.push(length);
    if (!typeset.test(printed) || isInvisibleDot(text, part.index)) defangedStarts.push(length);
    length += meant.length;
    replacements.clearEnds.push(length);
    at = part.index + printed.length + after;
    replacements.originEnds.push(at);
  }
  if (parts.length === 0) return { clear: text, origin: (start, end) => ({ start, end }), isDefanged: () => false };
  parts.push(text.slice(at));
  return {
    clear: parts.join(''),
    origin: (start, end) => ({
      start: toOrigin(replacements, start, 'start'),
      end: toOrigin(replacements, end, 'end'),
    }),
    isDefanged: (start, end) => {
      const index = lowerBound(defangedStarts, start);
      return index < defangedStarts.length && defangedStarts[index]! < end;
    },
  };
}

/** For each replacement: its start and end in the refanged text, and its end in the original. */
type Replacements = { clearStarts: number[]; clearEnds: number[]; originEnds: number[] };

/** Maps a refanged offset to the original. Inside a replacement, returns its start or end in the original. */
function toOrigin(replacements: Replacements, position: number, side: 'start' | 'end'): number {
  const { clearStarts, clearEnds, originEnds } = replacements;
  // The last replacement before the position, or for a start at it.
  const index = lowerBound(clearStarts, side === 'end' ? position : position + 1) - 1;
  if (index < 0) return position;
  if (position >= clearEnds[index]!) return originEnds[index]! + (position - clearEnds[index]!);
  if (side === 'end') return originEnds[index]!;
  const [clearBefore, originBefore] = index === 0 ? [0, 0] : [clearEnds[index - 1]!, originEnds[index - 1]!];
  return originBefore + (clearStarts[index]! - clearBefore);
}

/** Counts the spaces or line breaks around a defanged part that belong to it, as in `evil [.] com` and `evil [.]com`. */
function blanksAround(
  text: string,
  consumedEnd: number,
  { 0: printed, index }: RegExpExecArray,
): { before: number; after: number } {
  const end = index + printed.length;
  const isBlankBefore = text[index - 1] === ' ' && index - 1 >= consumedEnd;
  const isBlankBehind = /[ \n]/.test(text[end] ?? '');
  const left = text[index - (isBlankBefore ? 2 : 1)] ?? '';
  const right = text[end + (isBlankBehind ? 1 : 0)] ?? '';
  const none = { before: 0, after: 0 };
  if (printed.length < 3 || !/[a-z0-9]/i.test(left) || !/[a-z0-9]/.test(right)) return none;
  // A host must follow `[at]`: `info [at] evil [dot] com`, but not `at nine [at] noon`.
  const isMeant = /@|at/i.test(printed)
    ? isBlankBefore && isBlankBehind && hostBehind.test(text.slice(end, end + 80))
    : dotWord.test(printed);
  return isMeant ? { before: Number(isBlankBefore), after: Number(isBlankBehind) } : none;
}
const dotWord = /\.|d[o0]t|point|punkt|punto|ponto/i;
const hostBehind = /^ [\w-]{1,63}(?:\.| ?[[({] ?(?:\.|dot) ?[\])}] ?)\w/i;

/** Returns the first index of a sorted array whose value is at least `value`. */
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

function refangMatch(printed: string, secure: string | undefined): string {
  const lower = printed.toLowerCase();
  if (lower.startsWith('&'))
    return /46|2e|period/.test(lower) ? '.' : /58|3a|colon/.test(lower) ? ':' : lower === '&amp;' ? '&' : '/';
  if (lower === 'fxp') return 'ftp';
  if (/^[hm]/.test(lower)) return `http${secure?.toLowerCase() ?? ''}`;
  const colon = /::?\/{0,2}/.exec(lower);
  if (colon) return colon[0];
  if (lower === '\\\\') return '//';
  if (/[\u2010\u2011]/.test(lower)) return '-';
  if (/[.,\u2024\u3002\uFF0E]|d[o0]t|point|punkt|punto|ponto/.test(lower)) return '.';
  if (/@|at/.test(lower)) return '@';
  return /\/{1,2}/.exec(lower)?.[0] ?? '';
}

/** Distinguishes escapes (`evil\.com`, `http:\/\/evil`) from paths (`C:\Users\.ssh`). */
function isEscape(text: string, at: number): boolean {
  if (text[at + 1] === '/') return /[\w:/.?=&-]/.test(text[at - 1] ?? '');
  if (!/[a-z0-9]/i.test(text[at - 1] ?? '') || !/[a-z0-9]/i.test(text[at + 2] ?? '')) return false;
  for (let back = at - 1; back > Math.max(-1, at - 80); back -= 1) {
    const char = text[back]!;
    if (/\s/.test(char)) return true;
    if (char === '\\' && text[back + 1] !== '.') return false;
    if (char === '%') return false;
  }
  return true;
}
