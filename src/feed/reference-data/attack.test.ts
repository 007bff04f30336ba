import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { dataDir } from '../../../test/support/data.ts';
import {
  findTactic,
  findTechnique,
  getAttackVersion,
  listKillChainStages,
  listTactics,
  listTechniques,
  useInstalledAttack,
} from './attack.ts';

afterEach(() => useInstalledAttack(undefined));

const technique = (id: string, tactics: string[]) => ({ id, name: `Technique ${id}`, tactics, platforms: ['windows'] });
const namesOf = (): string[] => listTactics().map(({ shortName }) => shortName);

const file = dataDir() && join(dataDir()!, 'knowledge/attack-19.json');

test.skipIf(!file || !existsSync(file))(
  'the shipped table has the tactics, techniques and successors of version 19',
  () => {
    const published = JSON.parse(readFileSync(file!, 'utf8'));
    expect(listTactics()).toMatchObject(published.tactics);
    const techniques = new Map(published.techniques.map((one: { id: string }) => [one.id, one]));
    for (const { id, name, tactics } of listTechniques()) expect(techniques.get(id)).toMatchObject({ name, tactics });
    for (const { id, revokedBy } of published.techniques)
      if (revokedBy) expect(findTechnique(id), id).toEqual(findTechnique(revokedBy));
  },
);

test('every shipped technique has a tactic, and every tactic a stage of the kill chain', () => {
  for (const { id, tactics } of listTechniques())
    expect(
      tactics.flatMap((name) => findTactic(name) ?? []),
      id,
    ).not.toEqual([]);
  for (const { shortName, stage } of listTactics()) expect(stage, shortName).toBeDefined();
});

test('the tactic of an earlier version is found, and revoked techniques lead to their successors', () => {
  expect(findTactic('defense-evasion')).toMatchObject({ id: 'TA0005', shortName: 'stealth' });
  expect(listKillChainStages(['defense-evasion'])).toEqual(['installation']);
  expect(findTechnique('T1562.008')).toMatchObject({ id: 'T1685.002', tactics: ['defense-impairment'] });
});

test('a later version renames, adds and orders tactics without a change of the program', () => {
  const before = namesOf();
  useInstalledAttack({
    attackVersion: '20.1',
    tactics: [
      { id: 'TA0001', name: 'Initial Access', shortName: 'initial-access' },
      { id: 'TA0200', name: 'Foothold', shortName: 'foothold' },
      { id: 'TA0005', name: 'Hiding', shortName: 'hiding' },
    ],
    techniques: [technique('T9001', ['foothold']), technique('T9002', ['stealth', 'defense-evasion'])],
    groups: [],
    software: [],
  });
  const expected = before.map((name) => (name === 'stealth' ? 'hiding' : name));
  expected.splice(expected.indexOf('initial-access') + 1, 0, 'foothold');
  expect(namesOf()).toEqual(expected);
  expect(findTactic('defense-evasion')).toMatchObject({ id: 'TA0005', name: 'Hiding', stage: 'installation' });
  expect(listKillChainStages(findTechnique('T9001')!.tactics)).toEqual(['delivery']);
  expect(findTechnique('T9002')?.tactics).toEqual(['hiding']);
  expect(getAttackVersion()).toBe('20.1');
});

test('installed data of an earlier version changes nothing that the shipped version has', () => {
  const before = [namesOf(), listTechniques().length];
  useInstalledAttack({
    attackVersion: '18.1',
    tactics: [
      { id: 'TA0005', name: 'Defense Evasion', shortName: 'defense-evasion' },
      { id: 'TA0106', name: 'Impair Process Control', shortName: 'impair-process-control' },
    ],
    techniques: [technique('T1562.001', ['defense-evasion']), technique('T0806', ['impair-process-control'])],
    groups: [],
    software: [],
  });
  const known = namesOf().filter((name) => name !== 'impair-process-control');
  expect([known, listTechniques().length - 1]).toEqual(before);
  expect(findTechnique('T1562.001')?.id).toBe('T1685');
  expect(findTactic('impair-process-control')).toMatchObject({ id: 'TA0106', stage: 'actions-on-objectives' });
  expect(getAttackVersion()).toBe('19');
});
