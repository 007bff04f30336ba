import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dataDir } from '../../../../test/support/data.ts';
import { caseOf, medium } from '../../../../test/support/detection/verdict-examples.ts';
import { budgetExceededError, modelRefusedError, upstreamModelError } from '../../../platform/models/model-error.ts';
import type { RenderedRow } from '../../analysis/candidate.ts';
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

const dir = dataDir();
describe.skipIf(!dir)('handed claims', () => {
  const cases = JSON.parse(readFileSync(join(dir ?? '', 'cases/claims.json'), 'utf8')) as {
    rows: RenderedRow[];
    invented: string[];
    fair: string[];
  };
  const cites = cases.rows.flatMap(({ rowId, fields }) =>
    Object.entries(fields).map(([field, value]) => ({ observation: 'rows', rowId, field, value })),
  );
  const handed = caseOf({ ...medium, entity: 'ada', facts: {}, rows: cases.rows });

  test.each(cases.fair)('does not strike: %s', (text) => {
    expect(checkClaims([{ text, kind: 'fact', cites }], handed)[0]!.claim).toMatchObject({ status: 'cited' });
  });

  const statusesOf = async (texts: readonly string[], verify?: InvestigationTask['verify']) => {
    const checks = texts.flatMap((text) => checkClaims([{ text, kind: 'fact', cites }], handed));
    return [...new Set((await verifyClaims({ verify }, checks, 'raise')).map(({ claim }) => claim.status))];
  };

  test('calls no sentence more than cited without a verifier', async () => {
    expect(await statusesOf([...cases.invented, ...cases.fair])).toEqual(['cited']);
  });

  test('supports every fair sentence and no invented one with a verifier that answers truly', async () => {
    const truthful: InvestigationTask['verify'] = async ({ claim }) => ({
      answer: cases.fair.includes(claim.text) ? 'supported' : 'not_stated',
      reason: 'It was looked up.',
    });
    expect(await statusesOf(cases.fair, truthful)).toEqual(['supported']);
    expect(await statusesOf(cases.invented, truthful)).toEqual(['unproven']);
  });
});
