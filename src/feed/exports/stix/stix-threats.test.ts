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

test('exports one object for a name, a CVE and a technique in all items. The loosest marking is the latest version', () => {
  const subjects = (id: string, tlp: FeedItem['source']['tlp'], confidence = 0.9) => {
    const { classification, ...item } = reportOf('Cozy New Name', tlp);
    const attack = [
      { technique: 'T1059', subTechnique: 'T1059.001', techniqueName: 'Any name', confidence, evidenceRef: 'x' },
    ];
    const mappings = [...classification.mappings, { framework: 'observable:attack-pattern', id: 'T1417', confidence }];
    return objectsOf(versionOf({ ...item, id, classification: { ...classification, attack, mappings } })).filter(
      ({ type }) => /^(?:intr|malw|vuln|attack)/.test(type),
    );
  };
  const [first, second] = [subjects(crypto.randomUUID(), 'AMBER'), subjects(crypto.randomUUID(), 'AMBER', 0.2)];
  expect(first.map(({ name }) => name)).toEqual(['CVE-2024-1234', 'WellMess', 'Cozy New Name', 'PowerShell', 'T1417']);
  expect(first[3]).toMatchObject({
    external_references: [
      {
        source_name: 'mitre-attack',
        external_id: 'T1059.001',
        url: 'https://attack.mitre.org/techniques/T1059/001',
      },
    ],
  });
  expect(second).toEqual(first);
  const open = subjects(crypto.randomUUID(), 'CLEAR');
  for (const [index, one] of open.entries()) {
    expect(one.id).toBe(first[index]!.id);
    expect(one.modified! > first[index]!.modified!).toBe(true);
  }
});

test('keeps a technique of which only a name is known with its item', () => {
  const patterns = (id: string) => {
    const item = reportOf('APT29');
    const mappings = [{ framework: 'observable:attack-pattern', id: 'A custom technique', confidence: 0.5 }];
    return objectsOf(versionOf({ ...item, id, classification: { ...item.classification, mappings } })).filter(
      ({ type }) => type === 'attack-pattern',
    );
  };
  const [[first], [second]] = [patterns(crypto.randomUUID()), patterns(crypto.randomUUID())];
  expect(first).toMatchObject({ name: 'A custom technique', confidence: 50 });
  expect(second!.id).not.toBe(first!.id);
});
