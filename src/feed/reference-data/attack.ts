import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AttackFile } from './reference-files.ts';
import { killChainStages, type KillChainStage } from '../model/vocabulary.ts';

export type Technique = { id: string; name: string; tactics: string[]; platforms: string[] };
/** `rank` orders tactics as the matrix does. `stage` is the stage of the kill chain. */
export type Tactic = { id: string; name: string; shortName: string; rank: number; stage: KillChainStage | undefined };

type AttackTable = {
  version: string;
  techniques: Map<string, Technique>;
  /** Tactics by short name. */
  tactics: Map<string, Tactic>;
  /** Current short names of tactics by the one that an earlier version had. */
  renamedTactics: Map<string, string>;
  /** Kill chain stages by the id of a tactic, those of the ICS matrix included. */
  stages: Map<string, KillChainStage>;
  successors: Map<string, string>;
  /** Names of groups and software by id. */
  names: Map<string, string>;
};

/** A group or software. The id begins with G or S. */
type AttackName = { id: string; name: string; aliases: string[] };

// The one exception to "no module state": every parser and extractor reads this table, in each thread. It is parsed at the first use
// and replaced at most once, by `useInstalledAttack` when the process or thread starts.
let current: AttackTable | undefined;
let version = 0;

const getTable = (): AttackTable => (current ??= readShipped());

function readShipped(): AttackTable {
  const table: AttackTable = {
    version: '',
    techniques: new Map(),
    tactics: new Map(),
    renamedTactics: new Map(),
    stages: new Map(),
    successors: new Map(),
    names: new Map(),
  };
  const list = (text: string): string[] => (text === '' ? [] : text.split(','));
  for (const [kind, id = '', name = '', third = '', fourth = ''] of readShippedRows()) {
    if (kind === 'version') table.version = id;
    if (kind === 'technique') table.techniques.set(id, { id, name, tactics: list(third), platforms: list(fourth) });
    if (kind === 'stage') table.stages.set(id, name as KillChainStage);
    if (kind === 'tactic') {
      const rank = table.tactics.size;
      table.tactics.set(third, { id, name, shortName: third, rank, stage: table.stages.get(id) });
    }
    if (kind === 'renamed') table.renamedTactics.set(id, name);
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

/**
 * Merges installed ATT&CK data over the shipped data, for this process or thread. Without data it restores the shipped data. Data of an older
 * version only adds what the shipped one does not have, such as another matrix. If several matrices share a tactic, the shipped (Enterprise)
 * one is kept.
 */
export function useInstalledAttack(attack: AttackFile | undefined): void {
  const table = readShipped();
  const isOlder = compareVersions(attack?.attackVersion, table.version) < 0;
  if (attack?.attackVersion !== undefined && !isOlder) table.version = attack.attackVersion;
  mergeTactics(table, attack?.tactics ?? [], isOlder);
  for (const { id, name, tactics, platforms, revokedBy, deprecated } of attack?.techniques ?? []) {
    if (isOlder && (table.techniques.has(id) || table.successors.has(id))) continue;
    if (revokedBy) table.successors.set(id, revokedBy);
    else if (!deprecated) table.techniques.set(id, { id, name, tactics, platforms });
    if (revokedBy || deprecated) table.techniques.delete(id);
  }
  for (const id of table.successors.keys()) table.techniques.delete(id);
  for (const technique of table.techniques.values())
    technique.tactics = [...new Set(technique.tactics.map((name) => findCurrent(table.renamedTactics, name)))];
  for (const { id, name } of [...(attack?.groups ?? []), ...(attack?.software ?? [])])
    if (id) table.names.set(id, name);
  current = table;
  version += 1;
}

/** Follows the successors of an id or a name to the current one. The limit guards against a loop in the data. */
function findCurrent(successors: ReadonlyMap<string, string>, name: string): string {
  let current = name;
  for (let step = 0; step < 5 && successors.has(current); step += 1) current = successors.get(current)!;
  return current;
}

/** A new tactic is behind the one that is before it in the list, and in the same stage of the kill chain if its own is not known. */
function mergeTactics(
  { tactics: merged, renamedTactics, stages }: AttackTable,
  tactics: AttackFile['tactics'],
  isOlder: boolean,
): void {
  let before: Tactic | undefined;
  for (const { id, name, shortName } of tactics) {
    const known = [...merged.values()].find((tactic) => tactic.id === id);
    const sharing = known ?? merged.get(findCurrent(renamedTactics, shortName));
    if (known && !isOlder && known.shortName !== shortName) {
      merged.delete(known.shortName);
      renamedTactics.set(known.shortName, shortName);
    }
    const rank = (before?.rank ?? merged.size) + 0.01;
    const added = { rank, stage: stages.get(id) ?? before?.stage, ...known, id, name, shortName };
    before = sharing && (isOlder || !known) ? sharing : added;
    merged.set(before.shortName, before);
  }
}

/** Compares versions such as `18.1` by number. A version that is not known counts as the newest. */
function compareVersions(version: string | undefined, other: string): number {
  return version === undefined ? 1 : version.localeCompare(other, 'en', { numeric: true });
}

/** Returns the version of ATT&CK that is in use, such as `19`. */
export const getAttackVersion = (): string => getTable().version;

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
  return techniques.get(findCurrent(successors, id.trim().toUpperCase()));
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

/** Returns the tactics in the order of the matrix. */
export const listTactics = (): Tactic[] => [...getTable().tactics.values()].toSorted((a, b) => a.rank - b.rank);

/** Finds a tactic by its short name as in kill chain phases (`initial-access`), also by one that an earlier version had. */
export function findTactic(shortName: string): Tactic | undefined {
  const table = getTable();
  return table.tactics.get(findCurrent(table.renamedTactics, shortName));
}

/** Returns the parent id of a sub-technique id, or the id itself. */
export const getParentTechniqueId = (id: string): string => id.split('.')[0]!;

/** Returns the distinct kill chain stages of tactics, in stage order. */
export function listKillChainStages(shortNames: Iterable<string>): KillChainStage[] {
  const found = new Set([...shortNames].map((name) => findTactic(name)?.stage));
  return killChainStages.filter((stage) => found.has(stage));
}
