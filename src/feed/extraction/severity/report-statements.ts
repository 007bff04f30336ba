import type { Sentence } from '../text/sentence-spans.ts';
import type { Span } from '../text/stored-text.ts';
import { translateCues } from '../languages/translate-cues.ts';
import {
  advice,
  adviceAudience,
  attackerCues,
  circumstances,
  generality,
  hypothesis,
  malwareCues,
  negation,
} from './severity-cues.ts';

/** A sentence of a report, with its cues in English. The first one is the title, which has no span if the text does not repeat it. */
export type Statement = {
  /** The sentence without denials, remarks on events in general, circumstances and the addressees of advice. */
  text: string;
  /** The whole sentence. */
  full: string;
  /** Whether the terms of the sentence were translated into English. */
  isTranslated: boolean;
  span: Span | undefined;
  isTitle: boolean;
  /** Whether the sentence says what named malware or a named actor did. */
  hasActingName?: boolean;
  /** Whether the sentence says that named malware or a named actor exploits a vulnerability. */
  hasExploitingName?: boolean;
  /** Whether the sentence states an event: not a denial, a question, advice, or a remark on attacks in general. */
  isAsserted: boolean;
  /** Whether the sentence places its event more than two years before the publication. */
  isOld: boolean;
};

type ReportInput = {
  title: string;
  text: string;
  sentences: Sentence[];
  publishTime?: string | undefined;
  language?: string | undefined;
};

const leadMaxChars = 3_500;
const leadMaxSentences = 35;
const bodyMaxSentences = 400;
const hypothesisReach = 50;

/** Returns the title and the sentences of the lead, and the sentences after it. */
export function readStatements({ title, text, sentences, publishTime, language }: ReportInput): {
  lead: Statement[];
  body: Statement[];
} {
  const year = publicationYear(text, publishTime);
  const translate = (sentence: string): Pick<Statement, 'text' | 'isTranslated'> => {
    const translated = translateCues(sentence, language);
    return { text: translated, isTranslated: translated !== sentence };
  };
  const statements = sentences.slice(0, bodyMaxSentences).map((span) => {
    const { text: sentence } = span;
    return toStatement({ ...translate(sentence), span, isTitle: sentence === title, year });
  });
  if (!statements[0]?.isTitle)
    statements.unshift(toStatement({ ...translate(title), span: undefined, isTitle: true, year }));
  const marked = markRetrospect(statements, year);
  const end = marked.findIndex(
    ({ span }, index) => index > leadMaxSentences || (span !== undefined && span.start > leadMaxChars),
  );
  return end < 0 ? { lead: marked, body: [] } : { lead: marked.slice(0, end), body: marked.slice(end) };
}

function toStatement({
  year,
  ...statement
}: Pick<Statement, 'text' | 'span' | 'isTitle' | 'isTranslated'> & { year: number }): Statement {
  const { text: full } = statement;
  const clauses = full.split(clauseBoundary);
  const asserted = clauses.filter((clause) => !negation.test(clause) && !generality.test(clause));
  const stated = asserted.length === 0 || asserted.length === clauses.length ? full : asserted.join(', ');
  const text = stated.replaceAll(adviceAudience, ' ').replaceAll(circumstances, ' ');
  return {
    ...statement,
    text,
    full,
    isAsserted: asserted.length > 0 && !advice.test(full) && !/\?["”’)]?$/.test(full),
    isOld: isOldEvent(full, year),
  };
}

/** The boundary between clauses. A denial or a general remark in one clause does not affect the others. */
const clauseBoundary = /;\s|,? (?:but|although|though|however|whereas)\b,?|, (?:while|yet)\b/;

const modalReach = 10;
const modalAfter = /^ (?:can|could|may|might|would)\b/i;

/** Finds a cue in a sentence, unless the words before it, or a modal right after it, make it a mere possibility. */
export function statesCue({ text }: Statement, cue: RegExp): boolean {
  const match = cue.exec(text);
  if (!match) return false;
  const before = text.slice(Math.max(0, match.index - hypothesisReach), match.index);
  const after = text.slice(match.index + match[0].length, match.index + match[0].length + modalReach);
  return !hypothesis.test(before) && !hypothesis.test(match[0]) && !modalAfter.test(after);
}

/** The year of the publication or, if it is unknown, the last year that the text mentions. */
function publicationYear(text: string, publishTime: string | undefined): number {
  const known = publishTime && /^\d{4}/.exec(publishTime)?.[0];
  if (known) return Number(known);
  return Math.max(0, ...listYears(text.slice(0, 100_000)));
}

const listYears = (text: string): number[] =>
  [...text.matchAll(/(?<![\d-])(?:19[89]|20[0-4])\d(?![\d-]*\d{4})\b/g)].map((match) => Number(match[0]));

const yearsAgo = /\b(?:three|four|five|six|seven|eight|nine|ten|fifteen|twenty|[3-9]|[12]\d) years (?:ago|on)\b/i;
const anniversary = /\banniversar(?:y|ies)\b/i;
const retrospectiveTitle = /\b(?:\p{L}+|\d{1,2}) years (?:later|on|after|ago)\b|\blook(?:ing|s)? back\b/iu;
const present = /\b(?:still|today|now|this (?:week|month|year))\b/i;
const recentYears = 1;
const openingStatements = 3;

/**
 * Marks the statements of a text that looks back at an event as old, except those that mention a recent year or the present. A text looks back
 * if it says so, or if it opens with an old attack and no sentence mentions a recent year.
 */
function markRetrospect(statements: Statement[], year: number): Statement[] {
  const isRecent = ({ text }: Statement): boolean => listYears(text).some((other) => other >= year - recentYears);
  const opening = statements.slice(0, openingStatements);
  const isRetrospect =
    opening.some(({ text, isTitle }) => anniversary.test(text) || (isTitle && retrospectiveTitle.test(text))) ||
    (opening.some(({ isOld, text }) => isOld && (attackerCues.test(text) || malwareCues.test(text))) &&
      !statements.some(isRecent));
  if (!isRetrospect) return statements;
  return statements.map((one) => (isRecent(one) || present.test(one.text) ? one : { ...one, isOld: true }));
}

/** Returns whether the last year in a sentence is more than two years before the publication. `since 2019` is not an end. */
function isOldEvent(text: string, year: number): boolean {
  const years = listYears(text.replaceAll(/\bCVE-\d{4}-\d+/gi, ' '));
  const isLongAgo = years.length > 0 ? Math.max(...years) < year - 2 : yearsAgo.test(text);
  if (!isLongAgo) return false;
  return !/\b(?:starting (?:in|from)|beginning in|began|(?:since|from|as early as|dating back to|dates? back to)(?: \w+){0,2} (?:19|20)\d\d|until|still|continues?|ongoing|active|(?:has|have) been \w+ing|first (?:seen|observed|discovered|appeared|identified|reported|detected|emerged|surfaced|spotted))\b/i.test(
    text,
  );
}
