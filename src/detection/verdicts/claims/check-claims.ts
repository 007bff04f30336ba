import { escapeInvisible, truncateText } from '../../../platform/lib/text/canonical-text.ts';
import { truncateAtWord } from '../../analysis/wording.ts';
import type { CheckedClaim, Claim } from '../verdict.ts';
import type { CaseFile } from './case-file.ts';
import { resolveCitation, saysSomething, type CitedCell } from './citations.ts';
import { findUnstatedValues } from './stated-values.ts';

export const claimsMax = 20;
const citesMax = 10;
const textMax = 500;
const reasonMax = 300;

/** A checked claim with the cells that its citations refer to. */
export type ClaimCheck = { claim: CheckedClaim; cells: CitedCell[] };

/** What a claim may state besides what it cites: which techniques exist. Without ATT&CK data every ID counts. */
export type ClaimKnowledge = { isTechnique?: ((id: string) => boolean) | undefined };

/**
 * Checks each claim: a fact is `cited` if it has citations, all of them resolve, and every value that it states stands in the cited cells or is a fact
 * of the case. Otherwise it is `unproven`, with the reason.
 */
export function checkClaims(claims: readonly Claim[], file: CaseFile, knowledge: ClaimKnowledge = {}): ClaimCheck[] {
  return claims.slice(0, claimsMax).map(({ text, kind, cites }) => {
    const claim = { text: truncateText(escapeInvisible(text.trim()), textMax), kind, cites: cites.slice(0, citesMax) };
    const resolved = claim.cites.map((citation) => resolveCitation(citation, file));
    const cells = resolved.flatMap((one) => ('cell' in one ? [one.cell] : []));
    const problems = resolved.flatMap((one) => ('problem' in one ? [one.problem] : []));
    const missing = findUnstatedValues(claim.text, citedText(cells, file), knowledge.isTechnique);
    if (missing.length > 0) problems.push(`not in what it cites: ${missing.join(', ')}`);
    if (kind === 'assessment')
      return { claim: toChecked(claim, missing.length > 0 ? problems : [], 'assessment'), cells };
    if (claim.cites.length === 0) problems.push('it cites nothing');
    return { claim: toChecked(claim, problems, 'cited'), cells };
  });
}

const headlineMax = 300;
const headlineCellsMax = 20;

/**
 * Checks a headline like a fact that cites what the claims cite that hold: its values must stand there. Without such a claim, nothing proves it. One
 * that repeats a claim is proven with it.
 */
export function checkHeadline(
  headline: string,
  checks: readonly ClaimCheck[],
  file: CaseFile,
  isVerifierOn: boolean,
): ClaimCheck {
  const claim: Claim = { text: truncateAtWord(escapeInvisible(headline.trim()), headlineMax), kind: 'fact', cites: [] };
  const proofs = checks.filter((check) => isProven(check.claim, isVerifierOn));
  const same = proofs.find(({ claim: { text } }) => text === claim.text);
  if (same) return same;
  const cells = proofs.flatMap((proof) => proof.cells).slice(0, headlineCellsMax);
  const missing = findUnstatedValues(claim.text, citedText(cells, file));
  const problem = cells.length === 0 ? 'no claim is proven' : `not in what its claims cite: ${missing.join(', ')}`;
  return { claim: toChecked(claim, cells.length === 0 || missing.length > 0 ? [problem] : [], 'cited'), cells };
}

function toChecked(claim: Claim, problems: readonly string[], status: 'cited' | 'assessment'): CheckedClaim {
  if (problems.length === 0) return { ...claim, status, reason: null };
  return { ...claim, status: 'unproven', reason: truncateText(escapeInvisible(problems.join('; ')), reasonMax) };
}

/** Returns what a claim is compared with: its cells and their rows' times, and the entity and the facts, which code computed. */
function citedText(cells: readonly CitedCell[], { candidate, facts }: CaseFile) {
  const perField = Map.groupBy(cells, ({ field }) => field);
  const distinct = [...perField.values()].map((group) => new Set(group.map(({ value }) => value)).size);
  const rows = new Set(cells.map(({ observation, rowId }) => `${observation} ${rowId}`)).size;
  return {
    texts: [...cells.flatMap(({ text, field }) => [text, field]), candidate.entity, ...listFactTexts(facts)],
    times: cells.flatMap(({ times }) => times),
    counts: [rows, ...distinct],
  };
}

const listFactTexts = (facts: CaseFile['facts']): string[] =>
  Object.values(facts)
    .flat()
    .filter((fact) => fact !== null)
    .map(String);

/** Returns the values of a text that stand nowhere in a case. For a next step, which cites nothing. */
export function findValuesOutside(text: string, file: CaseFile): string[] {
  const rows = [...file.candidate.rows, ...file.observations.flatMap((observation) => observation.rows)];
  const texts = [
    file.candidate.entity,
    ...listFactTexts(file.facts),
    ...rows.flatMap(({ fields }) => Object.values(fields)),
    ...file.notes.flatMap(({ entity, note }) => [entity, note]),
    ...file.entries.flatMap(({ list, entry }) => [list, entry]),
    ...file.items.map(({ indicator }) => indicator),
  ];
  const times = rows.flatMap(({ time }) => (time === null ? [] : [new Date(time)]));
  return findUnstatedValues(text, { texts, times, counts: [rows.length] });
}

/** Returns whether a claim proves something that happened: it holds, and one of its cells stands in the logs and is more than a time or an ID. */
export const provesEvent = ({ claim, cells }: ClaimCheck, isVerifierOn: boolean): boolean =>
  isProven(claim, isVerifierOn) && cells.some((cell) => cell.isEvent && saysSomething(cell));

/** Returns whether a fact holds: it is supported, or cited where no verifier looks at it. */
export const isProven = ({ kind, status }: CheckedClaim, isVerifierOn: boolean): boolean =>
  kind === 'fact' && status === (isVerifierOn ? 'supported' : 'cited');
