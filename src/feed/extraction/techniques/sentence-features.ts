export const featureBits = 18;
const featureMask = (1 << featureBits) - 1;
const wordsMax = 120;

/** Returns the lower-case stemmed words of a sentence. Numbers, IP addresses and registry hives become placeholders. */
export function splitWords(sentence: string): string[] {
  const words: string[] = [];
  for (const match of sentence
    .toLowerCase()
    .matchAll(/%[a-z]{3,20}%|hk(?:lm|cu|ey)\w*|[a-z][a-z0-9]*(?:[.&+_/-][a-z0-9]+){0,4}|\d[\w.]*/g)) {
    if (words.length === wordsMax) break;
    const [word] = match;
    if (/^\d/.test(word)) words.push(/^\d+(?:\.\d+){3}$/.test(word) ? '#ip' : '#');
    else if (/^(?:hk(?:lm|cu|ey)|%)/.test(word)) words.push(word.startsWith('%') ? word : '#hive');
    // A group of CERT-UA, not User Account Control.
    else if (/^uac-\d{4}$/.test(word)) words.push(word);
    else if (/[.&+_/-]/.test(word))
      words.push(
        word,
        ...word
          .split(/[.&+_/-]/)
          .filter((part) => part.length > 2)
          .map(stem),
      );
    else words.push(stem(word));
  }
  return words;
}

/** Removes English verb and plural endings. Training and extraction must use the same rules. */
function stem(word: string): string {
  if (word.length < 5) return word.endsWith('s') && word.length > 3 && !word.endsWith('ss') ? word.slice(0, -1) : word;
  const cut = word
    .replace(/(?:ies|ied)$/, 'y')
    .replace(/(?:sses)$/, 'ss')
    .replace(/(?:ations?|ating|ated|ates|ate)$/, 'at')
    .replace(/(?:ings?|ed|es|s|ly|e)$/, '');
  return cut.length < 3 ? word : cut;
}

const stopWords = new Set(
  'the a an and or of to in on for with by from as at is are was were be been it its this that which these those has have had can may will also not'.split(
    ' ',
  ),
);

/** Returns the distinct hashed features of a sentence: words, adjacent pairs, pairs with one word between. */
export function hashFeatures(words: string[]): number[] {
  const found = new Set<number>();
  const content = words.filter((word) => !stopWords.has(word));
  for (const [index, word] of content.entries()) {
    found.add(hash(word, 0));
    if (index + 1 < content.length) found.add(hash(`${word} ${content[index + 1]!}`, 1));
    if (index + 2 < content.length) found.add(hash(`${word} ${content[index + 2]!}`, 2));
  }
  return [...found];
}

/** FNV-1a. */
function hash(text: string, seed: number): number {
  let value = 0x811c9dc5 ^ seed;
  for (let at = 0; at < text.length; at += 1) {
    value ^= text.charCodeAt(at);
    value = Math.imul(value, 0x01000193);
  }
  value ^= value >>> 15;
  return value & featureMask;
}
