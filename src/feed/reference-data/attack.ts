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
};

/** The order of an intrusion, and the stage of the kill chain that each tactic belongs to. */
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

/** The tactics that only the matrices for control systems and phones have, beside those above. */
const stageOfOthers: Record<string, KillChainStage> = {
  evasion: 'installation',
  stealth: 'installation',
  'inhibit-response-function': 'actions-on-objectives',
  'impair-process-control': 'actions-on-objectives',
};
const stages = { ...stageByTactic, ...stageOfOthers };
const ranks = new Map(Object.keys(stages).map((name, rank) => [name, rank]));

let current: AttackTable | undefined;
let version = 0;

const table = (): AttackTable => (current ??= readShipped());

function readShipped(): AttackTable {
  const made: AttackTable = { techniques: new Map(), tactics: new Map(), successors: new Map() };
  const list = (text: string): string[] => (text === '' ? [] : text.split(','));
  for (const line of readFileSync(resolve(import.meta.dirname, 'shipped/attack.tsv'), 'utf8').split('\n')) {
    const [kind, id = '', name = '', third = '', fourth = ''] = line.split('\t');
    if (kind === 'technique') made.techniques.set(id, { id, name, tactics: list(third), platforms: list(fourth) });
    if (kind === 'tactic') addTactic(made, { id, name, shortName: third });
    if (kind === 'moved') made.successors.set(id, name);
  }
  return made;
}

function addTactic({ tactics }: AttackTable, tactic: Omit<Tactic, 'rank'>): void {
  tactics.set(tactic.shortName, { ...tactic, rank: ranks.get(tactic.shortName) ?? ranks.size });
}

/** Lays facts over those that are shipped, for this process or thread. Of tactics that several matrices have, the shipped one (enterprise) stays. */
export function useInstalledAttack(attack: AttackFile | undefined): void {
  const made = readShipped();
  for (const tactic of attack?.tactics ?? []) if (!made.tactics.has(tactic.shortName)) addTactic(made, tactic);
  for (const { id, name, tactics, platforms, revokedBy, deprecated } of attack?.techniques ?? []) {
    if (revokedBy) made.successors.set(id, revokedBy);
    else if (!deprecated) made.techniques.set(id, { id, name, tactics, platforms });
    if (revokedBy || deprecated) made.techniques.delete(id);
  }
  for (const id of made.successors.keys()) made.techniques.delete(id);
  current = made;
  version += 1;
}

/** Makes something of all techniques once, and again after other facts were laid over them. */
export function cacheFromTechniques<T>(make: (all: Technique[]) => T): () => T {
  let made: { version: number; value: T } | undefined;
  return () => {
    if (made?.version !== version) made = { version, value: make(listTechniques()) };
    return made.value;
  };
}

/** The technique in the facts that are used; a revoked id answers with its successor, an unknown or deprecated one with nothing. */
export function findTechnique(id: string): Technique | undefined {
  const { techniques, successors } = table();
  let at = id.trim().toUpperCase();
  // A chain of successors is short; the bound only guards against a loop in the data.
  for (let step = 0; step < 5 && successors.has(at); step += 1) at = successors.get(at)!;
  return techniques.get(at);
}

/** All techniques of the facts that are used. */
export const listTechniques = (): Technique[] => [...table().techniques.values()];

/** By short name as in kill chain phases (`initial-access`). */
export const findTactic = (shortName: string): Tactic | undefined => table().tactics.get(shortName);

/** The technique that a sub-technique belongs to, itself for others. */
export const getParentTechniqueId = (id: string): string => id.split('.')[0]!;

/** Kill chain stages of tactics, in their order, each once. */
export function listKillChainStages(shortNames: Iterable<string>): KillChainStage[] {
  const found = new Set([...shortNames].map((name) => ownValue(stages, name)));
  return killChainStages.filter((stage) => found.has(stage));
}
