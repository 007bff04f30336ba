import { expect, test } from 'vitest';
import { toOrgId } from '../../platform/lib/org-id.ts';
import { buildItemCandidates } from './item-candidates.ts';
import { osv } from '../formats/osv/osv.ts';
import type { ItemOrigin } from './source-row.ts';
import { osvRecord } from '../../../test/support/feed/osv-documents.ts';

const origin: ItemOrigin = {
  organization_id: toOrgId('00000000-0000-7000-8000-000000000002'),
  id: null,
  kind: 'osv',
  url: 'https://osv.example/',
  visibility: 'private',
  pool_id: 'own',
  name: 'OSV',
  publisher: null,
  tlp: null,
  license: null,
  reliability: 0.8,
  last_success_at: null,
};

test('skips a record whose id or key is too long for an index', () => {
  const [record] = osv.parse([{ name: 'a', bytes: Buffer.from(JSON.stringify(osvRecord('GO-2024-1'))) }], {
    reliability: 0.8,
  }).records;
  const long = '漢'.repeat(700);
  const { candidates, tooLarge } = buildItemCandidates(
    [record!, { ...record!, recordId: long }, { ...record!, recordId: 'b', canonicalKey: `uuid:${long}` }],
    origin,
    'own',
  );
  expect(candidates.map(({ record: { recordId } }) => recordId)).toEqual(['GO-2024-1']);
  expect(tooLarge).toEqual([
    { entry: long.slice(0, 100), reason: 'its id is longer than 2000 bytes' },
    { entry: 'b', reason: 'its id is longer than 2000 bytes' },
  ]);
});
