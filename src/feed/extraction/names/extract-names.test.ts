import { expect, test } from 'vitest';
import { parseNameTable } from './dictionary/name-dictionary.ts';
import { extractNames } from './extract-names.ts';

const dictionary = parseNameTable(
  [
    'malware\tEmotet\tGeodo',
    'malware\t!Play\t!PlayCrypt',
    'malware\tDarkSide\t',
    'actor\tDarkSide\t',
    'tool\t!Cobalt Strike\t!Beacon',
    'tool\tipconfig\t',
    'actor\tAPT29\tCozy Bear|The Dukes',
    'actor\tHidden Crane\tShared Name',
    'actor\tRed Finch\tShared Name',
    'tool\tBloodHound\t',
    'tool\tMimikatz\t',
    'malware\t!Alien\t',
    'malware\tKevin\t',
    'malware\tImSorry\t',
    'malware\tQilin\t',
    'malware\tshinyforum\t',
    'actor\tShinyForum\t',
    'actor\tOperation Quill\t',
    'actor\tSnakework\tVexing Bear',
    'tool\tSnakework\tUrobor',
    'malware\tZorb Ransomware\tZorb',
    'actor\t!Storm-1234\t',
    'malware\t!Storm\t',
    'malware\tQuorvath Stealer\t',
    'actor\t!Listed Heron\t!The Listed Heron',
  ].join('\n'),
);
const read = (text: string): string[] =>
  extractNames(text, dictionary)
    .map(({ kind, name }) => `${kind} ${name}`)
    .toSorted();

test.each([
  ['finds the listed name with its kind', 'The Quorvath malware spread.', ['malware Quorvath Stealer']],
  ['maps an alias to its entity', 'Geodo spread by mail.', ['malware Emotet']],
  ['ignores the name of a person without a cue', 'Kevin said so. The town agreed, says Kevin Smith.', []],
  ['finds the name of a person beside a cue', 'It dropped the Kevin malware.', ['malware Kevin']],
  [
    'ignores a sentence that a name contracts',
    'Reports say: I’m Sorry. The ImSorry malware is another.',
    ['malware ImSorry'],
  ],
  ['ignores an everyday word without a cue', 'They Play a role. Play it again.', []],
  ['accepts an everyday word with a cue', 'The Play ransomware encrypts files.', ['malware Play']],
  [
    'applies a cue to the whole text',
    'Play hit two towns. The Play ransomware group asked for money.',
    ['actor Play', 'malware Play'],
  ],
  ['lists actors after their kind', 'Groups such as APT33 and Emotet were seen.', ['actor APT33', 'actor Emotet']],
  ['matches with or without a space', 'CobaltStrike malware and Cobalt Strike.', ['tool Cobalt Strike']],
  ['accepts a distinctive spelling without a cue', 'It ran BloodHound.', ['tool BloodHound']],
  ['recognizes an actor by the words beside the name', 'DarkSide operators asked for money.', ['actor DarkSide']],
  ['recognizes an actor by what it possesses', 'DarkSide’s new tools were found.', ['actor DarkSide']],
  ['recognizes malware by the words beside the name', 'The DarkSide ransomware encrypts.', ['malware DarkSide']],
  [
    'requires the extension for a lower-case program',
    'Run ipconfig and see. Then "ipconfig.exe" ran.',
    ['tool ipconfig'],
  ],
  ['accepts numbered actors without an entry', 'TA577 and UNC4841 were busy.', ['actor TA577', 'actor UNC4841']],
  ['prefers a designation to a shorter name of the list', 'Storm-4567 met others.', ['actor Storm-4567']],
  [
    'finds names between words of other scripts',
    '攻撃グループAPT29は、Emotetを配布した。',
    ['actor APT29', 'malware Emotet'],
  ],
  ['finds names with Korean endings', 'APT29가 Emotet을 배포했다', ['actor APT29', 'malware Emotet']],
  ['ignores ids of ATT&CK tactics', 'Initial Access (TA0001) and Impact TA0040.', []],
  ['ignores distant cues', 'Play, the loader says, begins. Play of ransomware.', []],
  [
    'accepts a name after a known name in a list',
    'It drops Emotet, Play, and others.',
    ['malware Emotet', 'malware Play'],
  ],
  ['accepts a name before a known name', 'Members of Play and Emotet.', ['malware Emotet', 'malware Play']],
  ['accepts a name with an apposition', 'They used Play, a known piece of malware.', ['malware Play']],
  [
    'accepts names joined by a slash',
    'Seen: APT29/Red Finch and Emotet/Play.',
    ['actor APT29', 'actor Red Finch', 'malware Emotet', 'malware Play'],
  ],
  ['ignores an everyday word in the name of a company', 'Alien Labs researchers and the Threat Hunter Team.', []],
  [
    'ignores an everyday word in a list if it begins another name',
    'Victims: Qilin/Alien Health. Qilin ransomware.',
    ['malware Qilin'],
  ],
  ['accepts a designation of common words', 'Storm-1234 parallel intrusion', ['actor Storm-1234']],
  [
    'accepts unknown names between known ones of a list',
    'The mails spread Emotet, Quillvex, Qilin e Zorbfex.',
    ['malware Emotet', 'malware Qilin', 'malware Quillvex', 'malware Zorbfex'],
  ],
  ['ignores unknown words beside a single known name of a list', 'It hit Chrome, Firefox, Emotet.', ['malware Emotet']],
  [
    'recognizes actors by the noun after their list',
    'The DarkSide and Qilin ransomware groups were active.',
    ['actor DarkSide', 'actor Qilin'],
  ],
  ['recognizes an actor before an alias in brackets', 'The Qilin (Agenda) group was active.', ['actor Qilin']],
  ['ignores a tool whose weakness the text mentions', 'Hackers exploit a flaw in BloodHound servers.', []],
  [
    'accepts a tool that somebody installed, although it has a weakness',
    'A flaw in BloodHound was fixed. They installed BloodHound.',
    ['tool BloodHound'],
  ],
  [
    'reads a list after a dash',
    'Multiple groups—including Qilin and DarkSide—post.',
    ['actor DarkSide', 'actor Qilin'],
  ],
  ['reads groups called', 'They were hit by the groups called DarkSide and Qilin.', ['actor DarkSide', 'actor Qilin']],
  [
    'reads what groups include, with counts',
    'Other active groups this month include Qilin (6) and DarkSide (2).',
    ['actor DarkSide', 'actor Qilin'],
  ],
  [
    'names the group without the kind of its malware',
    'A claim of the Zorb ransomware group.',
    ['actor Zorb', 'malware Zorb Ransomware'],
  ],
  ['ignores the verb of a headline', 'Hackers Play With Fire', []],
  ['accepts the gang alone', 'The Qilin gang posted. Qilin is active.', ['actor Qilin']],
  ['accepts the gang beside its malware', 'The Qilin ransomware gang posted.', ['actor Qilin', 'malware Qilin']],
  [
    'accepts the gang beside its malware if a list has both',
    'The DarkSide ransomware gang posted.',
    ['actor DarkSide', 'malware DarkSide'],
  ],
  ['does not take malware for a group because it has operators', 'Emotet’s operators rent Emotet.', ['malware Emotet']],
  ['accepts the operators of ransomware', 'Operators of the Qilin RaaS.', ['actor Qilin', 'malware Qilin']],
  ['does not take operators of a trojan for a group', 'The operators behind Emotet rest.', ['malware Emotet']],
  [
    'reads a list after groups',
    'New groups Qilin, Emotet, and DarkSide post victims.',
    ['actor DarkSide', 'actor Emotet', 'actor Qilin'],
  ],
  ['reads groups like', 'Groups like Qilin post victims.', ['actor Qilin']],
  ['takes the name of a leak site for its group', 'ShinyForum stole data.', ['actor ShinyForum']],
  [
    'accepts a lower-case tool in a list of tools',
    'They used tools such as mimikatz and BloodHound.',
    ['tool BloodHound', 'tool Mimikatz'],
  ],
  ['ignores a lower-case tool elsewhere', 'mimikatz.', []],
  ['takes no operation for an actor', 'Known as Operation Quill. Threats like Operation Emotet.', []],
  ['prefers the actor to a tool with its name', 'Snakework is back.', ['actor Snakework']],
  [
    'takes the name of malware for the group that a text introduces by it',
    'The second group added to the list has been named DarkSide. This actor spies.',
    ['actor DarkSide'],
  ],
  [
    'keeps one kind of a shared name',
    'The spy group “Snakework” has a loader that Snakework uses.',
    ['actor Snakework'],
  ],
  ['merges an alias of the other kind', 'Meet Red Finch — also known as Zorb — a threat actor.', ['actor Red Finch']],
  ['ignores what malware pretends to be', 'The ransomware pretends to be BloodHound.', []],
  [
    'takes a person behind ransomware for no group',
    'An operator behind the Qilin RaaS program spoke.',
    ['malware Qilin'],
  ],
  [
    'splits a known name from the end of the cell before it in a page',
    'Admin SharesAPT29 group used Mimikatz. SharesEmotet malware.',
    ['actor APT29', 'malware Emotet', 'tool Mimikatz'],
  ],
  [
    'keeps a new name that ends with a known one',
    'The DarkEmotet malware and a FakeQilin loader.',
    ['malware DarkEmotet', 'malware FakeQilin'],
  ],
  ['takes the noun after a verb of use for its object', 'DarkSide used the wiper at night.', ['actor DarkSide']],
  [
    'recognizes an actor among aliases',
    'A group with names such as APT29 and Snakework.',
    ['actor APT29', 'actor Snakework'],
  ],
  ['recognizes the gang in German', 'Die Ransomware-Gruppe Qilin meldet Opfer.', ['actor Qilin']],
  ['recognizes the gang in Spanish', 'El grupo de ransomware Qilin publica datos.', ['actor Qilin', 'malware Qilin']],
  ['ignores detection names and tags', 'Win32/Emotet.A and #Emotet', []],
  ['ignores two ordinary words of a sentence', 'The dark side. They Dark side with us.', []],
  [
    'takes no malware for a group because somebody is linked to its operation',
    'He is linked to the Emotet operation.',
    ['malware Emotet'],
  ],
  ['accepts former members as the people of ransomware', 'Qilin’s former members are back.', ['actor Qilin']],
  [
    'accepts a claim of responsibility after an apposition',
    'DarkSide, a persona of a ministry, claimed responsibility.',
    ['actor DarkSide'],
  ],
  [
    'reads a listed name with an article without its article',
    'The work of the Listed Heron group.',
    ['actor Listed Heron'],
  ],
  ['accepts an everyday name before its aliases', 'Play, also known as PlayCrypt, is back.', ['malware Play']],
  ['ignores a participle with a name before a kind', 'The Emotet-associated ransomware.', ['malware Emotet']],
  ['accepts groups that claim victims', 'Qilin and DarkSide claimed most victims.', ['actor DarkSide', 'actor Qilin']],
  ['ignores a tool after a CVE', 'CVE-2026-1234 in BloodHound was added to the list.', []],
  ['ignores an unknown name beside a known one elsewhere', 'Emotet and QuillSync are words.', ['malware Emotet']],
  [
    'accepts who leaked data or got a new name as people',
    'Qilin leaked data. DarkSide has rebranded.',
    ['actor DarkSide', 'actor Qilin'],
  ],
  ['accepts actors of ransomware', 'Qilin ransomware actors are active.', ['actor Qilin', 'malware Qilin']],
  ['accepts an everyday name that attackers use', 'The attackers used Play to encrypt files.', ['malware Play']],
  ['ignores an everyday word that others use', 'Teachers used Play to explain it.', []],
  ['ignores an everyday word before a noun that attackers use', 'The attackers used Play buttons.', []],
  ['accepts malware without its kind after a cue', 'They distribute Quorvath by mail.', ['malware Quorvath Stealer']],
  ['ignores malware without its kind elsewhere', 'Quorvath is a village.', []],
  ['ignores addresses and paths', 'https://x.net/Emotet/ and C:\\Emotet and emotet.example', []],
])('%s', (_, text, names) => {
  expect(read(text)).toEqual(names);
});

test('reports an alias of two actors as ambiguous', () => {
  expect(extractNames('Shared Name was seen.', dictionary)).toMatchObject([
    { name: 'Shared Name', ambiguous: ['Hidden Crane', 'Red Finch'] },
  ]);
});

test('resolves an alias of two actors by the one that the text mentions', () => {
  expect(extractNames('Red Finch, or Shared Name, was seen.', dictionary)).toMatchObject([
    { name: 'Red Finch', printed: ['Red Finch', 'Shared Name'] },
  ]);
});

test.each([
  ['The Red Finch group (aka Vexing Quill) asked for money.', 'Red Finch', 'Vexing Quill'],
  ['The Emotet malware family, sometimes referred to as QuillBot9 or ZorbX, is old.', 'Emotet', 'QuillBot9'],
])('takes a name that a text introduces as an alias for no other entity: %s', (text, name, alias) => {
  const names = extractNames(text, dictionary);
  expect(names.map((one) => one.name)).toEqual([name]);
  expect(names[0]!.aliases).toContain(alias);
});

test('returns the spans of the printed forms', () => {
  const text = 'First Geodo, later Emotet.';
  const [found] = extractNames(text, dictionary);
  expect(found?.spans.map(({ start, end }) => text.slice(start, end))).toEqual(['Geodo', 'Emotet']);
});

test('finds common names with the shipped dictionary', () => {
  const names = extractNames('APT28 and Lazarus Group used TrickBot, Cobalt Strike and Mimikatz.').map(
    ({ name }) => name,
  );
  expect(names).toEqual(expect.arrayContaining(['APT28', 'Lazarus Group', 'TrickBot', 'Cobalt Strike', 'Mimikatz']));
});

test.each([
  ['Emotet (also known as Quillvex and tracked by Example Labs as UNC7712) is back.', ['Quillvex']],
  ['APT29, also called Vexing Quill, is back.', ['Vexing Quill']],
])('adopts the unknown aliases right after a name: %s', (text, aliases) => {
  expect(extractNames(text, dictionary).flatMap((one) => one.aliases)).toEqual(expect.arrayContaining(aliases));
});

test('takes no shop or club for an actor of the same name', () => {
  expect(extractNames('The Turla cycling club and the Cozy Bear Bakery share a web shop.')).toEqual([]);
  expect(extractNames('Turla shares a server with Cozy Bear.').map(({ kind }) => kind)).toEqual(['actor', 'actor']);
});
