import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { AttackFile, NamesFile } from '../src/feed/reference-data/reference-files.ts';
import { listNameRecords } from '../src/feed/reference-data/name-table.ts';
import { formatNameTable, mergeNames, type NameRecord } from '../src/feed/reference-data/update/merge-names.ts';

/**
 * Writes src/feed/reference-data/shipped/names.tsv, the compact table of malware, tools and actors with their aliases, from an installed
 * `names.json` and `attack.json`. Usage: node scripts/names-table.ts NAMES ATTACK
 */
const [namesFile, attackFile] = process.argv.slice(2);
if (!namesFile || !attackFile) throw new Error('Usage: node scripts/names-table.ts NAMES ATTACK');
const names = NamesFile.parse(JSON.parse(readFileSync(namesFile, 'utf8')));
const attack = AttackFile.parse(JSON.parse(readFileSync(attackFile, 'utf8')));

// Common intrusion tools that are missing or incomplete in these lists.
const tools =
  `wmiexec, smbexec, atexec, dcomexec, secretsdump, QuarksPwDump, Kekeo, SharpHound, Seatbelt, Ligolo, Chisel,
AnyDesk, ngrok, FRP, NetScan, PowerView, PowerSploit, ProcDump, Nmap, Masscan, WinPEAS, PingCastle, ADRecon,
Advanced IP Scanner, Advanced Port Scanner, Process Hacker, PCHunter, GMER, WinSCP, FileZilla, MEGAsync,
RClone`.split(/,\s/);
const ownTools: NameRecord[] = [
  { kind: 'tool', name: 'Cobalt Strike', aliases: ['Beacon'] },
  ...tools.map((name): NameRecord => ({ kind: 'tool', name, aliases: [] })),
];
const merged = mergeNames([...listNameRecords(attack, names), ...ownTools]);
const lines = [
  '# Malware, tools and threat actors with their aliases: kind, name, aliases; made by scripts/names-table.ts. `!`: needs a cue.',
  '# Names of MISP galaxy (CC0 1.0, https://github.com/MISP/misp-galaxy) and of MITRE ATT&CK.',
  '# © 2025 The MITRE Corporation. This work is reproduced and distributed with the permission of The MITRE Corporation.',
  // In source order: an alias refers to the first of several entries.
  ...formatNameTable(merged),
];
writeFileSync(resolve(import.meta.dirname, '../src/feed/reference-data/shipped/names.tsv'), `${lines.join('\n')}\n`);
console.log(`${merged.length} names`);
