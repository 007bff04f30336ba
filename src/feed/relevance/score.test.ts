import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Profile } from './profile.schema.ts';
import { reasonKinds, scoreItem, createMatcher, type ScoredFields } from './score.ts';

const item = (over: {
  title?: string;
  passages?: string[];
  platforms?: string[];
  product?: [string, string, number];
  targets?: { sector?: string; region?: string };
}) =>
  ({
    event: { title: over.title ?? '' },
    classification: {
      attack: [],
      killChain: [],
      malware: [],
      actor: [],
      mappings: Object.entries(over.targets ?? {}).map(([kind, id]) => ({
        framework: `observable:target-${kind}`,
        id,
        confidence: 0.6,
      })),
      platforms: over.platforms ?? [],
    },
    affectedProducts: over.product
      ? [{ vendor: over.product[0], product: over.product[1], versions: [], confidence: over.product[2] }]
      : [],
    provenance: {
      supportingPassages: (over.passages ?? []).map((text) => ({
        text,
        sourceUrl: '',
        charSpan: { start: 0, end: 1 },
      })),
    },
  }) as unknown as ScoredFields;

const score = (profile: unknown, judged: ScoredFields) => scoreItem(createMatcher(Profile.parse(profile)), judged);

describe('scores one kind of reason:', () => {
  test.each([
    [
      'an affected product',
      { products: [{ vendor: 'fortinet', product: 'FortiOS' }] },
      { product: ['Fortinet', 'FortiOS', 1] },
      0.8,
    ],
    [
      'another product of the vendor',
      { products: [{ vendor: 'Fortinet', product: 'FortiWeb' }] },
      { product: ['Fortinet', 'FortiOS', 1] },
      0,
    ],
    ['any product of a vendor', { products: [{ vendor: 'Fortinet' }] }, { product: ['Fortinet', 'FortiOS', 1] }, 0.7],
    [
      'a vendor with its legal form',
      { products: [{ vendor: 'Fortinet, Inc.' }] },
      { product: ['Fortinet', 'FortiOS', 1] },
      0.7,
    ],
    ['a vendor in the title', { products: [{ vendor: 'Fortinet' }] }, { title: 'Fortinet fixes a flaw' }, 0.52],
    [
      'a vendor mentioned in a text',
      { products: [{ vendor: 'Fortinet' }] },
      { passages: ['Fortinet was told.'] },
      0.35,
    ],
    [
      'a product mentioned in a text',
      { products: [{ vendor: 'Ivanti', product: 'Connect Secure' }] },
      { passages: ['Ivanti Connect Secure was abused.'] },
      0.6,
    ],
    ['a keyword as a word', { keywords: ['SAP'] }, { title: 'Attack on SAP systems' }, 0.6],
    ['a keyword inside another word', { keywords: ['SAP'] }, { title: 'The sapling grows' }, 0],
    ['a keyword of several words', { keywords: ['supply  chain'] }, { title: 'A supply-chain attack' }, 0.6],
    ['a platform', { platforms: ['m365'] }, { platforms: ['office-suite'] }, 0.25],
    ['a stated sector of STIX', { sectors: ['Banks'] }, { targets: { sector: 'financial-services' } }, 0.4],
    ['a stated sector of MISP', { sectors: ['finance'] }, { targets: { sector: 'Bank' } }, 0.4],
    ['a sector that MISP names otherwise', { sectors: ['healthcare'] }, { targets: { sector: 'Health' } }, 0.4],
    ['another stated sector', { sectors: ['energy'] }, { targets: { sector: 'Bank' } }, 0],
    ['a stated country', { regions: ['DE'] }, { targets: { region: 'germany' } }, 0.3],
    ['a stated region', { regions: ['Europe'] }, { targets: { region: 'western-europe' } }, 0.3],
    ['a stated country of a region', { regions: ['Europe'] }, { targets: { region: 'Germany' } }, 0.3],
    ['a stated country of no such region', { regions: ['Europe'] }, { targets: { region: 'Japan' } }, 0],
    ['a stated region of a region', { regions: ['EMEA'] }, { targets: { region: '155 - Western Europe' } }, 0.3],
    ['a stated region around a region', { regions: ['Western Europe'] }, { targets: { region: 'europe' } }, 0],
    ['a mentioned country of a region', { regions: ['Latin America'] }, { title: 'Banks in Brazil attacked' }, 0.3],
    ['a word that is also a code', { regions: ['North America'] }, { title: 'Contact us' }, 0],
    ['a country as a sector', { sectors: ['Germany'] }, { targets: { region: 'Germany' } }, 0],
    [
      'a stated sector and country',
      { sectors: ['banking'], regions: ['United States'] },
      { targets: { sector: 'Bank', region: 'USA' } },
      0.58,
    ],
    ['nothing in common', { sectors: ['energy'], regions: ['Europe'] }, { title: 'Banking trojan in Brazil' }, 0],
  ] as const)('%s', (_, profile, fields, expected) => {
    expect(score(profile, item(fields as unknown as Parameters<typeof item>[0])).score).toBe(expected);
  });
});

test('combines reasons of several kinds as independent evidence, and references the passage with the words', () => {
  const found = score(
    { sectors: ['energy'], platforms: ['windows'] },
    item({ passages: ['Nothing here.', 'The energy sector is hit.'], platforms: ['windows'] }),
  );
  expect(found.score).toBe(0.55);
  expect(found.reasons).toEqual([
    { kind: 'sector', matched: 'energy', weight: 0.4, evidenceRef: 'provenance.supportingPassages[1]' },
    { kind: 'platform', matched: 'windows', weight: 0.25 },
  ]);
});

test('says which country of a region an item targets', () => {
  const profile = { regions: ['Europe', 'middle east'] };
  const stated = score(profile, item({ targets: { region: 'Ukraine' } }));
  expect(stated.reasons).toEqual([{ kind: 'region', matched: 'Ukraine (Europe)', weight: 0.3 }]);
  const mentioned = score(profile, item({ passages: ['Nothing.', 'Ministries in Jordan were hit.'] }));
  expect(mentioned.reasons).toEqual([
    { kind: 'region', matched: 'Jordan (middle east)', weight: 0.3, evidenceRef: 'provenance.supportingPassages[1]' },
  ]);
});

const anyWord = fc.constantFrom('energy', 'bank', 'sap', 'oracle', 'europe', 'linux');
const anyProfile = fc.record({
  sectors: fc.array(anyWord, { maxLength: 3 }),
  regions: fc.array(anyWord, { maxLength: 3 }),
  keywords: fc.array(anyWord, { maxLength: 3 }),
  platforms: fc.subarray(['windows', 'linux', 'ios']),
  products: fc.array(fc.record({ vendor: anyWord }), { maxLength: 3 }),
});
const anyItem = fc
  .record({ title: fc.array(anyWord, { maxLength: 4 }), platforms: fc.subarray(['windows', 'linux']) })
  .map(({ title, platforms }) => item({ title: title.join(' '), platforms }));

test('never lowers a score for a wider profile, and ignores the order of entries', () => {
  fc.assert(
    fc.property(anyProfile, anyProfile, anyItem, (one, other, judged) => {
      const both = Object.fromEntries(
        Object.keys(one).map((key) => [key, [...one[key as 'sectors'], ...other[key as 'sectors']]]),
      );
      const turned = Object.fromEntries(Object.entries(both).map(([key, list]) => [key, list.toReversed()]));
      const wide = score(both, judged);
      expect(wide.score).toBeGreaterThanOrEqual(score(one, judged).score);
      expect(score(turned, judged).score).toBe(wide.score);
      expect(wide.score).toBeLessThanOrEqual(1);
      for (const { kind } of wide.reasons) expect(reasonKinds).toContain(kind);
    }),
  );
});
