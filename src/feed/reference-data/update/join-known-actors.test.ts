import { expect, test } from 'vitest';
import { resolveName } from '../../extraction/names/resolve-name.ts';
import { joinKnownActors } from './join-known-actors.ts';
import type { NameRecord } from './merge-names.ts';

const actor = (name: string, ...aliases: string[]): NameRecord => ({ kind: 'actor', name, aliases });
const shared = ['Amber Lynx', 'TEMP.Quarry', 'Cobalt Hill'];
const known = [actor('Group 4711', 'APT900', ...shared), actor('APT901', 'Group 4712')];

test.each<[string, NameRecord, string]>([
  ['an alias with four shared names', actor('APT900', ...shared), 'Group 4711'],
  ['in another spelling', actor('apt-900', 'amber lynx', 'TEMP Quarry', 'COBALT HILL'), 'Group 4711'],
  ['an alias with three shared names', actor('APT900', 'Amber Lynx', 'Cobalt Hill'), 'APT900'],
  ['shared names, but no alias of the known actor', actor('UNC900', 'APT900', ...shared), 'UNC900'],
  ['a main name of both lists', actor('APT901', 'APT900', ...shared), 'APT901'],
  ['malware with the same names', { ...actor('APT900', ...shared), kind: 'malware' }, 'APT900'],
])('%s', (_, record, name) => {
  const [joined] = joinKnownActors([record], known) as [NameRecord];
  expect(joined.name).toBe(name);
  if (name !== record.name) expect(joined.aliases).toEqual([record.name, ...record.aliases]);
});

test('an actor with the former main name as an alias gets the new one as well', () => {
  const other = actor('UNC900', 'APT900', 'Lone Heron');
  expect(joinKnownActors([actor('APT900', ...shared), other], known)[1]).toEqual(actor('UNC900', 'APT900', 'Lone Heron', 'Group 4711')); // prettier-ignore
});

test.each([
  ['APT27', 'Threat Group-3390'],
  ['Emissary Panda', 'Threat Group-3390'],
  ['APT40', 'Leviathan'],
  ['Gingham Typhoon', 'Leviathan'],
  ['Crimson Sandstorm', 'CURIUM'],
  ['APT38', 'APT38'],
  ['Saint Bear', 'Saint Bear'],
  ['UNC215', 'UNC215'],
])('the shipped list calls %s %s', (name, canonical) => {
  expect(resolveName('actor', name)?.name).toBe(canonical);
});
