import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AttackFile, NamesFile } from './reference-files.ts';
import { toNameKind, formatNameTable, mergeNames, type NameRecord } from './update/merge-names.ts';
import { joinKnownActors } from './update/join-known-actors.ts';
import { nameKey } from './name-forms.ts';

export const readShippedNameTable = (): string =>
  readFileSync(resolve(import.meta.dirname, 'shipped/names.tsv'), 'utf8');

/** Lists the names of ATT&CK, then those of MISP galaxy, whose actors have the main names that ATT&CK and `shipped` give them. */
export function listNameRecords(
  attack: AttackFile | undefined,
  names: NamesFile | undefined,
  shipped: NameRecord[] = [],
): NameRecord[] {
  const ofAttack = [
    ...(attack?.groups ?? []).map(({ name, aliases }): NameRecord => ({ kind: 'actor', name, aliases })),
    ...(attack?.software ?? []).map(({ name, aliases, type }): NameRecord => ({ kind: type, name, aliases })),
  ];
  const ofGalaxy = (names?.names ?? []).map(({ name, aliases, kind }): NameRecord => ({
    kind: toNameKind(kind),
    name,
    aliases,
  }));
  return [...ofAttack, ...joinKnownActors(ofGalaxy, [...shipped, ...ofAttack])];
}

/** Merges installed names into the shipped table. Shipped entries keep their main names and cue marks. */
export function buildNameTable(attack: AttackFile | undefined, names: NamesFile | undefined): string {
  const table = readShippedNameTable();
  if (!attack && !names) return table;
  const cueMarks = new Map<string, boolean>();
  const form = (marked: string): string => {
    const bare = marked.replace(/^!/, '');
    cueMarks.set(nameKey(bare), marked !== bare);
    return bare;
  };
  const shipped = table
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line): NameRecord => {
      const [kind = '', name = '', aliases = ''] = line.split('\t');
      return { kind: toNameKind(kind), name: form(name), aliases: aliases.split('|').filter(Boolean).map(form) };
    });
  return formatNameTable(mergeNames([...shipped, ...listNameRecords(attack, names, shipped)]), (key) =>
    cueMarks.get(key),
  ).join('\n');
}
