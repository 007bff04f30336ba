import { expect, test } from 'vitest';
import { at, evil, itemOf, objectsOf, override, versionOf } from '../../../../test/support/feed/stix-items.ts';
import type { Indicator } from '../../model/item.schema.ts';
import type { DatedOverride } from '../../items/snapshot/apply-overrides.ts';

test('revokes original STIX indicators only if all their values are overridden', () => {
  const pattern = (text: string) => ({ type: 'indicator', id: `indicator--${text}`, pattern: text, modified: at });
  const originals = [
    pattern("[domain-name:value = 'EVIL.top']"),
    pattern("[domain-name:value = 'evil.top'] OR [domain-name:value = 'other.top']"),
    pattern("[domain-name:value = 'other.top']"),
    { type: 'report', id: 'report--1', modified: at },
  ];
  const other = { ...evil, value: 'other.top', normalizedValue: 'other.top' };
  const exportOriginals = (overrides: DatedOverride[]) =>
    objectsOf(versionOf(itemOf([evil, other]), { originals, overrides }));
  const indicators = [{ type: 'domain', value: 'evil.top', status: 'revoked' as const }];
  const revoking = override({ severity: 'low', indicators });
  const [first, ...rest] = exportOriginals([revoking]);
  expect(first).toMatchObject({ revoked: true, modified: '2026-01-07T00:00:00.000010Z' });
  expect(rest).toEqual(originals.slice(1));
  const [restored] = exportOriginals([revoking, override({}, 8)]);
  expect(restored).toEqual({ ...originals[0], modified: '2026-01-08T00:00:00.000010Z' });
});

test('leaves out original STIX indicators whose values are all false positives, with their links', () => {
  const pattern = (id: string, text: string) => ({
    type: 'indicator',
    id: `indicator--${id}`,
    pattern: text,
    modified: at,
  });
  const link = (from: string, to: string) => ({
    type: 'relationship',
    id: `relationship--${from}-${to}`,
    source_ref: `indicator--${from}`,
    target_ref: to,
    modified: at,
  });
  const kept = [
    pattern('both', "[domain-name:value = 'benign.example'] OR [domain-name:value = 'evil.top']"),
    { type: 'report', id: 'report--1', object_refs: ['indicator--benign', 'indicator--both'], modified: at },
    link('both', 'malware--1'),
  ];
  const originals = [
    pattern('benign', "[domain-name:value = 'Benign.example']"),
    link('benign', 'malware--1'),
    { type: 'sighting', id: 'sighting--1', sighting_of_ref: 'indicator--benign', modified: at },
    ...kept,
  ];
  const benign: Indicator = {
    ...evil,
    value: 'Benign.example',
    normalizedValue: 'benign.example',
    status: 'false_positive',
  };
  const exportOriginals = (overrides: DatedOverride[]) =>
    objectsOf(versionOf(itemOf([evil, benign]), { originals, overrides }));
  expect(exportOriginals([])).toEqual(kept);
  const indicators = [{ type: 'domain', value: 'benign.example', status: 'active' as const }];
  expect(exportOriginals([override({ indicators })])).toEqual(originals);
});

test('revokes an original STIX indicator of a file path, whose pattern states the directory and the name', () => {
  const path: Indicator = {
    ...evil,
    type: 'file_path',
    value: 'C:\\Intel\\a.dll',
    normalizedValue: 'C:\\Intel\\a.dll',
  };
  const pattern = "[file:name = 'a.dll' AND file:parent_directory_ref.path = 'C:\\\\Intel']";
  const originals = [{ type: 'indicator', id: 'indicator--path', pattern, modified: at }];
  const indicators = [{ type: 'file_path', value: path.normalizedValue, status: 'revoked' as const }];
  const exported = objectsOf(versionOf(itemOf([path]), { originals, overrides: [override({ indicators })] }));
  expect(exported).toMatchObject([{ revoked: true }]);
});
