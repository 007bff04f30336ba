import { foldWhitespace } from '../../../platform/lib/text/canonical-text.ts';

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
