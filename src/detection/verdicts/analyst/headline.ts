import type { Candidate } from '../../analysis/candidate.ts';
import type { DetectionTexts } from '../detection-texts.ts';
import { listActions, listPrincipalValues } from './evidence.ts';
import { describeMeasure, describeSteps, readList, readNumber } from './fact-values.ts';
import { quoteCharsMax, quoteValues, truncateAtWord } from './quote-value.ts';
import { renderHeadline } from './render-headline.ts';
import { nameSubject } from './subject.ts';

const headlineMax = 300;

/** Writes the headline of a hit: the author's template if its fields have values, else what happened, from the category and the rows. */
export function writeHeadline(candidate: Candidate, detection: DetectionTexts): string {
  const { name, headline: template } = detection;
  const rendered = typeof template === 'string' ? renderHeadline(template, candidate) : undefined;
  if (rendered !== undefined) return truncateAtWord(rendered, headlineMax);
  const title = truncateAtWord(name.replaceAll(/\s+/g, ' ').trim(), 140);
  const happened = describe[candidate.kind](candidate, nameSubject(candidate).plain);
  const headline = title === '' ? happened : `${title}: ${happened}`;
  return truncateAtWord(headline.charAt(0).toUpperCase() + headline.slice(1), headlineMax);
}

/** Completes "<name of the detection>: ". */
const describe: Record<Candidate['kind'], (candidate: Candidate, subject: string) => string> = {
  custom: (candidate, subject) => `${subject}${describeAction(candidate)}`,
  privilege_escalation: (candidate, subject) => `${subject} gained or granted privileges${describeAction(candidate)}`,
  sequence_pattern: (candidate, subject) => {
    const actions = quoteValues(listActions(candidate), quoteCharsMax.action).join(', ');
    return `${subject} completed ${describeSteps(candidate.facts)} in order${actions === '' ? '' : ` (${actions})`}`;
  },
  first_occurrence: ({ facts }, subject) => {
    const [first] = quoteValues(readList(facts, 'newValues').slice(0, 1), quoteCharsMax.headline);
    const others = Number(facts['newCombinations']) - 1;
    const more = others > 0 ? ` and ${others} other${others === 1 ? '' : 's'}` : '';
    return first === undefined
      ? `${subject}, with values never seen before`
      : `${subject}, for the first time with ${first}${more}`;
  },
  baseline_anomaly: ({ facts }, subject) =>
    `${subject} had ${describeMeasure(facts)}, usually ${readNumber(facts, 'median')}`,
};

/** Returns the main action of the rows with its target and origin, in parentheses: ` (AttachUserPolicy on Admin from 192.0.2.9)`. */
function describeAction(candidate: Candidate): string {
  const { action, target, origin } = listPrincipalValues(candidate);
  const quote = (value: string | undefined): string | undefined =>
    value === undefined ? undefined : quoteValues([value], quoteCharsMax.action)[0];
  const [what, on, from] = [quote(action), quote(target), quote(origin)];
  const parts = [what, on && (what ? `on ${on}` : on), from && `from ${from}`].filter(Boolean);
  return parts.length === 0 ? '' : ` (${parts.join(' ')})`;
}
