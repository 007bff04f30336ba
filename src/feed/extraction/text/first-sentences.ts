const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const readMaxChars = 4_000;

/** Returns the first sentences of a text, at most `count` sentences and `maxChars` characters, or undefined for an empty text. */
export const firstSentences = (text: string, count: number, maxChars: number): string | undefined =>
  joinSentences(listFirstSentences(text, count), maxChars);

/** Returns the first sentences of a text. To find them takes longer than to join them. */
export function listFirstSentences(text: string, count: number): string[] {
  const flat = text.slice(0, readMaxChars).replaceAll(/\s+/g, ' ').trim().toWellFormed();
  const sentences: string[] = [];
  for (const { segment } of segmenter.segment(flat)) {
    if (sentences.length === count) break;
    sentences.push(segment);
  }
  return sentences;
}

/** Joins sentences as far as they have at most `maxChars` characters together. The first one is cut. Returns undefined for an empty text. */
export function joinSentences(sentences: string[], maxChars: number): string | undefined {
  let result = '';
  for (const sentence of sentences) {
    if (result !== '' && result.length + sentence.length > maxChars) break;
    result += sentence;
  }
  const cut = result.trim().slice(0, maxChars).toWellFormed();
  return cut === '' ? undefined : cut;
}
