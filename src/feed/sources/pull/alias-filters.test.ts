import { expect, test } from 'vitest';
import { fileSource } from '../../../../test/support/feed/kev-source.ts';
import { startApp } from '../../../../test/support/harness.ts';

const app = await startApp();
const org = await app.newOrg();
const source = await fileSource(app, org, { kind: 'stix' });

const created = '2024-01-01T00:00:00.000Z';
/** One report per name, with the name as its title. */
const stated = [
  ['intrusion-set', 'Stone Panda'],
  ['intrusion-set', 'menuPass'],
  ['threat-actor', 'APT10'],
  ['intrusion-set', 'menuPass - G0045'],
  ['intrusion-set', 'G0045'],
  ['intrusion-set', 'A new spelling (g0045)'],
  ['threat-actor', 'UAC-0010'],
  ['intrusion-set', 'Gamaredon'],
  ['intrusion-set', 'GADOLINIUM'],
  ['intrusion-set', 'APT40'],
  ['intrusion-set', 'Leviathan'],
  ['intrusion-set', 'APT27'],
  ['intrusion-set', 'Iron Tiger'],
  ['intrusion-set', 'Emissary Panda'],
  ['malware', 'Cobalt Strike'],
  ['malware', 'win.cobalt_strike'],
  ['tool', 'Cobalt Strike - S0154'],
  ['malware', 'Agenda'],
  ['malware', 'Qilin'],
  ['tool', 'mimikatz'],
  ['tool', 'Mimikatz - S0002'],
  ['malware', 's0154'],
] as const;
const objects = stated.flatMap(([type, name], index) => {
  const base = { spec_version: '2.1', created, modified: created, name };
  const id = `${type}--${index}`;
  return [
    { ...base, type, id, ...(type === 'malware' ? { is_family: true } : {}) },
    { ...base, type: 'report', id: `report--${index}`, published: created, object_refs: [id] },
  ];
});
await source.pull({ type: 'bundle', id: 'bundle--1', objects });

const menuPass = ['A new spelling (g0045)', 'APT10', 'G0045', 'Stone Panda', 'menuPass', 'menuPass - G0045'];
const gamaredon = ['Gamaredon', 'UAC-0010'];
const leviathan = ['APT40', 'GADOLINIUM', 'Leviathan'];
const apt27 = ['APT27', 'Emissary Panda', 'Iron Tiger'];
const cobaltStrike = ['Cobalt Strike', 'Cobalt Strike - S0154', 's0154', 'win.cobalt_strike'];
const qilin = ['Agenda', 'Qilin'];
const mimikatz = ['Mimikatz - S0002', 'mimikatz'];

test.each([
  ['actor', [...menuPass, 'stonepanda', 'STONE PANDA', 'Red Apollo', 'G0045', 'g0045'], menuPass],
  ['actor', [...gamaredon, 'uac-0010', 'Gamaredon Group', 'Primitive Bear'], gamaredon],
  ['actor', [...leviathan, 'Gingham Typhoon', 'TEMP.Periscope'], leviathan],
  ['actor', [...apt27, 'Threat Group-3390', 'LuckyMouse', 'Bronze Union'], apt27],
  ['malware', [...cobaltStrike, 'CobaltStrike', 'S0154'], cobaltStrike],
  ['malware', qilin, qilin],
  ['tool', mimikatz, mimikatz],
  ['tool', cobaltStrike, cobaltStrike],
  ['actor', ['Cobalt Strike', 'Panda'], []],
])('%s=… finds every spelling: %s', async (parameter, spellings, titles) => {
  for (const spelling of spellings) {
    const { status, body } = await org.call('GET', `/items?${new URLSearchParams({ [parameter]: spelling })}`);
    expect(status).toBe(200);
    const found = body.items.map(({ event }: { event: { title: string } }) => event.title);
    expect(found.toSorted(), spelling).toEqual(titles);
  }
});
