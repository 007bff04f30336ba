import type { Sentence } from '../text/sentence-spans.ts';
import type { Span } from '../text/stored-text.ts';
import { translateCues } from '../lexicon/languages.ts';
import { cue, type CueId } from '../lexicon/lexicon.ts';

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
  const asserted = clauses.filter((clause) => !cue('negation').test(clause) && !cue('generality').test(clause));
  const stated = asserted.length === 0 || asserted.length === clauses.length ? full : asserted.join(', ');
  const text = withoutAsides(stated);
  return {
    ...statement,
    text,
    full,
    isAsserted: asserted.length > 0 && !cue('advice').test(full) && !/\?["”’)]?$/.test(full),
    isOld: isOldEvent(full, year),
  };
}

/** The boundary between clauses. A denial or a general remark in one clause does not affect the others. */
const clauseBoundary = /;\s|,? (?:but|although|though|however|whereas)\b,?|, (?:while|yet)\b/;

const modalReach = 10;
const modalAfter = /^ (?:can|could|may|might|would)\b/i;

const obliged =
  / (?:should|must|need to|ought to|(?:are|is) (?:\p{Ll}+ly )?(?:urged|advised|encouraged|recommended|asked))\b/u;
const urged = /\b(?:urg|advis|call|encourag|recommend|order|instruct|direct)(?:e?s|ed|ing|e)? (?:(?:for|on) )?/;

/** Removes those to whom a clause addresses advice, who are no victims: `urged agencies to patch`, `companies should check`. */
function withoutAudience(clause: string): string {
  const subjectEnd = clause.search(obliged);
  if (subjectEnd > 0 && cue('audience').test(clause.slice(0, subjectEnd))) return clause.slice(subjectEnd);
  const verb = urged.exec(clause);
  const start = verb ? verb.index + verb[0].length : -1;
  const end = verb ? clause.indexOf(' to ', start) : -1;
  return end > 0 && cue('audience').test(clause.slice(start, end))
    ? clause.slice(0, start) + clause.slice(end)
    : clause;
}

/** Removes those to whom advice is addressed, and circumstances that are no event: `amid a surge in ransomware attacks`. */
function withoutAsides(text: string): string {
  const own = obliged.test(text) || urged.test(text) ? text.replaceAll(/[^,.;:!?\n]+/g, withoutAudience) : text;
  const circumstance = cue('circumstances').exec(own);
  if (!circumstance) return own;
  const { index } = circumstance;
  return own.slice(0, index) + own.slice(index).replace(/^[^,.;!?\n]*/, ' ');
}

const cueTriesMax = 4;

/** Finds a cue in a sentence, unless the words before it, or a modal right after it, make it a mere possibility. */
export function statesCue({ text }: Statement, id: CueId): boolean {
  let start = 0;
  for (let tries = 0; tries < cueTriesMax; tries += 1) {
    const match = cue(id).exec(start === 0 ? text : text.slice(start));
    if (!match) return false;
    const at = start + match.index;
    const end = at + match[0].length;
    const before = text.slice(Math.max(0, at - hypothesisReach), at);
    const isPossible = cue('hypothesis').test(before) || cue('hypothesis').test(match[0]);
    if (!isPossible && !modalAfter.test(text.slice(end, end + modalReach))) return true;
    start = end;
  }
  return false;
}

/** The year of the publication or, if it is unknown, the last year that the text mentions. */
function publicationYear(text: string, publishTime: string | undefined): number {
  const known = publishTime && /^\d{4}/.exec(publishTime)?.[0];
  if (known) return Number(known);
  return Math.max(0, ...listYears(text.slice(0, 100_000)));
}

const listYears = (text: string): number[] =>
  [...text.matchAll(/(?<![\d-])(?:19[89]|20[0-4])\d(?![\d-]*\d{4})\b/g)].map((match) => Number(match[0]));

const anniversary = /\banniversar(?:y|ies)\b/i;
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
    opening.some(({ text, isTitle }) => anniversary.test(text) || (isTitle && cue('retrospectiveTitle').test(text))) ||
    (opening.some(({ isOld, text }) => isOld && (cue('attacker').test(text) || cue('malware').test(text))) &&
      !statements.some(isRecent));
  if (!isRetrospect) return statements;
  return statements.map((one) => (isRecent(one) || cue('present').test(one.text) ? one : { ...one, isOld: true }));
}

/** Returns whether the last year in a sentence is more than two years before the publication. `since 2019` is not an end. */
function isOldEvent(text: string, year: number): boolean {
  const years = listYears(text.replaceAll(/\bCVE-\d{4}-\d+/gi, ' '));
  const isLongAgo = years.length > 0 ? Math.max(...years) < year - 2 : cue('yearsAgo').test(text);
  return isLongAgo && !cue('continuing').test(text);
}
