import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { AttackFile } from '../src/feed/reference-data/reference-files.ts';

const table = resolve(import.meta.dirname, '../src/feed/reference-data/shipped/attack.tsv');

/**
 * Writes src/feed/reference-data/shipped/attack.tsv, the compact table of ATT&CK, from an installed `attack.json`. The kill chain stages of
 * tactics and the former short names stay. So do groups and software if the file has none.
 * Usage: node scripts/attack-table.ts FILE
 */
const input = process.argv[2];
if (!input) throw new Error('Usage: node scripts/attack-table.ts FILE');
const attack = AttackFile.parse(JSON.parse(readFileSync(input, 'utf8')));
const before = readFileSync(table, 'utf8')
  .split('\n')
  .map((line) => line.split('\t'));
const rowsOf = (kind: string): string[][] => before.filter(([first]) => first === kind);
const keep = (kind: string): string[] => rowsOf(kind).map((row) => row.join('\t'));
const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);
const listNames = (kind: string, entries: AttackFile['groups']): string[] =>
  entries.length === 0
    ? keep(kind)
    : entries
        .flatMap(({ id, name, aliases }) => (id ? [[kind, id, name, aliases.join('|')].join('\t').trimEnd()] : []))
        .toSorted();
const shortNames = new Map(attack.tactics.map(({ id, shortName }) => [id, shortName]));
const renamed = rowsOf('tactic').flatMap(([, id, , shortName]) => {
  const current = shortNames.get(id!);
  return current === undefined || current === shortName ? [] : [['renamed', shortName, current].join('\t')];
});
const lines = [
  `# MITRE ATT&CK Enterprise ${attack.attackVersion}: ids, names, tactics in order with the kill chain stages of ids, platforms and successors, and groups and software with their aliases; made by scripts/attack-table.ts.`,
  '# © 2025 The MITRE Corporation. This work is reproduced and distributed with the permission of The MITRE Corporation.',
  '# ATT&CK® terms of use: https://attack.mitre.org/resources/legal-and-branding/terms-of-use/',
  `version\t${attack.attackVersion}`,
  ...keep('stage'),
  ...attack.tactics.map(({ id, name, shortName }) => ['tactic', id, name, shortName].join('\t')),
  ...keep('renamed'),
  ...renamed,
  ...attack.techniques
    .filter(({ deprecated, revokedBy }) => !deprecated && !revokedBy)
    .toSorted(byId)
    .map(({ id, name, tactics, platforms }) =>
      ['technique', id, name, tactics.join(','), platforms.join(',')].join('\t'),
    ),
  ...attack.techniques
    .filter(({ revokedBy }) => revokedBy)
    .toSorted(byId)
    .map(({ id, revokedBy }) => ['moved', id, revokedBy].join('\t')),
  ...listNames('group', attack.groups),
  ...listNames('software', attack.software),
];
writeFileSync(table, `${lines.join('\n')}\n`);
