import { expect, test } from 'vitest';
import { fromDraft, fromRequirementDraft, toDraft, toRequirementDraft } from './profile-draft.ts';

test('a profile that is opened and saved stays the same', () => {
  const requirement = {
    name: 'Ransomware against hospitals',
    products: [],
    platforms: [],
    sectors: ['hospitals'],
    regions: ['Nordics'],
    keywords: ['ransomware'],
    names: ['APT29', 'Cobalt Strike'],
    techniques: ['T1486'],
    values: ['a[.]example', 'CVE-2026-1000'],
  };
  const profile = {
    products: [{ vendor: 'Ivanti', product: 'Connect Secure: Gateway' }, { vendor: 'Citrix' }],
    platforms: ['windows' as const],
    sectors: ['energy', 'public administration'],
    regions: ['Norway'],
    keywords: ['payment terminals'],
    requirements: [requirement],
    sweep: false,
    threshold: 0.55,
    timeZone: 'Europe/Oslo',
  };
  const stored = { ...profile, version: 1, rebuilding: false, updatedAt: null };
  expect(fromDraft(toDraft(stored))).toEqual(profile);
  expect(fromRequirementDraft(toRequirementDraft(requirement))).toEqual(requirement);
});
