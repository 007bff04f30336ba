import { expect, test } from 'vitest';
import { Profile } from '../../feed/relevance/profile.schema.ts';
import { createPromptRepeats } from '../prompt-repeats.ts';
import { type RelevanceAnswer, verifyReasons } from './request-verdict.ts';

const profile = Profile.parse({ products: [{ vendor: 'Citrix' }], sectors: ['energy'] });
const excerpt = {
  head: ['Gateways under attack', '', 'Products: Citrix NetScaler'],
  passages: ['CVE-2023-4966 in NetScaler is used from 203.0.113.7.', 'A utility in Norway was hit.'],
};
const verify = (more: Partial<RelevanceAnswer>) =>
  verifyReasons({ verdict: 'relevant', reason: 'NetScaler of Citrix is attacked.', passages: [0], ...more }, excerpt, {
    profile,
    repeats: createPromptRepeats(['Items about the energy sector matter most to us.']),
  });

test('returns one reason per cited passage', () => {
  expect(verify({ passages: [1, 0, 1] })).toEqual(
    [1, 0].map((n) => ({
      kind: 'model',
      matched: 'NetScaler of Citrix is attacked.',
      weight: 1,
      evidenceRef: `provenance.supportingPassages[${n}]`,
    })),
  );
});

test.each<[string, Partial<RelevanceAnswer>]>([
  ['an answer without a passage', { passages: [] }],
  ['a passage that does not exist', { passages: [0, 2] }],
  ['another CVE', { reason: 'Citrix is hit by CVE-2023-4967.' }],
  ['another address', { reason: 'Citrix is attacked from 203.0.113.70.' }],
  ['a vendor that is neither in the item nor in the profile', { reason: 'Citrix and Fortinet are attacked.' }],
  ['an unknown name at the start of a sentence', { reason: 'Fortinet and Citrix are attacked.' }],
  ['a relevant verdict without a profile entry', { reason: 'A utility was hit.' }],
  ['a profile entry that is only part of a word', { reason: 'A utility with energydrinks was hit.' }],
])('rejects %s', (_case, more) => {
  expect(verify(more)).toEqual([]);
});

test('keeps a verified sentence and removes the other one', () => {
  const reason = 'Fortinet is attacked. The item names Citrix and CVE-2023-4966.';
  expect(verify({ reason })).toMatchObject([{ matched: 'The item names Citrix and CVE-2023-4966.' }]);
});

test('removes a sentence that repeats the prompt', () => {
  const reason = 'Citrix is attacked. The items about the energy sector matter most.';
  expect(verify({ reason })).toMatchObject([{ matched: 'Citrix is attacked.' }]);
});

test('accepts an irrelevant verdict without a profile entry', () => {
  expect(verify({ verdict: 'irrelevant', reason: 'Only a utility in Norway was hit.', passages: [1] })).toHaveLength(1);
});
