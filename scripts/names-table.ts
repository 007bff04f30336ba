import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { AttackFile, NamesFile } from '../src/feed/reference-data/reference-files.ts';
import { formatNameTable, listNameRecords, mergeNames } from '../src/feed/reference-data/name-table.ts';
import type { NameRecord } from '../src/feed/reference-data/join-entries.ts';

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
// Spellings of names that the lists have in lower case.
const malware =
  `BugSleep, SolarMarker, XMRig, Magecart, ScanBox, BadBazaar, GoontAct, Ostap, Bifrose, Neshta, Mozart, RTPOS, GamaPoS,
PwnPOS, CampoLoader, SplitLoader, LimeDownloader, LimeMiner, VanillaRAT, TroyStealer, PurpleInk, CMoon, LukaLocker, Doenerium, Bancos, Reptile,
BioLoad, FancyFilter, WitchCoven, C99shell, Taidoor, Sykipot, Turian, Tomiris, Xxmm, NitLove, INC Ransom, HolyGhost, LostTrust, DarkVault,
CiphBit, CryptBB, ChileLocker, Hellcat, NightSpire, SuperBlack, JSWorm, EncryptHub, Xollam, Elpaco, Fargo, BackMyData, FreeWorld, DireWolf,
Gunra, WorldLeaks, Mamona, Crypto24, SatanLock, KillSec, Dispossessor, NullBulge, Sinobi, DarkRace, RA Group, Space Bears, LockBit4, LockBit5,
Kryptina, Thanos, Arcus Media, Vanir Group, BlackHunt`.split(/,\s/);
const ownNames: NameRecord[] = [
  { kind: 'tool', name: 'Cobalt Strike', aliases: ['Beacon'] },
  ...tools.map((name): NameRecord => ({ kind: 'tool', name, aliases: [] })),
  ...malware.map((name): NameRecord => ({ kind: 'malware', name, aliases: [] })),
];
const merged = mergeNames([...listNameRecords(attack, names), ...ownNames]);
const lines = [
  '# Malware, tools and threat actors with their aliases: kind, name, aliases; made by scripts/names-table.ts. `!`: needs a cue.',
  '# Names of MISP galaxy (CC0 1.0, https://github.com/MISP/misp-galaxy) and of MITRE ATT&CK.',
  '# © 2025 The MITRE Corporation. This work is reproduced and distributed with the permission of The MITRE Corporation.',
  // In source order: an alias refers to the first of several entries.
  ...formatNameTable(merged),
];
writeFileSync(resolve(import.meta.dirname, '../src/feed/reference-data/shipped/names.tsv'), `${lines.join('\n')}\n`);
console.log(`${merged.length} names`);
