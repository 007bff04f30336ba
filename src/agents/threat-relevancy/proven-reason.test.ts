import { expect, test } from 'vitest';
import { Profile } from '../../feed/relevance/profile.schema.ts';
import { provenReasons, type Answer } from './proven-reason.ts';

const profile = Profile.parse({ products: [{ vendor: 'Citrix' }], sectors: ['energy'] });
const shown = {
  head: ['Gateways under attack', '', 'Products: Citrix NetScaler'],
  passages: ['CVE-2023-4966 in NetScaler is used from 203.0.113.7.', 'A utility in Norway was hit.'],
};
const reasonsOf = (more: Partial<Answer>) =>
  provenReasons(
    { verdict: 'relevant', reason: 'NetScaler of Citrix is attacked.', passages: [0], ...more },
    shown,
    profile,
  );

test('each passage cited proves the reason', () => {
  expect(reasonsOf({ passages: [1, 0, 1] })).toEqual(
    [1, 0].map((n) => ({
      kind: 'model',
      matched: 'NetScaler of Citrix is attacked.',
      weight: 1,
      evidenceRef: `provenance.supportingPassages[${n}]`,
    })),
  );
});

test.each<[string, Partial<Answer>]>([
  ['no passage', { passages: [] }],
  ['a passage that is not there', { passages: [0, 2] }],
  ['another CVE', { reason: 'Citrix is hit by CVE-2023-4967.' }],
  ['another address', { reason: 'Citrix is attacked from 203.0.113.70.' }],
  ['a product of nobody', { reason: 'Citrix and Fortinet are attacked.' }],
  ['a name at the beginning', { reason: 'Fortinet and Citrix are attacked.' }],
  ['nothing of the profile', { reason: 'A utility was hit.' }],
  ['nothing of the profile that is a whole word', { reason: 'A utility with energydrinks was hit.' }],
])('%s proves nothing', (_what, more) => {
  expect(reasonsOf(more)).toEqual([]);
});

test('a sentence that holds stands without the one that does not', () => {
  const reason = 'Fortinet is attacked. The item names Citrix and CVE-2023-4966.';
  expect(reasonsOf({ reason })).toMatchObject([{ matched: 'The item names Citrix and CVE-2023-4966.' }]);
});

test('that an item is irrelevant needs no word of the profile', () => {
  expect(reasonsOf({ verdict: 'irrelevant', reason: 'Only a utility in Norway was hit.', passages: [1] })).toHaveLength(
    1,
  );
});
