import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { readFrequentWords } from '../../../feed/reference-data/name-forms.ts';

/** A term of a text: the stem of a word, or the first of some synonyms. `text` is what the text says. */
export type Term = { term: string; text: string };

const wordsMax = 2000;
const wordPattern = /[\p{L}\d]+/gu;

/** Returns the words of a text, at most 2,000. Words in camel case are split. */
const splitWords = (text: string): string[] =>
  text
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .match(wordPattern)
    ?.slice(0, wordsMax) ?? [];

/** Returns the terms of a text in order. Synonyms are replaced by the first of their group. */
export function listTerms(text: string): Term[] {
  const words = splitWords(text);
  const stems = words.map(toStem);
  const terms: Term[] = [];
  for (let at = 0; at < stems.length;) {
    const synonym = getSynonyms()
      .get(stems[at]!)
      ?.find((one) => one.stems.every((stem, n) => stems[at + n] === stem));
    const length = synonym?.stems.length ?? 1;
    terms.push({ term: synonym?.term ?? stems[at]!, text: words.slice(at, at + length).join(' ') });
    at += length;
  }
  return terms;
}

/** Returns the pairs of adjacent terms, each as one term, so that `web shell` also matches `webshell`. */
export const listPairs = (terms: readonly Term[]): Term[] =>
  terms.slice(1).map(({ term, text }, n) => ({
    term: `${terms[n]!.term}${term}`.replaceAll(' ', ''),
    text: `${terms[n]!.text} ${text}`,
  }));

/** Returns a word in lower case without its English ending, so that forms of a word match. */
function toStem(word: string): string {
  const lower = word.toLowerCase();
  if (lower.length < 4) return lower;
  const singular = lower.replace(/(?<=[^s])s$/, '').replace(/ie$/, 'y');
  const stem = singular.replace(/(?:ation|ating|ated|ate|ion|ing|ed|er|or|e|y)$/, '');
  // Endings double some consonants: logging, dropped.
  return (stem.length < 3 ? singular : stem).replace(/([^aeiouls])\1$/, '$1');
}

type Synonym = { stems: string[]; term: string };
let synonyms: ReadonlyMap<string, Synonym[]> | undefined;

/** Returns the synonyms of `terms.yaml` by their first stem, longest first. The file is read once per process. */
function getSynonyms(): ReadonlyMap<string, Synonym[]> {
  synonyms ??= Map.groupBy(readSynonyms(), ({ stems }) => stems[0]!);
  return synonyms;
}

function readSynonyms(): Synonym[] {
  const file = readFileSync(resolve(import.meta.dirname, 'terms.yaml'), 'utf8');
  const toStems = (text: string): string[] => splitWords(text).map(toStem);
  return z
    .array(z.array(z.string()).min(2))
    .parse(parse(file))
    .flatMap((group) => group.map((text) => ({ stems: toStems(text), term: toStems(group[0]!).join(' ') })))
    .toSorted((a, b) => b.stems.length - a.stems.length);
}

let everyday: ReadonlySet<string> | undefined;

/** Returns whether a term is one of the 4,000 most frequent English words. The word list is read once per process. */
export function isEveryday(term: string): boolean {
  everyday ??= new Set(readFrequentWords().map(toStem));
  return everyday.has(term);
}
