import { expect, test } from 'vitest';
import { mispEvent } from '../../../../../test/support/feed/misp-documents.ts';
import { misp } from '../../../formats/misp/misp.ts';
import { stix } from '../../../formats/stix/stix.ts';
import { extractItem } from '../../extract-item.ts';
import { resolveName } from './resolve-name.ts';

test.each([
  ['tool', 'Cobalt Strike - S0154', 'Cobalt Strike'],
  ['tool', 'CobaltStrike', 'Cobalt Strike'],
  ['malware', 'S0154', 'Cobalt Strike'],
  ['tool', 's0154', 'Cobalt Strike'],
  ['malware', 'An unknown spelling - S0154', 'Cobalt Strike'],
  ['actor', 'G0045', 'menuPass'],
  ['actor', ' g0045 ', 'menuPass'],
  ['actor', 'APT10 (G0045)', 'menuPass'],
  ['actor', 'Somebody [G0045]', 'menuPass'],
  ['actor', 'S0154', undefined],
  ['malware', 'G0045', undefined],
  ['actor', 'G9999', undefined],
  ['actor', 'Sofacy', 'APT28'],
  ['actor', 'APT28 - G0007', 'APT28'],
  ['actor', 'Fancy Bear', 'APT28'],
  ['actor', 'FANCY BEAR', 'APT28'],
  ['actor', 'Stone Panda', 'menuPass'],
  ['actor', 'menuPass', 'menuPass'],
  ['actor', 'APT 10', 'menuPass'],
  ['actor', 'UAC-0010', 'Gamaredon Group'],
  ['actor', 'Gamaredon', 'Gamaredon Group'],
  ['malware', 'win.emotet', 'Emotet'],
  ['malware', 'Emotet (Malware Family)', 'Emotet'],
  ['malware', 'Geodo', 'Emotet'],
  ['actor', 'OceanLotus', 'APT32'],
  ['actor', '海莲花', 'APT32'],
  ['actor', 'APT38', 'APT38'],
  ['malware', 'Lumma', 'Lumma Stealer'],
  ['malware', 'LummaC2', 'Lumma Stealer'],
  ['malware', 'win.lumma', 'Lumma Stealer'],
  ['malware', 'nothing that a list has', undefined],
  ['actor', 'Emotet', undefined],
] as const)('%s %s is %s', (kind, name, expected) => {
  expect(resolveName(kind, name)?.name).toBe(expected);
});

const document = (content: unknown) => [{ name: 'a.json', bytes: Buffer.from(JSON.stringify(content)) }];

test('every source shows the canonical name and keeps its own spelling', () => {
  const tags = ['threat-actor="Sofacy"', 'threat-actor="Stone Panda"', 'mitre-tool="Cobalt Strike - S0154"'];
  const event = mispEvent('a', { Tag: tags.map((name) => ({ name: `misp-galaxy:${name}` })) });
  const { classification } = misp.parse(document(event), { reliability: 0.6 }).records[0]!;
  expect(classification.actor).toMatchObject([
    { name: 'APT28', aliases: expect.arrayContaining(['Sofacy']) },
    { name: 'menuPass', aliases: expect.arrayContaining(['Stone Panda']) },
  ]);
  expect(classification.actor.map(({ aliases }) => aliases[0])).toEqual(['Sofacy', 'Stone Panda']);
  expect(classification.malware).toMatchObject([
    { name: 'Cobalt Strike', aliases: expect.arrayContaining(['Cobalt Strike - S0154']) },
  ]);
  // The list has it as malware, whatever a source calls it.
  expect(classification.mappings.filter(({ framework }) => framework === 'observable:tool')).toEqual([]);
});

test('joins two names of one actor', () => {
  const objects = ['menuPass', 'Stone Panda', 'Red Apollo'].map((name, index) => ({
    type: 'intrusion-set',
    spec_version: '2.1',
    id: `intrusion-set--${index}`,
    created: '2024-01-01T00:00:00Z',
    modified: '2024-01-01T00:00:00Z',
    name,
  }));
  const report = {
    type: 'report',
    id: 'report--1',
    created: '2024-01-01T00:00:00Z',
    name: 'R',
    object_refs: objects.map(({ id }) => id),
  };
  const { records } = stix.parse(document({ type: 'bundle', objects: [report, ...objects] }), { reliability: 0.6 });
  expect(records[0]!.classification.actor).toMatchObject([
    { name: 'menuPass', aliases: expect.arrayContaining(['Stone Panda', 'Red Apollo']) },
  ]);
});

test('takes the number of one publisher for the actor whose names its list shares', () => {
  const { classification } = extractItem({ text: 'Sandworm attacked the power grid with a wiper.' });
  expect(classification.actor).toMatchObject([{ name: 'Sandworm Team' }]);
});
