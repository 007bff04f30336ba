import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ownValue } from '../../platform/lib/own-value.ts';
import type { AttackFile } from './reference-files.ts';
import { killChainStages, type KillChainStage } from '../model/vocabulary.ts';

export type Technique = { id: string; name: string; tactics: string[]; platforms: string[] };
export type Tactic = { id: string; name: string; shortName: string; rank: number };

type AttackTable = {
  techniques: Map<string, Technique>;
  tactics: Map<string, Tactic>;
  successors: Map<string, string>;
  /** Names of groups and software by id. */
  names: Map<string, string>;
};

/** A group or software. The id begins with G or S. */
export type AttackName = { id: string; name: string; aliases: string[] };

/** Kill chain stages by tactic, in the order of an intrusion. */
const stageByTactic: Record<string, KillChainStage> = {
  reconnaissance: 'reconnaissance',
  'resource-development': 'weaponization',
  'initial-access': 'delivery',
  execution: 'exploitation',
  persistence: 'installation',
  'privilege-escalation': 'exploitation',
  'defense-evasion': 'installation',
  'credential-access': 'actions-on-objectives',
  discovery: 'actions-on-objectives',
  'lateral-movement': 'actions-on-objectives',
  collection: 'actions-on-objectives',
  'command-and-control': 'command-and-control',
  exfiltration: 'actions-on-objectives',
  impact: 'actions-on-objectives',
};

/** Tactics that occur only in the ICS and mobile matrices. */
const stageByOtherTactic: Record<string, KillChainStage> = {
  evasion: 'installation',
  stealth: 'installation',
  'inhibit-response-function': 'actions-on-objectives',
  'impair-process-control': 'actions-on-objectives',
};
const stages = { ...stageByTactic, ...stageByOtherTactic };
const ranks = new Map(Object.keys(stages).map((name, rank) => [name, rank]));

// The one exception to "no module state": every parser and extractor reads this table, in each thread. It is parsed at the first use
// and replaced at most once, by `useInstalledAttack` when the process or thread starts.
let current: AttackTable | undefined;
let version = 0;

const getTable = (): AttackTable => (current ??= readShipped());

function readShipped(): AttackTable {
  const table: AttackTable = {
    techniques: new Map(),
    tactics: new Map(),
    successors: new Map(),
    names: new Map(),
  };
  const list = (text: string): string[] => (text === '' ? [] : text.split(','));
  for (const [kind, id = '', name = '', third = '', fourth = ''] of readShippedRows()) {
    if (kind === 'technique') table.techniques.set(id, { id, name, tactics: list(third), platforms: list(fourth) });
    if (kind === 'tactic') addTactic(table, { id, name, shortName: third });
    if (kind === 'moved') table.successors.set(id, name);
  }
  for (const { id, name } of readShippedAttackNames()) table.names.set(id, name);
  return table;
}

let shippedNames: Map<string, string> | undefined;

/** Returns the name of a technique in the release, without installed data, by its id. */
export function findShippedTechniqueName(id: string): string | undefined {
  shippedNames ??= new Map([...readShipped().techniques.values()].map((technique) => [technique.id, technique.name]));
  return shippedNames.get(id);
}

const readShippedRows = (): string[][] =>
  readFileSync(resolve(import.meta.dirname, 'shipped/attack.tsv'), 'utf8')
    .split('\n')
    .map((line) => line.split('\t'));

/** Returns the groups and software as the release has them, without installed data. */
export const readShippedAttackNames = (): AttackName[] =>
  readShippedRows()
    .filter(([kind]) => kind === 'group' || kind === 'software')
    .map(([, id = '', name = '', aliases = '']) => ({ id, name, aliases: aliases.split('|').filter(Boolean) }));

function addTactic({ tactics }: AttackTable, tactic: Omit<Tactic, 'rank'>): void {
  tactics.set(tactic.shortName, { ...tactic, rank: ranks.get(tactic.shortName) ?? ranks.size });
}

/**
 * Merges installed ATT&CK data over the shipped data, for this process or thread. Without data it restores the shipped data. If
 * several matrices share a tactic, the shipped (Enterprise) one is kept.
 */
export function useInstalledAttack(attack: AttackFile | undefined): void {
  const table = readShipped();
  for (const tactic of attack?.tactics ?? []) if (!table.tactics.has(tactic.shortName)) addTactic(table, tactic);
  for (const { id, name, tactics, platforms, revokedBy, deprecated } of attack?.techniques ?? []) {
    if (revokedBy) table.successors.set(id, revokedBy);
    else if (!deprecated) table.techniques.set(id, { id, name, tactics, platforms });
    if (revokedBy || deprecated) table.techniques.delete(id);
  }
  for (const id of table.successors.keys()) table.techniques.delete(id);
  for (const { id, name } of [...(attack?.groups ?? []), ...(attack?.software ?? [])])
    if (id) table.names.set(id, name);
  current = table;
  version += 1;
}

/** Returns a getter that derives a value from all techniques and caches it until the ATT&CK data changes. */
export function cacheFromTechniques<T>(derive: (techniques: Technique[]) => T): () => T {
  let cached: { version: number; value: T } | undefined;
  return () => {
    if (cached?.version !== version) cached = { version, value: derive(listTechniques()) };
    return cached.value;
  };
}

/** Finds a technique by id. A revoked id returns its successor, an unknown or deprecated id undefined. */
export function findTechnique(id: string): Technique | undefined {
  const { techniques, successors } = getTable();
  let currentId = id.trim().toUpperCase();
  // Chains of successors are short. The limit guards against a loop in the data.
  for (let step = 0; step < 5 && successors.has(currentId); step += 1) currentId = successors.get(currentId)!;
  return techniques.get(currentId);
}

const nameId = /(?:^|[\s([])([GS]\d{4})[\])]?$/i;

/**
 * Finds the name of the group or software whose id a text is, or ends with: `G0045`, `Cobalt Strike - S0154`, `APT28 (G0007)`. Returns undefined
 * for an unknown id and for a text without one.
 */
export function findAttackName(text: string): { id: string; name: string; isGroup: boolean } | undefined {
  const id = nameId.exec(text.trim())?.[1]?.toUpperCase();
  const name = id === undefined ? undefined : getTable().names.get(id);
  return id === undefined || name === undefined ? undefined : { id, name, isGroup: id.startsWith('G') };
}

export const listTechniques = (): Technique[] => [...getTable().techniques.values()];

export const listTactics = (): Tactic[] => [...getTable().tactics.values()];

/** Finds a tactic by its short name as in kill chain phases (`initial-access`). */
export const findTactic = (shortName: string): Tactic | undefined => getTable().tactics.get(shortName);

/** Returns the parent id of a sub-technique id, or the id itself. */
export const getParentTechniqueId = (id: string): string => id.split('.')[0]!;

/** Returns the distinct kill chain stages of tactics, in stage order. */
export function listKillChainStages(shortNames: Iterable<string>): KillChainStage[] {
  const found = new Set([...shortNames].map((name) => ownValue(stages, name)));
  return killChainStages.filter((stage) => found.has(stage));
}
