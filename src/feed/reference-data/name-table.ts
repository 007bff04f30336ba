import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AttackFile, NamesFile } from './reference-files.ts';
import { toNameKind, formatNameTable, mergeNames } from './merge-names.ts';
import type { NameRecord } from './join-entries.ts';
import { readShippedAttackNames } from './attack.ts';
import { cleanName, nameKey } from './name-forms.ts';

export const readShippedNameTable = (): string =>
  readFileSync(resolve(import.meta.dirname, 'shipped/names.tsv'), 'utf8');

/** Lists the names of ATT&CK, then those of MISP galaxy. */
export function listNameRecords(attack: AttackFile | undefined, names: NamesFile | undefined): NameRecord[] {
  return [
    ...(attack?.groups ?? []).map(({ id, name, aliases }): NameRecord => ({ kind: 'actor', name, aliases, id })),
    ...(attack?.software ?? []).map(({ id, name, aliases, type }): NameRecord => ({ kind: type, name, aliases, id })),
    ...(names?.names ?? []).map(({ name, aliases, kind }): NameRecord => ({ kind: toNameKind(kind), name, aliases })),
  ];
}

/** Merges installed names into the shipped table. Shipped names keep their cue marks. Names of installed ATT&CK data replace those shipped. */
export function buildNameTable(attack: AttackFile | undefined, names: NamesFile | undefined): string {
  const table = readShippedNameTable();
  if (!attack && !names) return table;
  const cueMarks = new Map<string, boolean>();
  const form = (marked: string): string => {
    const bare = marked.replace(/^!/, '');
    cueMarks.set(nameKey(bare), marked !== bare);
    return bare;
  };
  const keyOf = (isActor: boolean, name: string): string => `${isActor} ${nameKey(name)}`;
  const ofAttack = new Map(
    readShippedAttackNames()
      .toReversed()
      .map((one) => [keyOf(one.id.startsWith('G'), cleanName(one.name)), one]),
  );
  const shipped = table
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line): NameRecord[] => {
      const [stated = '', marked = '', joined = ''] = line.split('\t');
      const kind = toNameKind(stated);
      const name = form(marked);
      const aliases = joined.split('|').filter(Boolean).map(form);
      const attackName = ofAttack.get(keyOf(kind === 'actor', name));
      // The table does not distinguish the aliases of ATT&CK from those of other lists.
      return [...(attackName ? [{ ...attackName, kind }] : []), { kind, name, aliases }];
    });
  const merged = mergeNames([...shipped, ...listNameRecords(attack, names)]);
  return formatNameTable(merged, (key) => cueMarks.get(key)).join('\n');
}
