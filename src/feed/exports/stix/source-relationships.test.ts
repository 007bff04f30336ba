import { expect, test } from 'vitest';
import { stix } from '../../formats/stix/stix.ts';
import type { FeedItem } from '../../model/item.schema.ts';
import { readSourceRelationships } from './source-relationships.ts';

const time = '2026-03-01T00:00:00.000Z';
const id = (type: string, digit: number): string => `${type}--00000000-0000-4000-8000-00000000000${digit}`;
const object = (type: string, digit: number, fields: object) => ({
  type,
  id: id(type, digit),
  spec_version: '2.1',
  created: time,
  modified: time,
  ...fields,
});
const relate = (digit: number, [source, type, target]: [string, string, string], fields: object = {}) =>
  object('relationship', digit, { source_ref: source, relationship_type: type, target_ref: target, ...fields });

const [actor, malware, tool] = [id('intrusion-set', 1), id('malware', 2), id('tool', 3)];
const [technique, weakness, host, harmless] = [
  id('attack-pattern', 4),
  id('vulnerability', 5),
  id('indicator', 6),
  id('indicator', 7),
];
const objects = [
  object('intrusion-set', 1, { name: 'Fancy Bear' }),
  object('malware', 2, { name: 'QuillDoor', is_family: true }),
  object('tool', 3, { name: 'Mimikatz' }),
  object('attack-pattern', 4, {
    name: 'Web Shell',
    external_references: [{ source_name: 'mitre-attack', external_id: 'T1505.003' }],
  }),
  object('vulnerability', 5, { name: 'CVE-2026-33333' }),
  object('indicator', 6, { pattern: "[domain-name:value = 'quill.top']", pattern_type: 'stix', valid_from: time }),
  object('indicator', 7, { pattern: "[domain-name:value = 'google.com']", pattern_type: 'stix', valid_from: time }),
  object('location', 8, { country: 'NO', name: 'Norway' }),
  relate(1, [actor, 'uses', malware], { description: 'Seen in March.' }),
  relate(2, [actor, 'uses', tool]),
  relate(3, [malware, 'uses', technique]),
  relate(4, [malware, 'exploits', weakness]),
  relate(5, [host, 'indicates', malware]),
  relate(6, [harmless, 'indicates', malware]),
  relate(7, [actor, 'targets', id('location', 8)]),
  relate(8, [actor, 'uses', malware], { revoked: true }),
  relate(9, [actor, 'related-to', malware]),
];

test('reads the relationships of a source with the names of the item, without false positives and revoked ones', () => {
  const report = object('report', 9, { name: 'R', published: time, object_refs: objects.map((one) => one.id) });
  const bundle = { type: 'bundle', id: id('bundle', 1), objects: [...objects, report] };
  const bytes = Buffer.from(JSON.stringify(bundle));
  const [item] = stix.parse([{ name: 'a.json', bytes }], { reliability: 0.6 }).records;
  const found = readSourceRelationships(item as unknown as FeedItem, objects);
  expect(found.map(({ type, source, target }) => [source.name, type, target.name])).toEqual([
    ['APT28', 'uses', 'QuillDoor'],
    ['APT28', 'uses', 'Mimikatz'],
    ['QuillDoor', 'uses', 'T1505.003'],
    ['QuillDoor', 'exploits', 'CVE-2026-33333'],
    ['domain quill.top', 'indicates', 'QuillDoor'],
    ['APT28', 'targets', 'NO'],
  ]);
  expect(found[1]).toMatchObject({ source: { kind: 'actor' }, target: { kind: 'tool' } });
  expect(found.slice(0, 2).map(({ passage }) => passage)).toEqual([
    'Seen in March.',
    `Fancy Bear uses Mimikatz (${id('relationship', 2)})`,
  ]);
});
