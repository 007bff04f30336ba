import { findMatches } from './find-matches.ts';
import type { Span } from './stored-text.ts';
import { foldWhitespace } from '../../../platform/lib/text/canonical-text.ts';

/** A sentence with its text. */
export type Sentence = Span & { text: string };

export const sentenceMaxChars = 600;
const sentenceMinChars = 12;
/** The point of a day in a German date: `am 3. März 2026`. Months that are English words, too, need a year. */
const dayPoint = String.raw`(?<=(?<!\d)[0-3]?\d)\.\s(?:Jan(?:uar\b|\.)|Jänner|Feb(?:ruar\b|\.)|März|Mai\b|Jun(?:i\b|\.)|Jul(?:i\b|\.)|Okt(?:ober\b|\.)|Dez(?:ember\b|\.)|(?:April|August|September|November) (?:19|20)\d\d\b)`;
// A sentence ends at a line break, at punctuation before a space and a capital, digit or quote, glued to the next sentence, as in converted
// pages, or at the full stop of a script without capitals.
const boundary = new RegExp(
  String.raw`\n+|(?!${dayPoint})[.!?](?:["”’)\]]{0,2})(?=\s+["“‘(«„]?[\p{Lu}\p{Lo}0-9•])|[a-z)][.!?](?=[A-Z][a-z]{1,20} [a-z])|[•●▪]|[。！？।؟۔][」』”]?`,
  'gu',
);

/** Returns the trimmed sentences and lines of a text, each of at most 600 UTF-16 units. */
export function findSentences(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  let start = 0;
  const push = (end: number): void => {
    for (let from = start; from < end; from += sentenceMaxChars)
      addTrimmed(text, from, Math.min(end, from + sentenceMaxChars), sentences);
    start = end;
  };
  for (const match of findMatches(boundary, text)) push(match.index + match[0].length);
  push(text.length);
  return sentences;
}

function addTrimmed(text: string, from: number, to: number, sentences: Sentence[]): void {
  let start = from;
  let end = to;
  while (start < end && isSpace(text, start)) start += 1;
  while (end > start && isSpace(text, end - 1)) end -= 1;
  // Do not split a surrogate pair.
  if (start > 0 && isBetween(text.charCodeAt(start), 0xdc00, 0xdfff)) start += 1;
  if (isBetween(text.charCodeAt(end - 1), 0xd800, 0xdbff)) end -= 1;
  if (end - start >= sentenceMinChars) sentences.push({ start, end, text: compactText(text.slice(start, end)) });
}

const isBetween = (code: number, first: number, last: number): boolean => code >= first && code <= last;

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x20 || code === 0x0a || (!isBetween(code, 0x21, 0x7e) && /\s/.test(text[at]!));
}

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const readMaxChars = 4_000;

/** Returns the first sentences of a text, at most `count` sentences and `maxChars` characters, or undefined for an empty text. */
export const firstSentences = (text: string, count: number, maxChars: number): string | undefined =>
  joinSentences(listFirstSentences(text, count), maxChars);

/** Returns the first sentences of a text. Finding them takes longer than joining them. */
export function listFirstSentences(text: string, count: number): string[] {
  const flat = foldWhitespace(text.slice(0, readMaxChars)).trim().toWellFormed();
  const segments = segmenter.segment(flat);
  const sentences: string[] = [];
  // Takes half of the time of the iterator.
  for (let start = 0; start < flat.length && sentences.length < count;) {
    const { segment } = segments.containing(start)!;
    sentences.push(segment);
    start += segment.length;
  }
  return sentences;
}

/** Joins the first sentences that fit into `maxChars` characters. Cuts the first one if it alone is longer. Returns undefined for an empty text. */
export function joinSentences(sentences: string[], maxChars: number): string | undefined {
  let result = '';
  for (const sentence of sentences) {
    if (result !== '' && result.length + sentence.length > maxChars) break;
    result += sentence;
  }
  const cut = result.trim().slice(0, maxChars).toWellFormed();
  return cut === '' ? undefined : cut;
}

/**
 * Returns the same text, with one byte per character in memory if all characters are Latin-1. Part of a text with a single other character,
 * such as a typographic quotation mark, would have two bytes per character, which makes patterns with the flag `u` several times slower.
 */
export const compactText = (text: string): string =>
  isLatin1.test(text) ? Buffer.from(text, 'latin1').toString('latin1') : text;

const isLatin1 = /^[\0-\u00FF]*$/;
