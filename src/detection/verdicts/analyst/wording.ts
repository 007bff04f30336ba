import type { Candidate } from '../../analysis/candidate.ts';
import { getCategory } from '../../analysis/registry.ts';
import { isAbsent } from '../../analysis/rows/fields.ts';
import {
  describeTimeRange,
  joinQuoted,
  nameSubject,
  parseHeadlineTemplate,
  quoteCharsMax,
  quoteValue,
  quoteValues,
  readList,
  truncateAtWord,
} from '../../analysis/wording.ts';
import type { DetectionTexts } from '../verdict.ts';
import { listActions, listPrincipalValues } from './evidence.ts';

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

const connectors =
  /(?:^|\s)(?:on|by|from|to|in|of|with|for|as|at|via|through|into|onto|using|against|over|under|between|after|before|within|toward|towards|inside|and|or)(?=\s)/giu;
const wrappers: Record<string, string> = {
  '(': ')',
  '[': ']',
  '"': '"',
  "'": "'",
  '“': '”',
  '‘': '’',
  '«': '»',
  '`': '`',
};

/**
 * Fills an author's headline template with the values of a candidate. A placeholder without a value is left out with the words that
 * lead to it ("by {{user}}"). Returns undefined if no sentence is left without it.
 */
function renderHeadline(text: string, candidate: Candidate): string | undefined {
  const template = parseHeadlineTemplate(text);
  if ('problem' in template) return undefined;
  let rendered = '';
  let literal = template.literals[0]!;
  for (const [index, field] of template.fields.entries()) {
    const next = template.literals[index + 1]!;
    const value = describeValues(listFieldValues(candidate, field));
    if (value !== undefined) {
      rendered += literal + value;
      literal = next;
      continue;
    }
    const rest = leaveOut(literal, next);
    if (rest === undefined) return undefined;
    literal = rest;
  }
  const headline = `${rendered}${literal}`.replaceAll(/\s+/g, ' ').trim();
  if (!/\p{L}{2}/u.test(headline)) return undefined;
  return headline.charAt(0) === template.literals[0]!.trim().charAt(0)
    ? headline.charAt(0).toUpperCase() + headline.slice(1)
    : headline;
}

/** Joins two literals without the placeholder between them and the words that lead to it. */
function leaveOut(before: string, after: string): string | undefined {
  const close = wrappers[before.slice(-1)];
  if (close !== undefined && after.startsWith(close)) {
    const isParenthesis = close === ')' || close === ']';
    if (isParenthesis) return `${before.slice(0, -1).trimEnd()}${after.slice(1)}`;
    return leaveOut(before.slice(0, -1), after.slice(1));
  }
  if (/^\s*(?:,|and\b|or\b)/i.test(after)) return undefined;
  const connector = [...before.matchAll(connectors)].at(-1);
  const comma = before.match(/,\s*$/);
  const cut = connector?.index ?? comma?.index;
  return cut === undefined ? undefined : `${before.slice(0, cut).replace(/[\s,]+$/, '')}${after}`;
}

/** Returns the distinct values of a field in the order of the rows, else the entity, else a fact of that name. */
function listFieldValues({ entity, facts, rows }: Candidate, field: string): string[] {
  const name = field.toLowerCase();
  const values = rows.flatMap(({ fields }) =>
    Object.entries(fields).flatMap(([key, value]) => (key.toLowerCase() === name ? [value.trim()] : [])),
  );
  const logged = [...new Set(values)].filter((value) => !isAbsent(value) && value !== '[redacted]');
  if (logged.length > 0) return logged;
  if (name === 'entity' && entity !== '*' && entity !== '') return [entity];
  const fact = Object.entries(facts).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof fact === 'number' || (typeof fact === 'string' && fact !== '') ? [String(fact)] : [];
}

function describeValues(values: string[]): string | undefined {
  const first = values
    .map(shortenArn)
    .map((value) => quoteValue(value, quoteCharsMax.headline))
    .find((value) => value !== '');
  if (first === undefined || values.length === 1) return first;
  return `${first} and ${values.length - 1} other${values.length === 2 ? '' : 's'}`;
}

/** Returns the resource of an Amazon Resource Name: `user/ada` of `arn:aws:iam::111122223333:user/ada`. */
function shortenArn(value: string): string {
  return /^arn:[a-z-]+:[a-z0-9-]+:[a-z0-9-]*:\d*:([^\s:]+)$/.exec(value)?.[1] ?? value;
}
