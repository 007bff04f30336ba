/** Splits a text into sentences and removes list markers, whose numbers are not claims. */
export function splitSentences(text: string): string[] {
  return text
    .split(/\r?\n+/)
    .map((line) => line.replace(/^\s*(?:\d{1,2}[.)]|[-*•])\s+/, ''))
    .flatMap((line) => line.split(/(?<=[.!?]["'»)]?)\s+(?=["'«(`]?[\p{Lu}\d])/u))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

const runMin = 5;
const wholeMin = 4;
const wordsMax = 6_000;

/** Detects sentences that repeat a prompt. */
export type PromptRepeats = { repeats: (sentence: string) => boolean };

/**
 * Creates a check against the texts that only the model should see. A sentence repeats them if it shares five words in a row with them,
 * if most of its groups of three words are theirs, or if it is a part of them of at least four words.
 */
export function createPromptRepeats(texts: readonly string[]): PromptRepeats {
  const words = texts.flatMap((text) => [...listWords(text), '|']).slice(0, wordsMax);
  const runs = listGroups(words, runMin);
  const threes = listGroups(words, 3);
  const all = ` ${words.join(' ')} `;
  const isRepeat = (text: string): boolean => {
    const own = listWords(text);
    if (own.length < wholeMin) return false;
    if (all.includes(` ${own.join(' ')} `)) return true;
    if (intersects(listGroups(own, runMin), runs)) return true;
    const groups = [...listGroups(own, 3)];
    return own.length >= 7 && groups.filter((group) => threes.has(group)).length > groups.length / 2;
  };
  return {
    repeats: (sentence) => words.length > 1 && isRepeat(sentence),
  };
}

const listWords = (text: string): string[] =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];

/** Returns every group of words in a row, except across the end of a text. */
function listGroups(words: readonly string[], size: number): Set<string> {
  const groups = new Set<string>();
  for (let start = 0; start + size <= words.length; start++) {
    const group = words.slice(start, start + size);
    if (!group.includes('|')) groups.add(group.join(' '));
  }
  return groups;
}

function intersects(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  for (const item of a) if (b.has(item)) return true;
  return false;
}
