import { cue } from '../lexicon/lexicon.ts';

/** Returns whether a sentence is advice to readers, a possibility or a generality. Such a sentence describes no behavior. */
export const isGeneral = (sentence: string): boolean =>
  cue('advice').test(sentence) ||
  cue('toReaders').test(sentence) ||
  cue('generalAttack').test(sentence) ||
  cue('elsewhere').test(sentence) ||
  // A flaw that is exploited already is more than a possibility.
  (cue('hypotheticalAttack').test(sentence) && !cue('activeExploitation').test(sentence));

/** Returns whether a sentence is about behavior that nobody observed. */
export const isUnobserved = (sentence: string): boolean => cue('unobserved').test(sentence);

/** Like `isGeneral`, and checks for words of defense. Such a sentence states no technique. */
export const isDefensive = (sentence: string): boolean => cue('defense').test(sentence) || isGeneral(sentence);

const refused = String.raw`(?:was|were|has been|have been)(?: not| never|n['’]t) (?:used|involved|needed|required|necessary)\b(?! (?:for|to|as)\b)`;
const negation = String.raw`(?:not|never|neither|without|\w+n['’]t)\b(?! (?:only|just)\b)`;
/** Words before a statement in its clause that deny it. */
const denial = new RegExp(
  String.raw`\b(?:${negation}|nor\b|unlike\b|no (?:[\w-]+ )?(?:evidence|indications?|signs?|traces?|incidents?|cases|reports?|instances?)\b|failed to\b|unable to\b|yet to\b)[^,;:]*$`,
  'i',
);
/** A list before a statement whose items are denied: `did not require a flaw, a phishing page, or …`. */
const deniedList = new RegExp(
  String.raw`\b${negation}(?:(?!\b(?:but|instead|rather|and|then)\b)[^;:.!?])*,(?: n?or)?(?: an?)?$`,
  'i',
);
const alternative = /\bn?or /i;
/** `no` before the words of a statement: `no phishing page`. */
const absence = /\bno (?:[\w-]+ )?$/i;
/** Words after a statement that deny it: `phishing was not used`. */
const refusal = new RegExp(String.raw`^[^.,;:]{0,30}\b${refused}`, 'i');
const denialMaxChars = 80;

/** Returns whether the clause of the words at `index` denies them. */
export function isDenied(sentence: string, { index, length }: { index: number; length: number }): boolean {
  const end = index + length;
  const before = sentence.slice(Math.max(0, index - denialMaxChars), index);
  const after = sentence.slice(end, end + denialMaxChars);
  return (
    denial.test(before + sentence.slice(index, end)) ||
    absence.test(before) ||
    refusal.test(after) ||
    (deniedList.test(before.trimEnd()) && alternative.test(before.slice(-10) + after))
  );
}

const titleMaxChars = 80;

/** The most sentences of a section of advice, for texts that have lost the titles after it. */
export const adviceSentencesMax = 30;

/** Returns whether a line is short and without an end, as titles of sections are. */
export const isTitleLine = (line: string): boolean =>
  line.length <= titleMaxChars &&
  /^(?:#{1,6} ?|\*\*|\d{1,2}(?:\.\d{1,2})*\.? )?["“‘(]?[\p{Lu}\p{Lo}]/u.test(line) &&
  !/[.!?;,…][\p{Pe}\p{Pf}"*]*$/u.test(line);

const topic = /^(?: (?:and|for|against|to|from|of) [^:]*)?:?[*\s]*$/;

/** Returns whether a line is the title of a section that advises its readers. */
export function isAdviceTitle(line: string): boolean {
  const match = cue('adviceTitle').exec(line);
  return cue('adviceQuestion').test(line) || (match !== null && topic.test(line.slice(match.index + match[0].length)));
}
