import { expect, test } from 'vitest';
import { caseOf, medium } from '../../../../test/support/detection/verdict-examples.ts';
import { budgetExceededError, modelRefusedError, upstreamModelError } from '../../../platform/models/model-error.ts';
import { checkClaims } from '../claims/check-claims.ts';
import { isUnverified, type Citation, type Claim, type Conclusion } from '../verdict.ts';
import type { InvestigationTask } from './task.ts';
import { verifyClaims } from './ask-verifier.ts';

const file = caseOf(medium, {
  notes: [{ id: 'n1', entity: 'alice', note: 'On call this week.' }],
  items: [{ id: 'i1', indicator: '192.0.2.7', title: 'A partner of ours' }],
});
const says = (text: string, ...cites: Citation[]): Claim => ({ text, kind: 'fact', cites });
const row: Citation = { observation: 'rows', rowId: 'e1', field: 'host', value: 'web-01' };
const claims = [
  says('one', row),
  says('two', { note: 'n1' }),
  says('three', { item: 'i1', quote: 'A partner of ours' }),
  says('four'),
  { text: 'five', kind: 'assessment' as const, cites: [] },
];

/** Verifies the claims and returns their results with what the verifier was asked. */
async function verify(conclusion: Conclusion, answer: 'supported' | 'contradicted' | 'not_stated') {
  const asked: [string, string][] = [];
  const verifier: InvestigationTask['verify'] = ({ claim }, purpose) => {
    asked.push([claim.text, purpose]);
    return Promise.resolve({ answer, reason: 'r'.repeat(1_000) });
  };
  const verified = await verifyClaims({ verify: verifier }, checkClaims(claims, file), conclusion);
  return { asked, results: verified.map(({ claim }) => claim) };
}

test('supports what the verifier supports, and asks about cited facts alone', async () => {
  const { asked, results } = await verify('raise', 'supported');
  expect(asked).toEqual([
    ['one', 'fact'],
    ['two', 'fact'],
    ['three', 'fact'],
  ]);
  expect(results.map(({ status }) => status)).toEqual([
    'supported',
    'supported',
    'supported',
    'unproven',
    'assessment',
  ]);
});

test.each([
  ['contradicted', 'what it cites says otherwise: r'],
  ['not_stated', 'what it cites does not say this: r'],
] as const)('leaves a claim unproven that is %s', async (answer, reason) => {
  const { results } = await verify('raise', answer);
  expect(results[0]).toMatchObject({ status: 'unproven', reason: expect.stringContaining(reason) });
  expect(results[0]!.reason!.length).toBeLessThanOrEqual(300);
});

test('asks more of what could excuse a dismissal', async () => {
  const { asked } = await verify('dismiss', 'supported');
  expect(asked).toEqual([
    ['one', 'excuse'],
    ['two', 'excuse'],
    ['three', 'fact'],
  ]);
});

test('calls nothing more than cited without a verifier', async () => {
  const verified = await verifyClaims({}, checkClaims(claims, file), 'raise');
  expect(verified.map(({ claim }) => claim.status)).toEqual(['cited', 'cited', 'cited', 'unproven', 'assessment']);
});

test('leaves a claim unproven on which the verifier gives no usable answer, keeps one beyond the budget cited, and throws any other failure', async () => {
  const verifyWith = (failure: Error) => {
    const verify = async () => {
      throw failure;
    };
    return verifyClaims({ verify }, checkClaims(claims.slice(0, 1), file), 'raise');
  };
  expect((await verifyWith(modelRefusedError('m')))[0]!.claim).toMatchObject({
    status: 'unproven',
    reason: 'the verifier gave no answer: m refused to answer.',
  });
  const [unverified] = await verifyWith(budgetExceededError('The budget is used up.'));
  expect(unverified!.claim).toMatchObject({ status: 'cited', reason: 'not verified: The budget is used up.' });
  expect(isUnverified(unverified!.claim)).toBe(true);
  const rejected = upstreamModelError('model_auth', 'The key is wrong.', { retryable: false, pauses: true });
  await expect(verifyWith(rejected)).rejects.toBe(rejected);
});
