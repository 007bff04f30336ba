const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });
const readMaxChars = 4_000;

/** The first sentences of a text, as they stand there, at most `count` and `maxChars` long; undefined for an empty text. */
export function firstSentences(text: string, count: number, maxChars: number): string | undefined {
  const flat = text.slice(0, readMaxChars).replaceAll(/\s+/g, ' ').trim().toWellFormed();
  let taken = '';
  let sentences = 0;
  for (const { segment } of segmenter.segment(flat)) {
    if (sentences === count || (taken !== '' && taken.length + segment.length > maxChars)) break;
    taken += segment;
    sentences += 1;
  }
  const cut = taken.trim().slice(0, maxChars).toWellFormed();
  return cut === '' ? undefined : cut;
}
