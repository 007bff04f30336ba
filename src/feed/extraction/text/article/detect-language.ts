// The most common function words of languages in Latin script.
const functionWords: Record<string, string> = {
  en: 'the of and to in is that for with was on are this by from which be as it an have not were or has',
  de: 'der die und das ist nicht mit von den für auf ein eine zu im dem des sich wird werden auch als sind wurde',
  fr: 'le la les des et est une dans pour que qui sur pas avec sont par au ce plus ont cette été aux du',
  es: 'el los las una que con por para del como más este está son fue han se su sus pero también entre',
  pt: 'os uma que não com para por são mais foi como dos das ao pelo pela também seu sua está isso',
  it: 'il gli che non per una con sono della del alla più è stato anche come questo nel dei delle loro',
  nl: 'het een van en dat niet met voor zijn op te aan ook worden door wordt deze bij naar maar heeft',
  pl: 'w z nie się jest na do że oraz przez dla jak jego które został może tym być ale czy od są po',
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
for (const [language, words] of Object.entries(functionWords))
  for (const word of words.split(' ')) byWord.set(word, [...(byWord.get(word) ?? []), language]);

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
