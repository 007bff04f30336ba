import { expect, test } from 'vitest';
import { fromDraft, toDraft } from './profile-draft.ts';

test('a profile that is opened and saved stays the same', () => {
  const profile = {
    products: [{ vendor: 'Ivanti', product: 'Connect Secure: Gateway' }, { vendor: 'Citrix' }],
    platforms: ['windows' as const],
    sectors: ['energy', 'public administration'],
    regions: ['Norway'],
    keywords: ['payment terminals'],
    sweep: false,
    threshold: 0.55,
  };
  const stored = { ...profile, version: 1, rebuilding: false, updatedAt: null };
  expect(fromDraft(toDraft(stored))).toEqual(profile);
});
