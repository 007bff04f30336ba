import { reportLanguages } from '../lexicon/languages.ts';

/** The most common function words of languages in Latin script. */
const functionWordsOf: Record<string, string | undefined> = {
  en: 'the of and to in is that for with was on are this by from which be as it an have not were or has',
  ...Object.fromEntries(Object.entries(reportLanguages).map(([code, { functionWords }]) => [code, functionWords])),
  cs: 'se na je že by pro jako které byl jsou také nebo při podle aby však jeho mezi této bylo',
  tr: 've bir bu için ile olarak olan daha çok gibi kadar sonra tarafından ancak veya değil ise en',
};
const scripts: [string, RegExp][] = [
  ['ja', /[\u3040-\u30FF]/g],
  ['ko', /[\uAC00-\uD7AF]/g],
  ['zh', /[\u4E00-\u9FFF]/g],
  ['ar', /[\u0600-\u06FF]/g],
  ['he', /[\u0590-\u05FF]/g],
  ['el', /[\u0370-\u03FF]/g],
  ['th', /[\u0E00-\u0E7F]/g],
];
const readMaxChars = 6_000;
const shareLeast = 0.15;
const byWord = new Map<string, string[]>();
for (const [language, words] of Object.entries(functionWordsOf))
  for (const word of words?.split(' ') ?? []) byWord.set(word, [...(byWord.get(word) ?? []), language]);

/** Returns the language of a text as an ISO 639-1 code, by script and function words, or undefined if the evidence is too weak. */
export function detectLanguage(text: string): string | undefined {
  const start = text.slice(0, readMaxChars);
  const letters = countCharacters(start.match(/\p{L}+/gu) ?? []);
  if (letters < 40) return undefined;
  for (const [language, pattern] of scripts)
    if ((start.match(pattern)?.length ?? 0) / letters > shareLeast) return language;
  const cyrillic = start.match(/[\u0400-\u04FF]/g)?.length ?? 0;
  if (cyrillic / letters > 0.3) return (start.match(/[іїєґІЇЄҐ]/g)?.length ?? 0) / cyrillic > 0.01 ? 'uk' : 'ru';
  const counts = new Map<string, number>();
  const words = start.toLowerCase().match(/\p{L}+/gu) ?? [];
  for (const word of words)
    for (const language of byWord.get(word) ?? []) counts.set(language, (counts.get(language) ?? 0) + 1);
  const [best] = [...counts].toSorted((a, b) => b[1] - a[1]);
  return best && best[1] / words.length > 0.05 ? best[0] : undefined;
}

const countCharacters = (words: string[]): number =>
  words.reduce((sum, word) => sum + word.length - (word.match(/[\uDC00-\uDFFF]/g)?.length ?? 0), 0);
