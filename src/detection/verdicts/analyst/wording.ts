import type { Candidate } from '../../analysis/candidate.ts';
import { getCategory } from '../../analysis/registry.ts';
import {
  describeTimeRange,
  joinQuoted,
  nameSubject,
  quoteCharsMax,
  quoteValues,
  readList,
  truncateAtWord,
} from '../../analysis/wording.ts';
import type { DetectionTexts } from '../detection-texts.ts';
import { listActions, listPrincipalValues } from './evidence.ts';
import { renderHeadline } from './render-headline.ts';

/** The texts of a verdict, its summary in sentences. They contain only facts, values from the rows, and the name and the headline of the detection. */
export type VerdictWording = { headline: string; sentences: string[]; nextStep: string };

/** Writes the texts of the built-in analyst's verdict, in the words of the candidate's category. */
export function describeCandidate(candidate: Candidate, detection: DetectionTexts): VerdictWording {
  const { facts, kind } = candidate;
  const {
    finding,
    details = [],
    nextStep,
  } = getCategory(kind).describeFinding({
    facts,
    subject: nameSubject(candidate),
  });
  const actions = joinQuoted(quoteValues(listActions(candidate), quoteCharsMax.action));
  const techniques = readList(facts, 'techniques');
  const sentences = [
    `${finding}${actions === '' ? '' : `: ${actions}`}.`,
    ...details,
    techniques.length === 0 ? '' : `The detection maps this to ${techniques.join(', ')}.`,
    `The window was ${describeTimeRange(facts, 'windowFrom', 'windowTo')}.`,
  ];
  return {
    headline: writeHeadline(candidate, detection),
    sentences: sentences.filter((part) => part !== ''),
    nextStep,
  };
}

const headlineMax = 300;

/** Writes the headline of a hit: the author's template if its fields have values, else what happened, from the category and the rows. */
function writeHeadline(candidate: Candidate, detection: DetectionTexts): string {
  const { name, headline: template } = detection;
  const rendered = typeof template === 'string' ? renderHeadline(template, candidate) : undefined;
  if (rendered !== undefined) return truncateAtWord(rendered, headlineMax);
  const title = truncateAtWord(name.replaceAll(/\s+/g, ' ').trim(), 140);
  const happened = getCategory(candidate.kind).describeHeadline({
    facts: candidate.facts,
    subject: nameSubject(candidate),
    listActions: () => listActions(candidate),
    describeAction: () => describeAction(candidate),
  });
  const headline = title === '' ? happened : `${title}: ${happened}`;
  return truncateAtWord(headline.charAt(0).toUpperCase() + headline.slice(1), headlineMax);
}

/** Returns the main action of the rows with its target and origin, in parentheses: ` (AttachUserPolicy on Admin from 192.0.2.9)`. */
function describeAction(candidate: Candidate): string {
  const { action, target, origin } = listPrincipalValues(candidate);
  const quote = (value: string | undefined): string | undefined =>
    value === undefined ? undefined : quoteValues([value], quoteCharsMax.action)[0];
  const [what, on, from] = [quote(action), quote(target), quote(origin)];
  const parts = [what, on && (what ? `on ${on}` : on), from && `from ${from}`].filter(Boolean);
  return parts.length === 0 ? '' : ` (${parts.join(' ')})`;
}
