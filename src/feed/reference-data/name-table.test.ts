import { expect, test } from 'vitest';
import { readRecordedAttack, readRecordedNames } from '../../../quality/prose/recorded-lists.ts';
import { resolveName } from '../extraction/names/dictionary/resolve-name.ts';
import { dataDir as recorded } from '../../../test/support/data.ts';
import { getShippedNames, parseNameTable } from '../extraction/names/dictionary/name-dictionary.ts';
import { readShippedAttackNames } from './attack.ts';
import { buildNameTable, mergeNames } from './name-table.ts';
import type { NameRecord } from './join-entries.ts';

const record = (kind: NameRecord['kind'], name: string, aliases: string[], id?: string): NameRecord => ({ kind, name, aliases, id }); // prettier-ignore
const actor = (name: string, ...aliases: string[]): NameRecord => record('actor', name, aliases);
const group = (id: string, name: string, ...aliases: string[]): NameRecord => record('actor', name, aliases, id);
const malware = (name: string, ...aliases: string[]): NameRecord => record('malware', name, aliases);
const tool = (name: string, ...aliases: string[]): NameRecord => record('tool', name, aliases);

const quarry = group('G9001', 'Quarry Group', 'Slate Heron');
const lynx = group('G9002', 'Lynx 7', 'Amber Lynx');

test.each<[string, NameRecord[], Record<string, string[]>]>([
  [
    'an entry that names two ATT&CK groups belongs to the one with its own name',
    [quarry, lynx, actor('Lynx 7', 'Quarry Group', 'Slate Heron', 'Cobalt Hill')],
    { 'Quarry Group': ['Slate Heron'], 'Lynx 7': ['Amber Lynx', 'Cobalt Hill'] },
  ],
  [
    'and without it to the one with most names in common',
    [quarry, lynx, actor('Copper Storm', 'Quarry Group', 'Lynx 7', 'Amber Lynx')],
    { 'Quarry Group': ['Slate Heron'], 'Lynx 7': ['Amber Lynx', 'Copper Storm'] },
  ],
  [
    'or stays alone if both have as many',
    [quarry, lynx, actor('Copper Storm', 'Quarry Group', 'Lynx 7', 'TEMP.Ore')],
    { 'Quarry Group': ['Slate Heron'], 'Lynx 7': ['Amber Lynx'], 'Copper Storm': ['TEMP.Ore'] },
  ],
  [
    'the stated id decides',
    [quarry, lynx, actor('Copper Storm', 'G9002')],
    { 'Quarry Group': ['Slate Heron'], 'Lynx 7': ['Amber Lynx', 'Copper Storm'] },
  ],
  [
    'an actor whose name ATT&CK lists as an alias belongs to that group',
    [quarry, actor('slate-heron', 'UNC9000'), actor('Copper Storm', 'SLATE HERON', 'Quarry Group')],
    { 'Quarry Group': ['Slate Heron', 'UNC9000', 'Copper Storm'] },
  ],
  [
    'ATT&CK merges a group by listing its name',
    [group('G9000', 'Old Quarry'), group('G9001', 'Quarry Group', 'Old Quarry', 'Slate Heron')],
    { 'Quarry Group': ['Old Quarry', 'Slate Heron'] },
  ],
  [
    'a group that another list joins with a second actor',
    [group('G9003', 'TA900'), actor('FIN90', 'UNC900'), actor('Lace Storm', 'TA900', 'FIN90')],
    { TA900: [], FIN90: ['UNC900'], 'Lace Storm': ['FIN90'] },
  ],
  [
    'a group keeps apart from an actor that only another list adds to it',
    [quarry, actor('Quarry Group', 'APT900'), actor('APT900', '1.ore Group')],
    { 'Quarry Group': ['Slate Heron', 'APT900'], APT900: ['1.ore Group'] },
  ],
  [
    'actors of other lists with one name as the only alias',
    [actor('Copper Storm', 'Amber Lynx'), actor('Amber Lynx', 'TEMP.Ore')],
    { 'Copper Storm': ['Amber Lynx', 'TEMP.Ore'] },
  ],
  [
    'a name precedes designators',
    [actor('Storm-9001', 'Copper Storm'), actor('Copper Storm', 'Storm-9001')],
    { 'Copper Storm': ['Storm-9001'] },
  ],
  [
    'the name of most lists precedes',
    [actor('Ore Team', 'Quarry'), actor('Quarry', 'Ore Team'), actor('Quarry', 'Ore Team')],
    { Quarry: ['Ore Team'] },
  ],
  [
    'a designator of a rare series yields to a well-known series',
    [
      actor('UTA900', 'Red Ore 61', 'UNC900'),
      ...Array.from({ length: 10 }, (_, index) => actor(`UNC80${index}`)),
      actor('TAG-90', 'DEV-9000'),
    ],
    { UNC900: ['UTA900', 'Red Ore 61'], 'TAG-90': ['DEV-9000'] },
  ],
  [
    'a slug has the spelling of another name, or spaces',
    [malware('orebot'), malware('zorb_loader', 'ZorbLoader'), malware('two_words'), tool('OreBot')],
    { OreBot: [], ZorbLoader: [], 'two words': [] },
  ],
  ['placeholders are left out', [malware('unidentified_002'), malware('Unidentified 013 (Korean)')], {}],
  [
    'malware and a tool of which one has the name of the other',
    [malware('zorb_c4'), record('tool', 'Zorb C4 Kit', ['BRc9'], 'S9001'), malware('Zorb C4 Kit', 'ZorbC4')],
    { 'Zorb C4 Kit': ['BRc9', 'ZorbC4'] },
  ],
  [
    'malware families of which only one names the other',
    [malware('Zorb', 'Vexer'), malware('Vexer', 'Vexnib')],
    { Zorb: ['Vexer'], Vexer: ['Vexnib'] },
  ],
  [
    'malware families that name each other',
    [malware('Zorb', 'Vexer'), malware('Vexer', 'Zorb', 'Vexnib')],
    { Zorb: ['Vexer', 'Vexnib'] },
  ],
  [
    'a group and malware with the same name',
    [group('G9004', 'Anvil', 'Forge'), record('malware', 'Anvil', ['Sekur'], 'S9002'), actor('Anvil', 'Hammer')],
    { Anvil: ['Forge', 'Hammer', 'Sekur'] },
  ],
])('%s', (_, records, expected) => {
  const merged: Record<string, string[]> = {};
  for (const { name, aliases } of mergeNames(records)) merged[name] = [...(merged[name] ?? []), ...aliases];
  expect(Object.fromEntries(Object.entries(merged).filter(([name]) => !name.startsWith('UNC80')))).toEqual(expected);
});

test.each([
  ['APT41', 'APT41'],
  ['BARIUM', 'APT41'],
  ['Winnti Group', 'Winnti Group'],
  ['FIN7', 'FIN7'],
  ['Sangria Tempest', 'FIN7'],
  ['Carbanak', 'Carbanak'],
  ['Anunak', 'Carbanak'],
  ['APT17', 'APT17'],
  ['Axiom', 'Axiom'],
  ['APT19', 'APT19'],
  ['SideCopy', 'SideCopy'],
  ['Earth Lusca', 'Earth Lusca'],
  ['UTA0178', 'UNC5221'],
  ['APT24', 'PittyTiger'],
  ['ALLANITE', 'ALLANITE'],
  ['Moonstone Sleet', 'Moonstone Sleet'],
  ['海莲花 - APT-C-00', 'APT32'],
  ['APT-C-13', 'Sandworm Team'],
  ['APT27', 'Threat Group-3390'],
  ['Emissary Panda', 'Threat Group-3390'],
  ['APT40', 'Leviathan'],
  ['Gingham Typhoon', 'Leviathan'],
  ['Crimson Sandstorm', 'CURIUM'],
  ['APT38', 'APT38'],
  ['Bluenoroff', 'APT38'],
  ['NOBELIUM', 'APT29'],
  ['APT34', 'OilRig'],
  ['APT35', 'Magic Hound'],
  ['APT42', 'APT42'],
  ['APT43', 'Kimsuky'],
  ['FIN11', 'FIN11'],
  ['TA505', 'TA505'],
  ['Saint Bear', 'Saint Bear'],
  ['Sandworm', 'Sandworm Team'],
  ['Octo Tempest', 'Scattered Spider'],
])('the shipped list calls actor %s %s', (name, canonical) => {
  expect(resolveName('actor', name)?.name).toBe(canonical);
});

test.each([
  ['brute_ratel', 'Brute Ratel C4'],
  ['win.brute_ratel_c4', 'Brute Ratel C4'],
  ['bugsleep', 'BugSleep'],
  ['donut_injector', 'Donut'],
  ['Carbanak', 'Carbanak'],
  ['Sodinokibi', 'REvil'],
])('the shipped list calls software %s %s', (name, canonical) => {
  expect(resolveName('malware', name)?.name).toBe(canonical);
});

test('the shipped list has a main name for each ATT&CK entry, without slugs and placeholders', () => {
  const entities = [...getShippedNames().values()].flatMap((entry) => entry.entities);
  const groups = readShippedAttackNames()
    .filter(({ id }) => id.startsWith('G'))
    .map(({ name }) => name);
  // ATT&CK lists the names of these six as aliases of others.
  const former = ['UNC2452', 'Thrip', 'MONSOON', 'APT34', 'Charming Kitten', 'LuminousMoth'];
  const mains = new Set(entities.filter(({ kind }) => kind === 'actor').map(({ name }) => name));
  expect(groups.filter((name) => !mains.has(name)).toSorted()).toEqual(former.toSorted());
  expect([...new Set(entities.map(({ name }) => name))].filter((name) => /^unidentified/i.test(name) || /^[a-z0-9_]*_[a-z0-9_]*$/.test(name))).toEqual(['build_downer', 'down_new']); // prettier-ignore
});

test('installed names follow the same rule', () => {
  const names = {
    names: [{ kind: 'threat-actor', name: 'FIN7', aliases: ['Carbanak', 'Anunak', 'G0008', 'Zorb Spider'] }],
  };
  const lines = buildNameTable(undefined, names).split('\n');
  const line = (name: string): string | undefined => lines.find((one) => one.startsWith(`actor\t${name}\t`));
  expect(line('FIN7')).toMatch(/\|Zorb Spider/);
  expect(line('FIN7')).not.toMatch(/Carbanak|Anunak/);
  expect(line('Carbanak')).not.toMatch(/Zorb/);
});

test('an installed name of ATT&CK replaces the shipped one', () => {
  const attack = {
    tactics: [],
    techniques: [],
    groups: [{ id: 'G0046', name: 'Zorb Spider', aliases: ['FIN7'] }],
    software: [],
  };
  expect(buildNameTable(attack, undefined)).toMatch(/^actor\tZorb Spider\tFIN7\|/m);
});

test.skipIf(!recorded())('installing the lists of which the shipped table is made changes no canonical name', () => {
  const installed = parseNameTable(buildNameTable(readRecordedAttack(), readRecordedNames()));
  const shipped = getShippedNames();
  const forms = [...shipped.values()].map(({ printed }) => printed);
  expect(forms.length).toBeGreaterThan(10_000);
  for (const kind of ['actor', 'malware'] as const)
    expect(forms.map((form) => resolveName(kind, form, { dictionary: installed })?.name)).toEqual(
      forms.map((form) => resolveName(kind, form)?.name),
    );
});
