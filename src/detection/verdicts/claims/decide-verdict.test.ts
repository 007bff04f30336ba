import { describe, expect, test } from 'vitest';
import { caseOf, good, high, medium, observationOf } from '../../../../test/support/detection/verdict-examples.ts';
import type { Candidate, Severity } from '../../analysis/candidate.ts';
import type { Citation, Claim, ClaimStatus, Submission } from '../verdict.ts';
import type { CaseFile } from './case-file.ts';
import { checkClaims, checkHeadline, type ClaimCheck } from './check-claims.ts';
import { concludeFrom, decideVerdict, type CheckedCase } from './decide-verdict.ts';

const fallback = {
  headline: 'Fallback headline',
  summary: 'Fallback summary.',
  nextStep: 'Fallback step.',
  confidence: 60,
};
const observed = observationOf('o1', { user: 'mallory', eventName: 'AttachUserPolicy' });
const known: Partial<CaseFile> = {
  observations: [
    observed,
    { ...observationOf('o2', { owner: 'platform team' }), query: null, source: 'outside', isTrusted: true },
  ],
  notes: [{ id: 'n1', entity: 'alice', note: 'On call this week.' }],
  documents: [{ name: 'runbook', content: 'Access keys are rotated on the first of each month.' }],
  items: [{ id: 'i1', indicator: '192.0.2.7', title: 'A partner of ours' }],
};
const row: Citation = { observation: 'rows', rowId: 'e1', field: 'eventName', value: 'AttachUserPolicy' };
const ofRow = (field: string, value: string): Citation => ({ observation: 'rows', rowId: 'e1', field, value });
const found: Citation = { observation: 'o1', rowId: 'r1', field: 'eventName', value: 'AttachUserPolicy' };
const trusted: Citation = { observation: 'o2', rowId: 'r1', field: 'owner', value: 'platform team' };
const note: Citation = { note: 'n1' };
const says = (...cites: Citation[]): Claim => ({ text: 'So it is.', kind: 'fact', cites });
const dismissal = (claims: Claim[], more: Partial<Submission> = {}): Submission => ({
  ...good,
  verdict: 'dismiss',
  confidence: 90,
  severity: 'none',
  claims,
  ...more,
});

type Options = { candidate?: Candidate; isVerifierOn?: boolean; status?: ClaimStatus; established?: string[] };

/** Checks a submission. With a verifier, every cited fact gets `status`. */
function checked(
  submission: Submission,
  { candidate = medium, isVerifierOn = false, status = 'supported', established = [] }: Options = {},
): CheckedCase {
  const file = caseOf(candidate, known);
  const verify = ({ claim, cells }: ClaimCheck): ClaimCheck => ({
    claim: isVerifierOn && claim.status === 'cited' ? { ...claim, status } : claim,
    cells,
  });
  const checks = checkClaims(submission.claims, file).map(verify);
  const headline = verify(checkHeadline(submission.headline, checks, file, isVerifierOn));
  const isEstablished = ({ value }: { value: string }): boolean => established.includes(value);
  return { submission, checks, headline, file, isVerifierOn, dismissConfidence: 70, isEstablished, fallback };
}

const decide = (submission: Submission, options: Options = {}) => {
  const one = checked(submission, options);
  return decideVerdict(one, concludeFrom(one));
};

describe('a raise', () => {
  test.each<[string, Claim[], string]>([
    ['a fact from the rows', [says(row)], 'raise'],
    ['a fact from an observation', [says(found)], 'raise'],
    ['no claim', [], 'undecided'],
    ['an assessment', [{ text: 'It looks bad.', kind: 'assessment', cites: [] }], 'undecided'],
    ['a fact without citations', [says()], 'undecided'],
    ['a fact from a note alone', [says(note)], 'undecided'],
    ['a fact from a feed item alone', [says({ item: 'i1', quote: 'A partner of ours' })], 'undecided'],
    ['a fact of the case alone', [says({ fact: 'rows' })], 'undecided'],
    ['the time of a row alone', [says(ofRow('time', medium.rows[0]!.time!))], 'undecided'],
    ['the ID of a row alone', [says(ofRow('eventID', 'id-1'))], 'undecided'],
    ['the result of a tool that reads no logs', [says(trusted)], 'undecided'],
  ])('with %s is %s', (_name, claims, conclusion) => {
    expect(decide({ ...good, claims }).verdict.verdict).toBe(conclusion);
  });

  test('needs a supported fact where a verifier looks', () => {
    const raise = { ...good, claims: [says(row)] };
    expect(decide(raise, { isVerifierOn: true }).verdict.verdict).toBe('raise');
    expect(decide(raise, { isVerifierOn: true, status: 'unproven' }).verdict.verdict).toBe('undecided');
    expect(decide(raise, { isVerifierOn: true, status: 'cited' }).verdict.verdict).toBe('undecided');
  });

  test('without proof is a hit of the facts’ severity with an open question, and shows its claims', () => {
    const { verdict, modelDisagrees } = decide({ ...good, headline: '', severity: 'high', claims: [says()] });
    expect(verdict).toMatchObject({
      verdict: 'undecided',
      triggered: true,
      severity: medium.severity,
      openQuestion: expect.stringContaining('proved no fact'),
      summary: fallback.summary,
      evidence: [],
      claims: [{ status: 'unproven', reason: 'it cites nothing' }],
    });
    expect(modelDisagrees).toBeNull();
  });
});

describe('a dismissal', () => {
  test.each<[string, Claim[], string]>([
    ['a note', [says(note)], 'dismiss'],
    ['a document', [says({ document: 'runbook', quote: 'rotated on the first' })], 'dismiss'],
    ['the result of a trusted tool', [says(trusted)], 'dismiss'],
    ['an established value', [says(ofRow('host', 'web-01'))], 'dismiss'],
    ['an established value of an observation', [says(found)], 'dismiss'],
    ['no claim', [], 'undecided'],
    ['an assessment', [{ text: 'It is a backup.', kind: 'assessment', cites: [] }], 'undecided'],
    ['a fact without citations', [says()], 'undecided'],
    ['a value that only the entity has', [says(ofRow('note', 'opened by the night shift for one hour'))], 'undecided'],
    ['a feed item', [says({ item: 'i1', quote: 'A partner of ours' })], 'undecided'],
    ['a note beside a value of the entity', [says(note, ofRow('ip', '192.0.2.7'))], 'undecided'],
    ['a note beside another claim', [says(note), says(ofRow('ip', '192.0.2.7'))], 'dismiss'],
    ['a count of an observation', [says({ observation: 'o1', column: 'user', value: 'mallory' })], 'undecided'],
  ])('with %s is %s', (_name, claims, conclusion) => {
    const { verdict } = decide(dismissal(claims), { established: ['web-01', 'AttachUserPolicy'] });
    expect(verdict).toMatchObject({ verdict: conclusion, triggered: conclusion !== 'dismiss' });
    expect(verdict.openQuestion === null).toBe(conclusion === 'dismiss');
  });

  test('does not count the established part of a value that is longer', () => {
    const part = 'opened by the night shift';
    expect(decide(dismissal([says(ofRow('note', part))]), { established: [part] }).verdict.verdict).toBe('undecided');
  });

  test('needs the confidence of the detection', () => {
    expect(decide(dismissal([says(note)], { confidence: 70 })).verdict.verdict).toBe('dismiss');
    expect(decide(dismissal([says(note)], { confidence: 69 })).verdict).toMatchObject({
      verdict: 'undecided',
      openQuestion: expect.stringContaining('confidence of 69, below the 70'),
    });
    expect(decide(dismissal([says(note)], { confidence: Number.NaN })).verdict.verdict).toBe('undecided');
  });

  test('needs a supported fact where a verifier looks', () => {
    expect(decide(dismissal([says(note)]), { isVerifierOn: true }).verdict.verdict).toBe('dismiss');
    expect(decide(dismissal([says(note)]), { isVerifierOn: true, status: 'unproven' }).verdict.verdict).toBe(
      'undecided',
    );
  });

  test('never dismisses facts of severity high', () => {
    const { verdict, modelDisagrees } = decide(dismissal([says(note)]), { candidate: high });
    expect(verdict).toMatchObject({ verdict: 'dismiss', triggered: true, severity: 'high' });
    expect(modelDisagrees).toBe('So it is.');
  });
});

test('an undecided case is a hit with the first next step as its open question', () => {
  const { verdict } = decide({ ...good, verdict: 'undecided', severity: 'critical' });
  expect(verdict).toMatchObject({
    verdict: 'undecided',
    triggered: true,
    severity: medium.severity,
    openQuestion: good.nextSteps[0],
  });
  expect(decide({ ...good, verdict: 'undecided', nextSteps: [] }).verdict.openQuestion).not.toBe('');
});

describe('severity', () => {
  test.each<[Severity, Claim[], Severity]>([
    ['high', [says(row)], 'medium'],
    ['high', [says(row), says(found)], 'high'],
    ['critical', [says(row), says(found)], 'high'],
    ['high', [says(row), says(trusted)], 'medium'],
    ['low', [says(row)], 'medium'],
    ['low', [says(row), says(note)], 'low'],
  ])('%s is proven by %j up to %s', (severity, claims, expected) => {
    expect(decide({ ...good, severity, claims }).verdict.severity).toBe(expected);
  });

  test('of high facts is not lowered, whatever is proven', () => {
    const claims = [says(row), says(note)];
    expect(decide({ ...good, severity: 'low', claims }, { candidate: high }).verdict.severity).toBe('high');
  });
});

test('shows a headline or a next step with a value of nowhere as unproven, and not as a fact', () => {
  const { verdict } = decide({
    ...good,
    headline: 'alice is 198.51.100.9',
    nextSteps: ['Block 198.51.100.9.', 'Ask alice.'],
  });
  expect(verdict).toMatchObject({ headline: fallback.headline, nextStep: 'Ask alice.' });
  expect(verdict.claims.slice(-2).map(({ text, status }) => [text, status])).toEqual([
    ['alice is 198.51.100.9', 'unproven'],
    ['Block 198.51.100.9.', 'unproven'],
  ]);
});

test.each<[string, Claim[], Options, boolean]>([
  ['is shown if a claim is proven', [says(row)], {}, true],
  ['is shown if the verifier confirms it', [says(row)], { isVerifierOn: true }, true],
  ['is not shown if the verifier does not', [says(row)], { isVerifierOn: true, status: 'unproven' }, false],
  ['is not shown without a proven claim', [says()], {}, false],
  ['is not shown beside an assessment alone', [{ text: 'It looks bad.', kind: 'assessment', cites: [] }], {}, false],
])('a headline of ordinary words %s', (_name, claims, options, isShown) => {
  const headline = 'alice dumped credentials';
  const { verdict } = decide({ ...good, headline, claims }, options);
  expect(verdict.headline).toBe(isShown ? headline : fallback.headline);
  expect(verdict.claims.some(({ text, status }) => text === headline && status === 'unproven')).toBe(!isShown);
});

test('a value of a headline must stand in what proven claims cite, and not only in the case', () => {
  const headline = 'alice used 192.0.2.7';
  expect(decide({ ...good, headline, claims: [says(row)] }).verdict.headline).toBe(fallback.headline);
  expect(decide({ ...good, headline, claims: [says(row, ofRow('ip', '192.0.2.7'))] }).verdict.headline).toBe(headline);
});

test('lists the cited cells of standing facts once, and techniques that exist', () => {
  const claims = [says(row), says(row, ofRow('ip', '192.0.2.7')), says(ofRow('ip', '192.0.2.8'))];
  const one = checked({ ...good, claims, techniques: ['t1098', 'T1098', 'T9999', 'no'] });
  const { verdict } = decideVerdict({ ...one, isTechnique: (id) => id === 'T1098' }, 'raise');
  expect(verdict.evidence.map(({ observation, field, value }) => [observation, field, value])).toEqual([
    ['rows', 'eventName', 'AttachUserPolicy'],
    ['rows', 'ip', '192.0.2.7'],
  ]);
  expect(verdict.techniques).toEqual(['T1098']);
  expect(verdict.summary).toBe('So it is. So it is.');
});
