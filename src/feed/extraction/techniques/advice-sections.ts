import { cue } from '../lexicon/lexicon.ts';

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
