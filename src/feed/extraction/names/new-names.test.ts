import { expect, test } from 'vitest';
import { extractNames } from './extract-names.ts';

const read = (text: string): string[] =>
  extractNames(text, new Map())
    .map(({ kind, name }) => `${kind} ${name}`)
    .toSorted();

// No list has these names.
test.each([
  ['The activity cluster is tracked as Quarrel Fern.', ['actor Quarrel Fern']],
  ['A threat actor we track as Quillbark targets banks.', ['actor Quillbark']],
  ['The group, which we call “Vexing Otterby”, sells access.', ['actor Vexing Otterby']],
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
  ['Quillbox is a new Rust-based backdoor.', ['malware Quillbox']],
  ['Inside MirthPane, a phishing kit that hides in frames.', ['malware MirthPane']],
  ['We named this backdoor SnarkDoor. They call the group Quillbark.', ['actor Quillbark', 'malware SnarkDoor']],
  ['A ransomware operation named MOBIL QUAY appeared.', ['malware MOBIL QUAY']],
  ['The cluster is tracked by Example Labs Unit 7 as CL-STA-9087.', ['actor CL-STA-9087']],
  ['Vexatious Ape (aka UNC99999) is back.', ['actor UNC99999', 'actor Vexatious Ape']],
  ['It dropped two backdoors on the host: ZorbaDoor and Quillbox.', ['malware Quillbox', 'malware ZorbaDoor']],
  [
    'Several groups—including QuillCartel, Blackwood, and Mirth Nevask—posted victims.',
    ['actor Blackwood', 'actor Mirth Nevask', 'actor QuillCartel'],
  ],
  ['A servlet filter called ZORBASTEAL takes passwords.', ['malware ZORBASTEAL']],
  ['A Linux botnet, Quillbot, scans for routers.', ['malware Quillbot']],
  ['ABX-251 Group uses it.', ['actor ABX-251']],
  ['The actors used tools such as PowerQuill, GearQuill, and Foo.', []],
  [
    'A brand-new EDR evasion tool called QuillSanta. A backdoor known as "zorb16," is old.',
    ['malware QuillSanta', 'malware zorb16'],
  ],
  [
    'Three malware families have been labeled as Zorbdrag, Zorbdrop, and Zorbback.',
    ['malware Zorbback', 'malware Zorbdrag', 'malware Zorbdrop'],
  ],
  ['They install the backdoors QuillBlight and ZorbTunnel.', ['malware QuillBlight', 'malware ZorbTunnel']],
  ['A remote access trojan, QZX RAT, emerged.', ['malware QZX RAT']],
  ['Encrypted Quillshach ransomware, and Packed Quillshach loader.', ['malware Quillshach']],
  ['Named ZorbZero, the wiper was new. ZorbZero is a Windows wiper.', ['malware ZorbZero']],
  ['The final payload is the QuillTea Linux backdoor.', ['malware QuillTea']],
  ['A backdoor (a.k.a. QuillJack Agent) is abused by threat actors.', ['malware QuillJack Agent']],
  ['The Quillma stealer is known as Quillma Stealer.', ['malware Quillma']],
  ['Dubbed “Zorboid,” the worm spread. The ‘zorb16’ malware is older.', ['malware Zorboid', 'malware zorb16']],
  ['Wipers for Linux and Solaris tracked as Zorbshred, and Quillshred.', ['malware Quillshred', 'malware Zorbshred']],
  ['It is shared by the Quillma Gang, a collective.', ['actor Quillma Gang']],
  ['They used Quillroyer ICS malware.', ['malware Quillroyer']],
  ['The Quillgo malware surfaced. Why Zorbot is the most notorious malware.', ['malware Quillgo', 'malware Zorbot']],
  ['New backdoors like Quilltruger – likely developed for it – appeared.', ['malware Quilltruger']],
  ['The Quillbridge RAT threat actors registered it.', []],
  ['The payload is Quillpadu, a LATAM malware loader.', ['malware Quillpadu']],
  // Companies and campaigns.
  ['In a study by Zorbtrace and Quill Security Labs, a new cryptojacking malware campaign emerged.', []],
  // Functions, cmdlets, files, formats and references to somebody who was mentioned before are no names.
  ['The function GetQuillAddress, the malware called LdrFindQuill_U, and a script called Invoke-Quill.', []],
  ['Using the Quill Directory Module, the threat actor connected.', []],
  ['It dropped an ASPX webshell, an ELF MIPS wiper and a Mach-O dropper. Quill.exe is a custom implant.', []],
  ['Utilizing the QX2P, the dropper downloads more.', []],
  // Words that are capitalized, but no names.
  ['A Windows backdoor, an Android RAT and a Python stealer.', []],
  ['Chinese hackers and Russian threat actors. The RAT runs.', []],
  ['The vulnerability is tracked as CVE-2024-12345.', []],
  ['The company is known as Northmere.', []],
  ['Custom loader. New ransomware. This group.', []],
])('%s', (text, names) => {
  expect(read(text)).toEqual(names);
});
