import { addressesModel } from './address-cues.ts';
import { decodeViews, splitNames } from './decoded-views.ts';
import { functionWords, phraseWords, proseOnlyWords } from './english.ts';
import type { FieldRole } from './field-roles.ts';
import { foldText } from './fold-text.ts';
import { findForeignCue, isForeignSentence } from './foreign-cues.ts';
import { isImperative, isOrderLike, isQuestion } from './requests.ts';
import { splitSegments, type Segment } from './segments.ts';
import type { PlantedCue } from './cue.ts';
import { findStrongCue, markup } from './strong-cues.ts';

export type { PlantedCue };

const textMax = 4_000;

/**
 * Returns why a text seems addressed to a model, or undefined. It judges by cues of language and by what the field normally
 * contains: a sentence in a user agent is suspicious, one in a comment only if it asks the reader for something.
 */
export function findPlantedCue(value: string, role: FieldRole): PlantedCue | undefined {
  if (value.length < 6 || /^[\s\p{N}.:,+-]*$/u.test(value)) return undefined;
  const text = foldText(value.slice(0, textMax));
  if (/[<#:[]/.test(text) && markup.some((pattern) => pattern.test(text))) return 'markup';
  const found = findInText(text, role === 'script' && !scriptSyntax.test(text) ? 'code' : role);
  if (found !== undefined) return found;
  for (const view of decodeViews(text)) {
    const cue = findInText(foldText(view), 'prose');
    if (cue !== undefined) return cue;
  }
  return findInNames(text);
}

/** Characters that scripts have and sentences lack. */
const scriptSyntax = /[{}$;=|\\]|--|^\s*#/;
const threeWords = /[\p{L}'][^\p{L}\p{N}\\/_]{1,4}\p{L}[\p{L}']*[^\p{L}\p{N}\\/_]{1,4}\p{L}/u;

function findInText(text: string, role: FieldRole): PlantedCue | undefined {
  const foreign = findForeignCue(text, role);
  if (foreign !== undefined || !threeWords.test(text)) return foreign;
  const segments = splitSegments(text);
  const joined = joinWords(segments);
  return (
    findStrongCue(new Set(segments.flatMap(({ words }) => words)), joined) ??
    (segments.some((segment) => isQuestion(segment, role) || isImperative(segment, role)) ? 'request' : undefined) ??
    (segments.some((segment) => isUnexpectedSentence(segment, role)) ? 'sentence' : undefined)
  );
}

/** Finds orders in names that consist of words, such as `ignore_all_rules`. */
function findInNames(text: string): PlantedCue | undefined {
  if (!/\p{L}[\p{L}\p{N}@$!]*(?:[_\-.+*~@]|(?<=\p{Ll})(?=\p{Lu})|\p{N})[\p{L}\p{N}]/u.test(text)) return undefined;
  const segments = splitSegments(splitNames(text));
  const joined = joinWords(segments);
  return (
    findStrongCue(new Set(segments.flatMap(({ words }) => words)), joined) ??
    // Digits that imitate letters would make words of hashes.
    (!/\p{N}/u.test(text) && addressesModel(joined) ? 'role' : undefined)
  );
}

/** Joins words with spaces, and segments with " . " or " ? ". */
function joinWords(segments: readonly Segment[]): string {
  return segments.map(({ words, isQuestion: isMarked }) => `${words.join(' ')} ${isMarked ? '?' : '.'} `).join('');
}

/** Returns whether a field that contains names or commands contains a sentence. */
function isUnexpectedSentence({ words, starts }: Segment, role: FieldRole): boolean {
  if (role === 'prose' || role === 'script' || words.length < 4) return false;
  const plain = words.filter((word) => word.length > 1 || word === 'a' || word === 'i');
  if (plain.length < 4) return false;
  if (role === 'code') return plain.length >= 6 && countOf(plain, proseOnlyWords) >= 2;
  if (starts.some((start) => isOrderLike(words.slice(start)))) return true;
  const isEnglish = countOf(plain, functionWords) >= 2;
  const isPhrase = isEnglish && plain.every((word) => !functionWords.has(word) || phraseWords.has(word));
  return isPhrase ? plain.length >= 8 : isEnglish || isForeignSentence(plain);
}

const countOf = (words: readonly string[], among: ReadonlySet<string>): number =>
  new Set(words.filter((word) => among.has(word))).size;
