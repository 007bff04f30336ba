import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * Writes src/ingest/knowledge/names.tsv, the compact table of malware, tools and actors with their aliases. Usage:
 * node scripts/names-table.ts NAMES ATTACK WORDS -- names of MISP galaxy (`{names: [{name, kind, aliases}]}`), groups and software of
 * ATT&CK (`{groups, software}`), a list of everyday words, one a line, which only marks the names that need a cue.
 */
type Named = { name: string; kind: string; aliases?: string[] };
type Attack = { groups: Omit<Named, 'kind'>[]; software: (Omit<Named, 'kind'> & { type: string })[] };
type Entry = { kind: string; name: string; aliases: Map<string, string> };

const [namesFile, attackFile, wordsFile] = process.argv.slice(2);
if (!namesFile || !attackFile || !wordsFile) throw new Error('Usage: node scripts/names-table.ts NAMES ATTACK WORDS');
const galaxy = (JSON.parse(readFileSync(namesFile, 'utf8')) as { names: Named[] }).names;
const attack = JSON.parse(readFileSync(attackFile, 'utf8')) as Attack;
const everyday = new Set(readFileSync(wordsFile, 'utf8').toLowerCase().split(/\s+/));

function key(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
}

// Words that say what something is, and proper nouns that name something else far more often.
const never = new Set(
  `one trojan rat malware ransomware loader dropper stealer backdoor bot botnet keylogger agent unknown other generic attack virus worm miner rootkit
  phishing exploit crypter packer wiper injector downloader infostealer spyware adware banker unnamed none na test demo windows linux android
  macos microsoft google chrome firefox apple java python powershell office outlook excel word teamviewer anydesk kaseya kaseyavsa solarwinds
  russian chinese iranian turkish korean indian pakistani ukrainian israeli vietnamese american german french dutch arab english spanish
  eldorado ratattack undead group team hacker hackers anonymous security`.split(/\s+/),
);
const regions = new Intl.DisplayNames(['en'], { type: 'region' });
for (let a = 65; a <= 90; a += 1)
  for (let b = 65; b <= 90; b += 1) never.add(key(regions.of(String.fromCodePoint(a, b)) ?? ''));

const kinds: Record<string, string> = {
  'threat-actor': 'actor',
  malware: 'malware',
  ransomware: 'malware',
  tool: 'tool',
  'exploit-kit': 'malware',
};
const clean = (name: string): string =>
  name
    .replaceAll(
      /\s*\((?:malware family|windows|android|linux|elf|macos|os x|osx|apk|ransomware|rat|trojan|botnet|tool|stealer|backdoor|fake)\)\s*$/gi,
      '',
    )
    .replaceAll(/\s+/g, ' ')
    .trim();
// Ids, detection names and single letters name nothing in prose.
const isName = (name: string): boolean =>
  key(name).length >= 2 &&
  !never.has(key(name)) &&
  name.length <= 60 &&
  !/^[GSC]\d{4}$/.test(name) &&
  !/^(?:win|elf|apk|osx|js|ps1|jar|py|php|vbs|symbian|asp)\./.test(name) &&
  !/[\t|;]/.test(name);

const entries = new Map<string, Entry>();
function add(kind: string, name: string, aliases: string[]): void {
  const main = clean(name);
  if (!isName(main)) return;
  const id = `${kind === 'actor' ? 'actor' : 'software'} ${key(main)}`;
  const entry = entries.get(id) ?? { kind, name: main, aliases: new Map<string, string>() };
  entries.set(id, entry);
  for (const alias of aliases.map(clean))
    if (isName(alias) && key(alias) !== key(main)) entry.aliases.set(key(alias), alias);
}
for (const { name, aliases } of attack.groups) add('actor', name, aliases ?? []);
for (const { name, aliases, type } of attack.software) add(type, name, aliases ?? []);
for (const { name, kind, aliases } of galaxy) add(kinds[kind] ?? 'malware', name, aliases ?? []);

// Tools of everyday intrusions that the lists above lack, and names that they have only in part.
add('tool', 'Cobalt Strike', ['Beacon']);
for (const name of [
  'wmiexec',
  'smbexec',
  'atexec',
  'dcomexec',
  'secretsdump',
  'QuarksPwDump',
  'Kekeo',
  'SharpHound',
  'Seatbelt',
  'Ligolo',
  'Chisel',
  'AnyDesk',
  'ngrok',
  'FRP',
  'NetScan',
  'PowerView',
  'PowerSploit',
  'ProcDump',
  'Nmap',
  'Masscan',
  'WinPEAS',
  'PingCastle',
  'ADRecon',
  'Advanced IP Scanner',
  'Advanced Port Scanner',
  'Process Hacker',
  'PCHunter',
  'GMER',
  'WinSCP',
  'FileZilla',
  'MEGAsync',
  'RClone',
])
  add('tool', name, []);

/** One entry for two sources' names of the same thing: where just one other entry of the kind has this one's name as an alias. */
function mergeAliases(): void {
  const holders = new Map<string, Set<string>>();
  for (const [id, { kind, aliases }] of entries)
    for (const alias of aliases.keys()) {
      const wanted = `${kind === 'actor' ? 'actor' : 'software'} ${alias}`;
      holders.set(wanted, (holders.get(wanted) ?? new Set()).add(id));
    }
  const order = [...entries.keys()];
  const place = new Map(order.map((id, index) => [id, index]));
  // From the last on, so that the source that comes first keeps its name: ATT&CK, then the lists in their order.
  for (const id of order.toReversed()) {
    const others = [...(holders.get(id) ?? [])].filter((other) => other !== id && entries.has(other));
    const [other] = others;
    if (others.length !== 1 || other === undefined || !entries.has(id)) continue;
    // Families are told apart more finely than actors: there both sides must say it.
    const isMutual = entries.get(id)!.aliases.has(key(entries.get(other)!.name));
    if (!id.startsWith('actor') && !isMutual) continue;
    const [into, gone] = place.get(other)! < place.get(id)! ? [other, id] : [id, other];
    const kept = entries.get(into)!;
    const entry = entries.get(gone)!;
    for (const [alias, printed] of [[key(entry.name), entry.name] as const, ...entry.aliases])
      if (alias !== key(kept.name) && !kept.aliases.has(alias)) kept.aliases.set(alias, printed);
    entries.delete(gone);
    // Later look-ups of what the other one held lead on to the one that took it in.
    for (const set of holders.values()) if (set.delete(gone)) set.add(into);
  }
}
mergeAliases();

/** `!` marks a name that prose holds without meaning it. */
function marked(name: string): string {
  const words = name.toLowerCase().split(/[\s-]+/);
  // Names of people, stars and gods, which word lists leave out.
  const proper =
    /^(?:orion|mercury|apollo|diana|alice|charlie|oscar|victor|jupiter|saturn|neptune|venus|athena|hermes|atlas|luna|nova|max|leo|sam|mary|john|david|adam|eve|bob|tom|jack|henry|alpha|beta|gamma|delta|omega|sigma|lambda|zeta|kali|amadey family|paris|london|berlin|boston|dallas|austin|phoenix|lincoln|monroe|stanley|angel|gabriel|samuel|king|prince|lotus|nokia|samsung|vivo|oracle|adobe|intel)$/;
  const isPlain = proper.test(name.toLowerCase()) || words.every((word) => everyday.has(word) || /^\d+$/.test(word));
  return isPlain || key(name).length <= 3 ? `!${name}` : name;
}

const lines = [
  '# Malware, tools and threat actors with their aliases: kind, name, aliases; made by scripts/names-table.ts. `!`: needs a cue.',
  '# Names of MISP galaxy (CC0 1.0, https://github.com/MISP/misp-galaxy) and of MITRE ATT&CK.',
  '# © 2025 The MITRE Corporation. This work is reproduced and distributed with the permission of The MITRE Corporation.',
  // In the order of the sources: of several that share an alias the first is meant.
  ...[...entries.values()].map(({ kind, name, aliases }) =>
    [kind, marked(name), [...aliases.values()].map(marked).join('|')].join('\t'),
  ),
];
writeFileSync(resolve(import.meta.dirname, '../src/ingest/knowledge/names.tsv'), `${lines.join('\n')}\n`);
console.log(`${entries.size} names`);
