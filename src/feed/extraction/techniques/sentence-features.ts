import { hash, hashStart, toFeature } from '../classifier/linear-model.ts';

const wordsMax = 120;

const wordPattern = /%[a-z]{3,20}%|hk(?:lm|cu|ey)\w*|[a-z][a-z0-9]*(?:[.&+_/-][a-z0-9]+){0,4}|\d[\w.]*/g;
const joint = /[.&+_/-]/;

/** Returns the lower-case stemmed words of a sentence. Numbers, IP addresses and registry hives become placeholders. */
export function splitWords(sentence: string): string[] {
  const words: string[] = [];
  for (const word of sentence.toLowerCase().match(wordPattern) ?? []) {
    if (words.length === wordsMax) break;
    const first = word[0]!;
    if (first >= '0' && first <= '9') words.push(/^\d+(?:\.\d+){3}$/.test(word) ? '#ip' : '#');
    else if (first === '%') words.push(word);
    else if (/^hk(?:lm|cu|ey)/.test(word)) words.push('#hive');
    // A group of CERT-UA, not User Account Control.
    else if (/^uac-\d{4}$/.test(word)) words.push(word);
    else if (joint.test(word)) {
      words.push(word);
      for (const part of word.split(joint)) if (part.length > 2) words.push(stem(part));
    } else words.push(stem(word));
  }
  return words;
}

/** English verb and plural endings by their last letter, each with what replaces it. The first that fits counts. */
const endings = new Map<string, [ending: string, rest: string][]>([
  [
    'd',
    [
      ['lied', ''],
      ['ied', 'y'],
      ['ated', 'at'],
      ['ed', ''],
    ],
  ],
  [
    'e',
    [
      ['ate', 'at'],
      ['e', ''],
    ],
  ],
  [
    'g',
    [
      ['ating', 'at'],
      ['ing', ''],
    ],
  ],
  ['n', [['ation', 'at']]],
  [
    's',
    [
      ['lies', ''],
      ['ies', 'y'],
      ['sses', 's'],
      ['ations', 'at'],
      ['ates', 'at'],
      ['ings', ''],
      ['es', ''],
      ['s', ''],
    ],
  ],
  ['y', [['ly', '']]],
]);

/** Removes English verb and plural endings. Training and extraction must use the same rules. */
function stem(word: string): string {
  if (word.length < 5) return word.endsWith('s') && word.length > 3 && !word.endsWith('ss') ? word.slice(0, -1) : word;
  const [ending, rest] = endings.get(word.at(-1)!)?.find(([end]) => word.endsWith(end)) ?? [];
  if (ending === undefined) return word;
  const cut = word.slice(0, -ending.length) + rest!;
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
    found.add(toFeature(hash(word)));
    for (let distance = 1; distance <= 2 && index + distance < content.length; distance += 1)
      found.add(toFeature(hash(content[index + distance]!, hash(' ', hash(word, hashStart ^ distance)))));
  }
  return [...found];
}
