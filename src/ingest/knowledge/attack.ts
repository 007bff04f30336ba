import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { killChainStages, type KillChainStage } from '../../feed/vocabulary.ts';

export type Technique = { id: string; name: string; tactics: string[]; platforms: string[] };
export type Tactic = { id: string; name: string; shortName: string; rank: number };

const techniques = new Map<string, Technique>();
const tactics = new Map<string, Tactic>();
const successors = new Map<string, string>();

for (const line of readFileSync(resolve(import.meta.dirname, 'attack.tsv'), 'utf8').split('\n')) {
  const [kind, id = '', name = '', third = '', fourth = ''] = line.split('\t');
  if (kind === 'technique') techniques.set(id, { id, name, tactics: list(third), platforms: list(fourth) });
  if (kind === 'tactic') tactics.set(third, { id, name, shortName: third, rank: 0 });
  if (kind === 'moved') successors.set(id, name);
}

function list(text: string): string[] {
  return text === '' ? [] : text.split(',');
}

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

for (const [rank, shortName] of Object.keys(stageByTactic).entries()) {
  const tactic = tactics.get(shortName);
  if (tactic) tactic.rank = rank;
}

/** The technique of the pinned ATT&CK version; a revoked id answers with its successor, an unknown or deprecated one with nothing. */
export function findTechnique(id: string): Technique | undefined {
  let at = id.trim().toUpperCase();
  // A chain of successors is short; the bound only guards against a loop in the data.
  for (let step = 0; step < 5 && successors.has(at); step += 1) at = successors.get(at)!;
  return techniques.get(at);
}

/** All techniques of the pinned version. */
export const listTechniques = (): Technique[] => [...techniques.values()];

/** By short name as in kill chain phases (`initial-access`). */
export const findTactic = (shortName: string): Tactic | undefined => tactics.get(shortName);

/** The technique that a sub-technique belongs to, itself for others. */
export const parentTechnique = (id: string): string => id.split('.')[0]!;

/** Kill chain stages of tactics, in their order, each once. */
export function killChainOf(shortNames: Iterable<string>): KillChainStage[] {
  const found = new Set([...shortNames].map((name) => stageByTactic[name]));
  return killChainStages.filter((stage) => found.has(stage));
}
