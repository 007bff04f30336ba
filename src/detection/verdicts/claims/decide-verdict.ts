import { isSeverityAtLeast, severities, type Severity } from '../../analysis/candidate.ts';
import { findRuleCell } from '../../analysis/severity-rules.ts';
import { truncateAtWord } from '../../analysis/wording.ts';
import { escapeInvisible } from '../../../platform/lib/text/canonical-text.ts';
import { isUnverified, type Conclusion, type Submission, type Verdict, type VerdictEvidence } from '../verdict.ts';
import type { CaseFile } from './case-file.ts';
import { findValuesOutside, isProven, provesEvent, type ClaimCheck } from './check-claims.ts';

export const evidenceMax = 20;
const techniquesMax = 10;
const nextStepsMax = 5;
export const lengths = { summary: 2_000, nextStep: 1_000 };

/** What stands in for what a model says and that cannot stand, from the facts. */
export type FactualVerdict = { headline: string; summary: string; nextStep: string; confidence: number };

/** A submission whose claims are checked. `dismissConfidence` is the detection's. `isVerifierOn`: only supported facts prove something. */
export type CheckedCase = {
  submission: Submission;
  checks: readonly ClaimCheck[];
  /** The headline, checked against what the claims cite that hold. */
  headline: ClaimCheck;
  file: CaseFile;
  isVerifierOn: boolean;
  dismissConfidence: number;
  /** An undecided case is a hit, or waits for a person. Default: a hit. */
  onUndecided?: 'raise' | 'review' | undefined;
  /** Returns whether many others had a value of a field long before the case. */
  isEstablished: (cell: { field: string; value: string }) => boolean;
  isTechnique?: ((id: string) => boolean) | undefined;
  fallback: FactualVerdict;
};

/** `modelDisagrees` is why the facts overruled the judge. Null if they did not. */
export type DecidedVerdict = { verdict: Verdict; modelDisagrees: string | null };

/**
 * Returns the conclusion that the proof of a submission allows. A raise needs a fact from the logs that holds. A dismissal needs one whose citations
 * the person behind the events does not control, and the detection's confidence. Anything else is undecided.
 */
export function concludeFrom(checked: Omit<CheckedCase, 'fallback'>): Conclusion {
  const { submission, checks, isVerifierOn } = checked;
  switch (submission.verdict) {
    case 'raise':
      return checks.some((check) => provesEvent(check, isVerifierOn)) ? 'raise' : 'undecided';
    case 'dismiss':
      return submission.confidence >= checked.dismissConfidence && findExcuses(checked).length > 0
        ? 'dismiss'
        : 'undecided';
    case 'undecided':
      return 'undecided';
  }
}

/** Returns the claims that can prove a case harmless. Of a value that is cited in part, the whole must be established. */
export const findExcuses = ({
  checks,
  isVerifierOn,
  isEstablished,
}: Pick<CheckedCase, 'checks' | 'isVerifierOn' | 'isEstablished'>): ClaimCheck[] =>
  checks.filter(
    ({ claim, cells }) =>
      isProven(claim, isVerifierOn) &&
      cells.length > 0 &&
      cells.every(
        (cell) =>
          cell.proof === 'proves' ||
          (cell.proof === 'if-established' && isEstablished({ field: cell.field, value: cell.text })),
      ),
  );

/**
 * Returns the verdict of a checked submission with a conclusion. No candidate whose facts are of severity high or above is dismissed. An undecided
 * case has the question that is open. It is a hit, unless the detection lets a person review it first.
 */
export function decideVerdict(checked: CheckedCase, conclusion: Conclusion): DecidedVerdict {
  const { submission, checks, file, fallback } = checked;
  const { entity, entityType, severity } = file.candidate;
  const isFloor = isSeverityAtLeast(severity, 'high');
  const texts = checkTexts(checked);
  const standing = checks.filter(({ claim }) => claim.status !== 'unproven');
  const summary = truncateAtWord(standing.map(({ claim }) => claim.text).join(' '), lengths.summary);
  const triggered = conclusion === 'dismiss' ? isFloor : conclusion === 'raise' || checked.onUndecided !== 'review';
  const verdict: Verdict = {
    entity,
    entityType,
    verdict: conclusion,
    triggered,
    // The model's confidence is in its own conclusion.
    confidence: conclusion === submission.verdict ? clampConfidence(submission.confidence) : fallback.confidence,
    severity: chooseSeverity(checked, conclusion),
    headline: texts.headline || fallback.headline,
    summary: summary || fallback.summary,
    claims: [...checks.map(({ claim }) => claim), ...texts.unproven],
    evidence: [...[findRuleCell(file.candidate) ?? []].flat(), ...listEvidence(checks)].slice(0, evidenceMax),
    techniques: listTechniques(checked),
    nextStep: texts.nextStep || fallback.nextStep,
    openQuestion: conclusion === 'undecided' ? describeOpenQuestion(checked) : null,
    ...(submission.output === undefined ? {} : { output: submission.output }),
  };
  return { verdict, modelDisagrees: conclusion === 'dismiss' && isFloor ? verdict.summary : null };
}

const clampConfidence = (confidence: number): number =>
  Number.isFinite(confidence) ? Math.round(Math.min(100, Math.max(0, confidence))) : 0;

/**
 * A headline that is not proven, and a next step with a value that stands nowhere in the case, are left out and shown as unproven claims. What follows
 * from the facts stands in for them.
 */
function checkTexts({ submission, checks, headline: { claim: headline }, isVerifierOn, file, fallback }: CheckedCase) {
  const unproven: Verdict['claims'] = [];
  const leaveOut = (text: string, reason: string): void => {
    unproven.push({ text, kind: 'assessment', cites: [], status: 'unproven', reason });
  };
  const check = (text: string): boolean => {
    const missing = findValuesOutside(text, file);
    if (missing.length > 0) leaveOut(text, `not in the case: ${missing.join(', ')}`.slice(0, 300));
    return missing.length === 0;
  };
  const steps = submission.nextSteps
    .slice(0, nextStepsMax)
    .map((step) => truncateAtWord(escapeInvisible(step.trim()), lengths.nextStep));
  // The author's template may contain numbers and names of its own.
  const isShown = headline.text === fallback.headline || isProven(headline, isVerifierOn);
  const isListed = checks.some(({ claim }) => claim.status === 'unproven' && claim.text === headline.text);
  if (!isShown && !isListed && headline.text !== '') leaveOut(headline.text, headline.reason ?? 'nothing proves it');
  return {
    headline: isShown ? headline.text : '',
    nextStep: truncateAtWord(steps.filter(check).join(' '), lengths.nextStep),
    unproven,
  };
}

/**
 * A severity above that of the facts needs a fact of the investigation and rises by one level at most. One below needs what a dismissal needs, so
 * that nobody talks a finding down.
 */
function chooseSeverity(checked: CheckedCase, conclusion: Conclusion): Severity {
  const { submission, checks, file, isVerifierOn } = checked;
  const facts = severities.indexOf(file.candidate.severity);
  const asked = severities.indexOf(submission.severity);
  if (asked === -1 || conclusion === 'undecided') return file.candidate.severity;
  if (asked > facts) {
    const isFound = checks.some(
      (check) =>
        provesEvent(check, isVerifierOn) &&
        check.cells.some(({ observation, isEvent }) => isEvent && observation !== 'rows'),
    );
    return severities[isFound ? facts + 1 : facts]!;
  }
  const mayLower = !isSeverityAtLeast(file.candidate.severity, 'high') && findExcuses(checked).length > 0;
  return mayLower ? submission.severity : file.candidate.severity;
}

/** Returns the citations of the facts that stand, each cell once. */
export function listEvidence(checks: readonly ClaimCheck[]): VerdictEvidence[] {
  const evidence = new Map<string, VerdictEvidence>();
  for (const { claim, cells } of checks) {
    if (claim.kind !== 'fact' || claim.status === 'unproven') continue;
    for (const { observation, rowId, field, value } of cells) {
      const key = JSON.stringify([observation, rowId, field, value]);
      if (!evidence.has(key)) evidence.set(key, { observation, rowId, field, value, why: claim.text });
    }
  }
  return [...evidence.values()].slice(0, evidenceMax);
}

const listTechniques = ({ submission, isTechnique = () => true }: CheckedCase): string[] =>
  [...new Set(submission.techniques.map((id) => id.trim().toUpperCase()))]
    .filter((id) => /^T\d{4}(?:\.\d{3})?$/.test(id) && isTechnique(id))
    .slice(0, techniquesMax);

/** Returns what has to be found out: the first next step, or what the proof of the submitted verdict lacks. */
function describeOpenQuestion({ submission, checks, dismissConfidence }: CheckedCase): string {
  const unverified = checks.find(({ claim }) => isUnverified(claim));
  if (unverified && submission.verdict !== 'undecided')
    return `The judge would ${submission.verdict} it, but its claims are ${unverified.claim.reason}`;
  switch (submission.verdict) {
    case 'undecided':
      return submission.nextSteps[0]?.slice(0, lengths.nextStep) || 'The judge could not decide.';
    case 'raise':
      return 'The judge raised it, but proved no fact of it.';
    case 'dismiss':
      return submission.confidence < dismissConfidence
        ? `The judge dismissed it with a confidence of ${clampConfidence(submission.confidence)}, below the ${dismissConfidence} of the detection.`
        : 'The judge dismissed it, but cited nothing that proves it harmless and that the person behind it does not control.';
  }
}
