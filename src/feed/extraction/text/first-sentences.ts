const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const readMaxChars = 4_000;

/** Returns the first sentences of a text, at most `count` sentences and `maxChars` characters, or undefined for an empty text. */
export function firstSentences(text: string, count: number, maxChars: number): string | undefined {
  const flat = text.slice(0, readMaxChars).replaceAll(/\s+/g, ' ').trim().toWellFormed();
  let result = '';
  let sentences = 0;
  for (const { segment } of segmenter.segment(flat)) {
    if (sentences === count || (result !== '' && result.length + segment.length > maxChars)) break;
    result += segment;
    sentences += 1;
  }
  const cut = result.trim().slice(0, maxChars).toWellFormed();
  return cut === '' ? undefined : cut;
}
