import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Attack, Names } from './reference-files.ts';
import { kindOf, linesOfNames, mergeNames, type Named } from './update/merge-names.ts';
import { nameKey } from './name-forms.ts';

/** The table of names that comes with the project. */
export const shippedTable = (): string => readFileSync(resolve(import.meta.dirname, 'shipped/names.tsv'), 'utf8');

/** The names of ATT&CK, then those of MISP galaxy. */
export function namesOf(attack: Attack | undefined, names: Names | undefined): Named[] {
  return [
    ...(attack?.groups ?? []).map(({ name, aliases }): Named => ({ kind: 'actor', name, aliases })),
    ...(attack?.software ?? []).map(({ name, aliases, type }): Named => ({ kind: type, name, aliases })),
    ...(names?.names ?? []).map(({ name, aliases, kind }): Named => ({ kind: kindOf(kind), name, aliases })),
  ];
}

/** The shipped table with the names that are held added; what is shipped keeps its name and its marks. */
export function tableWith(attack: Attack | undefined, names: Names | undefined): string {
  const table = shippedTable();
  if (!attack && !names) return table;
  const plain = new Map<string, boolean>();
  const form = (marked: string): string => {
    const bare = marked.replace(/^!/, '');
    plain.set(nameKey(bare), marked !== bare);
    return bare;
  };
  const shipped = table
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line): Named => {
      const [kind = '', name = '', aliases = ''] = line.split('\t');
      return { kind: kindOf(kind), name: form(name), aliases: aliases.split('|').filter(Boolean).map(form) };
    });
  return linesOfNames(mergeNames([...shipped, ...namesOf(attack, names)]), (key) => plain.get(key)).join('\n');
}
