import { expect, test } from 'vitest';
import { objectsOf, override, reportOf, statement, versionOf } from '../../../../test/support/feed/stix-items.ts';
import { listStixViolations } from '../../../../test/support/feed/stix-standard.ts';
import type { FeedItem } from '../../model/item.schema.ts';

test('exports the relationships that the text states, with their passages', () => {
  const objects = objectsOf(versionOf(reportOf('APT29'), { storedText: statement }));
  expect(listStixViolations(objects)).toEqual([]);
  const nameOf = (ref: unknown): unknown => objects.find(({ id }) => id === ref)?.['name'];
  const relationships = objects
    .filter(({ description }) => description !== undefined)
    .filter(({ type }) => type === 'relationship')
    .map((one) => [nameOf(one['source_ref']), one['relationship_type'], nameOf(one['target_ref']), one['description']]);
  const [uses, contacts] = statement.split('\n');
  expect(relationships).toEqual([
    ['APT29', 'uses', 'WellMess', uses],
    ['APT29', 'targets', 'Norway', uses],
    ['WellMess', 'exploits', 'CVE-2024-1234', contacts],
    ['evil.top', 'indicates', 'WellMess', contacts],
  ]);
  const retracted = versionOf(reportOf('APT29'), {
    storedText: statement,
    overrides: [override({ status: 'retracted' })],
  });
  expect(objectsOf(retracted).filter(({ revoked, type }) => type === 'intrusion-set' && revoked)).toEqual([]);
});

test.each([
  ['APT29', 'The WellMess malware was attributed to APT29.', 'WellMess', 'authored-by', 'APT29'],
  ['APT29', 'APT29 exploited CVE-2024-1234 last year.', 'APT29', 'targets', 'CVE-2024-1234'],
])('uses a type that the standard suggests: %s, %s', (actor, storedText, source, type, target) => {
  const objects = objectsOf(versionOf(reportOf(actor), { storedText }));
  const idOf = (name: string) => objects.find((one) => one['name'] === name)!.id;
  expect(objects.filter(({ description }) => description === storedText)).toMatchObject([
    { relationship_type: type, source_ref: idOf(source), target_ref: idOf(target) },
  ]);
});

test('exports one object for a name in all items. The loosest marking is the latest version', () => {
  const threats = (id: string, tlp: FeedItem['source']['tlp']) =>
    objectsOf(versionOf({ ...reportOf('Cozy New Name', tlp), id })).filter(({ type }) => /^(?:intr|malw)/.test(type));
  const [first, second] = [threats(crypto.randomUUID(), 'AMBER'), threats(crypto.randomUUID(), 'AMBER')];
  expect(first.map(({ name }) => name)).toEqual(['WellMess', 'Cozy New Name']);
  expect(second).toEqual(first);
  const open = threats(crypto.randomUUID(), 'CLEAR');
  for (const [index, one] of open.entries()) {
    expect(one.id).toBe(first[index]!.id);
    expect(one.modified! > first[index]!.modified!).toBe(true);
  }
});
