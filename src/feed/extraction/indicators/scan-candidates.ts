import type { IndicatorCandidate, IndicatorCandidateType, EmitCandidate, WordInfo } from './indicator-candidate.ts';
import { mayPrecedeCommand, readCommand } from './readers/commands.ts';
import { mayBeIdentifier, readColons, readSplitDigest, readWord } from './readers/codes.ts';
import { readMutex, readSpacedHex, readUserAgent } from './readers/cued-values.ts';
import { readDotted, readEmail } from './readers/dotted-names.ts';
import { readNumberedName, readRegistryKey, readSlashedPath, readUnixPath, readWindowsPath } from './readers/paths.ts';
import { readUrl } from './readers/urls.ts';
import { isWordCharAt, kindBits, nameBit, getCharClass } from './readers/char-classes.ts';

const candidatesMax = 200_000;

/**
 * Finds all indicator candidates in one pass over a refanged text. Each reader consumes the text that it reads and every expression is
 * bounded, so the time is linear.
 */
export function scanCandidates(text: string): IndicatorCandidate[] {
  const found: IndicatorCandidate[] = [];
  const emit: EmitCandidate = (type: IndicatorCandidateType, start, end, more) => {
    if (found.length < candidatesMax)
      found.push({ type, start, end, value: more?.value, doubt: more?.doubt ?? 0, defanged: false });
  };
  const wordInfo = { bits: 0, emit };
  let at = 0;
  while (at < text.length) {
    const first = getCharClass(text.charCodeAt(at));
    if (first === 0) {
      at = readMark(text, at, emit);
      continue;
    }
    const start = at;
    const kind = first & kindBits;
    let bits = first;
    let next = 0;
    for (at += 1; (next = getCharClass(text.charCodeAt(at))) & kind; at += 1) bits &= next;
    // Fast path: most words are prose and cannot start a candidate.
    const after = text.charCodeAt(at);
    const isPlain =
      (bits & 2) === 0 && at - start < 26 && ((first & nameBit) === 0 || !mayBeIdentifier(text, start, at));
    if (isPlain && joins[after] !== 1 && (after !== blank || at - start > 12 || !mayPrecedeCommand(text, start))) {
      if (after === blank) at += 1;
      continue;
    }
    wordInfo.bits = bits;
    at = Math.max(at, readAtWord(text, start, at, wordInfo));
  }
  return joinSplitHashes(text, found);
}

const digestCue = /\bsha-?(?:256|512)\b/i;
const digestCueReach = 60;
const splitDigests: Record<string, IndicatorCandidateType> = { md5: 'sha256', sha256: 'sha512' };

/** Joins the halves of a digest that a line break, a space or the edge of a cell splits, if the text before it says what digest it is. */
function joinSplitHashes(text: string, candidates: IndicatorCandidate[]): IndicatorCandidate[] {
  const joined: IndicatorCandidate[] = [];
  for (const one of candidates) {
    const first = joined.at(-1);
    const type = first && first.type === one.type ? splitDigests[one.type] : undefined;
    const isSplit =
      first !== undefined &&
      type !== undefined &&
      first.value === undefined &&
      one.start - first.end <= 3 &&
      /^[ \t]?(?:\r?\n)?[ \t]?$/.test(text.slice(first.end, one.start)) &&
      type ===
        `sha${digestCue.exec(text.slice(Math.max(0, first.start - digestCueReach), first.start))?.[0].slice(-3)}`;
    if (!isSplit) {
      joined.push(one);
      continue;
    }
    joined[joined.length - 1] = {
      ...first,
      type,
      end: one.end,
      value: text.slice(first.start, first.end) + text.slice(one.start, one.end),
    };
  }
  return joined;
}

const blank = 0x20;
// Characters that can join a word to the rest of the same value.
const joins = new Uint8Array(0x1_0000);
for (const char of '.:@/\\') joins[char.charCodeAt(0)] = 1;

/** Chooses the reader by the character after a word. Returns the offset at which the scan continues. */
function readAtWord(text: string, start: number, end: number, wordInfo: WordInfo): number {
  const { emit } = wordInfo;
  if (wordInfo.bits & 2 && end - start >= 16 && isLineEnd(text, end)) {
    const after = readSplitDigest(text, start, end, emit);
    if (after > end) return after;
  }
  switch (text.charCodeAt(end)) {
    case 0x2e: // .
      if (isWordCharAt(text, end + 1))
        return Math.max(readCommand(text, start, end, emit), readDotted(text, start, emit));
      break;
    case 0x3a: // :
      return readBeforeColon(text, start, end, wordInfo);
    case 0x40: // @
      return readEmail(text, start, emit, end);
    case 0x2f: // /
      if (text.startsWith('Mozilla', start)) return Math.max(end, readUserAgent(text, start, emit));
      break;
    case 0x5c: // \
      if (text.startsWith('Global', start) || text.startsWith('Local', start))
        return Math.max(end, readMutex(text, start, emit));
      if (end - start <= 19 && (text.charCodeAt(start) | 32) === 0x68)
        return Math.max(end, readRegistryKey(text, start, emit));
      break;
    case 0x20: // blank
      if (wordInfo.bits & 2 && (end - start === 2 || end - start === 8)) {
        const after = readSpacedHex(text, start, emit);
        if (after > start) return after;
      }
      readCommand(text, start, end, emit);
      break;
    default:
  }
  readWord(text, start, end, wordInfo);
  return end;
}

const isLineEnd = (text: string, at: number): boolean => {
  const code = text.charCodeAt(text.charCodeAt(at) === blank ? at + 1 : at);
  return code === 0x0a || code === 0x0d;
};

function readBeforeColon(text: string, start: number, end: number, wordInfo: WordInfo): number {
  const { bits, emit } = wordInfo;
  const next = text.charCodeAt(end + 1);
  if (next === 0x2f && text.charCodeAt(end + 2) === 0x2f) return readUrl(text, start, emit);
  if (next === 0x2f && end - start === 1) return Math.max(end, readSlashedPath(text, start, emit));
  if (next === 0x5c && end - start === 1) return Math.max(end, readWindowsPath(text, start, emit));
  if (next === 0x5c && end - start <= 19) return Math.max(end, readRegistryKey(text, start, emit));
  const isShortHex = (bits & 2) > 0 && end - start <= 8;
  if (isShortHex || text.startsWith('arn:aws', start)) {
    const after = readColons(text, start, emit);
    if (after > end) return after;
  }
  readWord(text, start, end, wordInfo);
  return end;
}

/** Reads values that start with a non-word character, mainly paths. Returns the offset at which the scan continues. */
function readMark(text: string, at: number, emit: EmitCandidate): number {
  let after = at;
  switch (text.charCodeAt(at)) {
    case 0x2f: // /
    case 0x7e: // ~
      after = readUnixPath(text, at, emit);
      break;
    case 0x25: // %
    case 0x5b: // [
    case 0x3c: // <
    case 0x7b: // {
    case 0x24: // $
      if (isWordCharAt(text, at + 1)) after = readWindowsPath(text, at, emit);
      break;
    case 0x28: // (
      if (text.startsWith('(HKLM', at)) after = readRegistryKey(text, at, emit);
      break;
    case 0x2e: // .
      if (text.charCodeAt(at - 1) === 0x29 && isWordCharAt(text, at + 1)) after = readNumberedName(text, at, emit);
      break;
    case 0x3a: // :
      if (text.charCodeAt(at + 1) === 0x3a && !isWordCharAt(text, at - 1)) after = readColons(text, at, emit);
      break;
    case 0x5c: // \
      if (text.charCodeAt(at + 1) === 0x5c) after = readWindowsPath(text, at, emit);
      break;
    default:
  }
  return Math.max(after, at + 1);
}
