import { expect, test } from 'vitest';
import { parseNameTable } from './dictionary/name-dictionary.ts';
import { extractNames } from './extract-names.ts';

const read = (text: string): string[] =>
  extractNames(text, parseNameTable(''))
    .map(({ kind, name }) => `${kind} ${name}`)
    .toSorted();

// No list has these names.
test.each([
  ['The activity cluster is tracked as Quarrel Fern.', ['actor Quarrel Fern']],
  ['A threat actor we track as Quillbark targets banks.', ['actor Quillbark']],
  ['QuillLoader Targets Banks With New Ransomware', ['malware QuillLoader']],
  ['The hackers joined forces. The new group calls itself Quillvex.', ['actor Quillvex']],
  ['SHADOW-QUILL-051 was active.', ['actor SHADOW-QUILL-051']],
  [
    'Hive0199, JINX-0199, MUT-9999, UNG0009 and Larva-25009 were active.',
    ['actor Hive0199', 'actor JINX-0199', 'actor Larva-25009', 'actor MUT-9999', 'actor UNG0009'],
  ],
  ['Dusty Otter, a Ruritania-linked group, has attacked ministries.', ['actor Dusty Otter']],
  ['It deploys a new backdoor dubbed ZorbaDoor.', ['malware ZorbaDoor']],
  ['Researchers found an undocumented malware family called Plinthus.', ['malware Plinthus']],
  ['The intrusion set known as Mirthwood Heron used mail.', ['actor Mirthwood Heron']],
  ['Zyntra ransomware encrypts files.', ['malware Zyntra']],
  ['A Zyntra operators’ note. The Zyntra gang leaked data.', ['actor Zyntra']],
  [
    'Storm-4821, UNC98765, TA4903 and UAC-0219 were active.',
    ['actor Storm-4821', 'actor TA4903', 'actor UAC-0219', 'actor UNC98765'],
  ],
  ['The actor Velvet Typhoon and QUAINT SPIDER.', ['actor QUAINT SPIDER', 'actor Velvet Typhoon']],
  ['We attribute it to the threat actor Quillbark with low confidence.', ['actor Quillbark']],
  ['We named this backdoor SnarkDoor. They call the group Quillbark.', ['actor Quillbark', 'malware SnarkDoor']],
  ['The loader, internally named PebbleQuill, starts it.', ['malware PebbleQuill']],
  [
    'The Sable Quill ransomware gang leaked data. The Sable Quill ransomware encrypts files.',
    ['actor Sable Quill', 'malware Sable Quill'],
  ],
  ['A Linux botnet, Quillbot, scans for routers.', ['malware Quillbot']],
  ['Their custom implant Quillvex collects keystrokes.', ['malware Quillvex']],
  ['The campaign deploys Quillvex, which controls the device.', ['malware Quillvex']],
  ['New Android Malware Quillvex Targets 400 Banks', ['malware Quillvex']],
  ['The ransomware gang Quillvex claimed it.', ['actor Quillvex']],
  ['To bypass UAC, Emotet malware uses COM.', ['malware Emotet']],
  ['They install the backdoors QuillBlight and ZorbTunnel.', ['malware QuillBlight', 'malware ZorbTunnel']],
  ['The Quillma stealer is known as Quillma Stealer.', ['malware Quillma']],
  [
    'Police seized the botnets Zorbcat, Quillbot, and Mirthbee.',
    ['malware Mirthbee', 'malware Quillbot', 'malware Zorbcat'],
  ],
  [
    'The hacking unit known widely as “Quillworm,” struck. They dubbed the malware “ZorbSlicer,” then.',
    ['actor Quillworm', 'malware ZorbSlicer'],
  ],
  ['Zorbster (aka Quillstick), on the other hand, is a backdoor.', ['malware Zorbster']],
  ['Velvet Otter is a financially motivated group.', ['actor Velvet Otter']],
  ['A Ruritania-aligned threat group, Quillbark, is back.', ['actor Quillbark']],
  ['Threat actor QuillBooker targets telecoms.', ['actor QuillBooker']],
  ['The actor Quillsoft tracks as UNC98765 used a server.', ['actor UNC98765']],
  [
    'Les chercheurs ont découvert une porte dérobée baptisée Quillair, utilisée par le groupe Zorbine contre les ministères.',
    ['actor Zorbine', 'malware Quillair'],
  ],
  [
    'Investigadores detectaron un malware llamado Quillaris, usado por el grupo de ransomware Zorro Gris para los ataques.',
    ['actor Zorro Gris', 'malware Quillaris'],
  ],
  [
    'Il gruppo criminale Quillupo ha usato il trojan ZorbSpia per rubare i dati che sono nel cloud.',
    ['actor Quillupo', 'malware ZorbSpia'],
  ],
])('reads the new names of %s', (text, names) => {
  expect(read(text)).toEqual(names);
});

test.each([
  'A vulnerability in AnyDesk was used.',
  'Dusty Otter exploits every chance to talk.',
  'We disabled security tools such as QuillGuard and ZorbShield.',
  'Quillsoft took responsibility for the outage. Quillzon posted details of the breach on its blog.',
  'Officials attributed the attack to Strelsau.',
  'The Velvet Inn group has opened a hotel.',
  'Zorb Quillevich, the alleged leader of the ransomware group, was charged.',
  'A threat actor runs a campaign dubbed QuillFlag with a flaw called ZorbShell.',
  'In a study by Zorbtrace and Quill Security Labs, a new cryptojacking malware campaign emerged.',
  'Using the Quill Directory Module, the threat actor connected.',
  'It dropped an ASPX webshell, an ELF MIPS wiper and a Mach-O dropper. Quill.exe is a custom implant.',
  'A Windows backdoor, an Android RAT and a Python stealer.',
  'Chinese hackers and Russian threat actors. The RAT runs.',
  'The vulnerability is tracked as CVE-2024-12345.',
  'The company is known as Northmere.',
  'Custom loader. New ransomware. This group.',
  'La campaña, denominada Quilla Larga, afectó a los bancos de una región, según los expertos.',
])('reads no name in %s', (text) => {
  expect(read(text)).toEqual([]);
});

test('reads a long text that repeats names within the time of a test', () => {
  expect(read('The Sable Quill ransomware attack hit. '.repeat(8_000))).toEqual([]);
  expect(extractNames('Lazarus sent '.repeat(20_000)).map(({ name }) => name)).toEqual(['Lazarus Group']);
});

test('reads a text of many different nouns within the time of a test', () => {
  const letters = (index: number): string =>
    index
      .toString(8)
      .padStart(5, '0')
      .replaceAll(/\d/g, (digit) => 'abcdefgh'[Number(digit)]!);
  const nouns = Array.from({ length: 20_000 }, (_, index) => `X${letters(index)}`);
  expect(
    extractNames(nouns.map((noun) => `und der Trojaner ${noun} kam.`).join(' '), parseNameTable('')).length,
  ).toBeLessThanOrEqual(200);
});

test('keeps the aliases of a list, which may be common words', () => {
  const text = 'APT456, also known as Zorbvark, Plinth Heron, and Mirthfly, is a hacking group.';
  const [found, ...others] = extractNames(text, parseNameTable(''));
  expect(found!.aliases).toEqual(['Zorbvark', 'Plinth Heron', 'Mirthfly']);
  expect(others).toEqual([]);
});

test('reads aliases in other languages', () => {
  const names = extractNames('该行动由APT28(又称 Fancy Bear、Sofacy)发起。');
  expect(names).toMatchObject([{ kind: 'actor', name: 'APT28' }]);
});
