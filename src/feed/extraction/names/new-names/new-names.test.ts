import { expect, test } from 'vitest';
import { parseNameTable } from '../dictionary/name-dictionary.ts';
import { extractNames } from '../extract-names.ts';

const read = (text: string): string[] =>
  extractNames(text, parseNameTable(''))
    .map(({ kind, name }) => `${kind} ${name}`)
    .toSorted();

// No list has these names.
test.each([
  ['The activity cluster is tracked as Quarrel Fern.', ['actor Quarrel Fern']],
  ['A threat actor we track as Quillbark targets banks.', ['actor Quillbark']],
  // Headlines about an actor.
  ['Quillfang Targets Telecom Providers in Kazakhstan With New Backdoors', ['actor Quillfang']],
  ['Iran-Linked Dusty Otter Uses BrineShell to Spy on Officials', ['actor Dusty Otter', 'malware BrineShell']],
  ['Fake Meeting App Targets Developers With New Malware', []],
  ['QuillLoader Targets Banks With New Ransomware', ['malware QuillLoader']],
  // Coined names that attackers install or rely on.
  [
    'They sent files that install QUILLBOIL, QUILLWOK and MIRTHSTARE.',
    ['malware MIRTHSTARE', 'malware QUILLBOIL', 'malware QUILLWOK'],
  ],
  ['The group relies on QuillShell and MirthAgent.', ['malware MirthAgent', 'malware QuillShell']],
  ['They used QuillShell to exploit the vulnerability.', []],
  ['They use SharePoint, and they install Updates.', []],
  ['The stealer is marketed under the name Zephyr Quill.', ['malware Zephyr Quill']],
  ['The kit is sold by the actor Quill77 for use in attacks.', ['actor Quill77']],
  ['The hackers joined forces. The new group calls itself Quillvex.', ['actor Quillvex']],
  ['It drops Quillpin, a bespoke stager.', ['malware Quillpin']],
  ['The Mirthful 2FA phishing kit is sold. Mirthful 2FA is cheap.', ['malware Mirthful 2FA']],
  ['Enable 2FA to stop phishing.', []],
  ['They installed AnyDesk and TeamViewer.', ['tool AnyDesk', 'tool TeamViewer']],
  ['A vulnerability in AnyDesk was used.', []],
  ['SHADOW-QUILL-051 was active.', ['actor SHADOW-QUILL-051']],
  [
    'Lazy Subgroup Expands Malware Arsenal With QuillPony, ZorbaDoor, and MirthPane',
    ['malware MirthPane', 'malware QuillPony', 'malware ZorbaDoor'],
  ],
  ['Dusty Otter exploits CVE-2026-1234 to drop a backdoor on servers.', ['actor Dusty Otter']],
  ['Dusty Otter exploits every chance to talk.', []],
  [
    'We observed QUILLDROP, MIRTHPIPE and ZORBSPIRE on one host.',
    ['malware MIRTHPIPE', 'malware QUILLDROP', 'malware ZORBSPIRE'],
  ],
  ['We observed STARTED and STOPPED states.', []],
  ['They targeted ports with QuillstenBot.', ['malware QuillstenBot']],
  ['The hackers are using a tool called Shanter to stop services.', ['malware Shanter']],
  ['Researchers are using a tool called Shanter to read files.', []],
  [
    'It has two tools: a passive C++ backdoor, Rungvar, and a malicious IIS module, Gamsvar.',
    ['malware Gamsvar', 'malware Rungvar'],
  ],
  ['It is a compiled V8 JavaScript malware, and a Quill-derived ransomware.', []],
  [
    'Hive0199, JINX-0199, MUT-9999, UNG0009 and Larva-25009 were active.',
    ['actor Hive0199', 'actor JINX-0199', 'actor Larva-25009', 'actor MUT-9999', 'actor UNG0009'],
  ],
  ['Dusty Otter, a Ruritania-linked group, has attacked ministries.', ['actor Dusty Otter']],
  ['The adversary deployed QuillPony and MirthConduit on hosts.', ['malware MirthConduit', 'malware QuillPony']],
  [
    'Table 1: Malware used by UNC12345: QUILLBIKE, MIRTHSTROKE, and ZorbaDoor.',
    ['actor UNC12345', 'malware MIRTHSTROKE', 'malware QUILLBIKE', 'malware ZorbaDoor'],
  ],
  ['They deployed the open-source tools Quillzha and ZorbGhost.', ['tool Quillzha', 'tool ZorbGhost']],
  ['Researchers installed QUILLPROXY.', []],
  ['Quillnoroff, a finance-focused subgroup of others, stole money.', ['actor Quillnoroff']],
  ['They chain Mirthful2FA with pop-ups.', ['malware Mirthful2FA']],
  ['They copied the data to Mega.', []],
  ['The gang uses the Lighthouse phishing kit.', ['malware Lighthouse']],
  ['The gang uses the Norway phishing kit and the Christmas malware.', []],
  ['Attackers used Quilleca, a legitimate employee monitoring tool, to spy.', ['tool Quilleca']],
  ['The group planted QuillInitiator on devices.', ['malware QuillInitiator']],
  ['A new Quill variant, Zorb11bot, has infected webcams.', ['malware Zorb11bot']],
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
  ['The loader, internally named PebbleQuill, starts it.', ['malware PebbleQuill']],
  [
    'The Sable Quill ransomware gang leaked data. The Sable Quill ransomware encrypts files.',
    ['actor Sable Quill', 'malware Sable Quill'],
  ],
  ['The Maple Hospital ransomware attack hurt. After the Maple Hospital ransomware attack, beds stayed empty.', []],
  ['A servlet filter called ZORBASTEAL takes passwords.', ['malware ZORBASTEAL']],
  ['A Linux botnet, Quillbot, scans for routers.', ['malware Quillbot']],
  ['ABX-251 Group uses it.', ['actor ABX-251']],
  ['Their custom implant Quillvex collects keystrokes.', ['malware Quillvex']],
  ['Two hosts were infected with Quillvex and lost files.', ['malware Quillvex']],
  ['They deployed a tool called Amber Quill, which steals files.', ['malware Amber Quill']],
  ['Their first backdoor, Project Quill, was found in May.', ['malware Project Quill']],
  ['The Quillvex info-stealing malware spreads.', ['malware Quillvex']],
  ['QuillKiller stops the agents.', ['malware QuillKiller']],
  [
    'The malware strains include Quillvex, Zorbfex/Zorbstar, and Plinthor.',
    ['malware Plinthor', 'malware Quillvex', 'malware Zorbfex', 'malware Zorbstar'],
  ],
  ['The KI-gesteuerten Ransomware ist neu, und diese wird von der Gruppe genutzt. Diese Malware stiehlt Daten.', []],
  ['The Iranian-backed Zorbvark hacking group is back.', ['actor Zorbvark']],
  ['The campaign deploys Quillvex, which controls the device.', ['malware Quillvex']],
  [
    'QuillDoor’s DLL side-loading bypasses many detections. ZorbEntry turns infected hosts into proxies.',
    ['malware QuillDoor', 'malware ZorbEntry'],
  ],
  ['They dropped Quillvex / ZORBFIRE malware.', ['malware Quillvex', 'malware ZORBFIRE']],
  ['- ZORBGHOST: A stealthy, modular implant that uses TLS.', ['malware ZORBGHOST']],
  ['There are two malware families, Quillvex and Zorbfex.', ['malware Quillvex', 'malware Zorbfex']],
  ['Malware used: Quillvex, Zorbfex', ['malware Quillvex', 'malware Zorbfex']],
  ['New Android Malware Quillvex Targets 400 Banks', ['malware Quillvex']],
  ['A backdoor (Quillvex) was installed. A trojan (RAT) was not.', ['malware Quillvex']],
  ['The distribution of the Dark Zorb RAT continues.', ['malware Dark Zorb RAT']],
  ['They use the legitimate AnyDesk remote monitoring and management (RMM) tool.', ['tool AnyDesk']],
  ['They deployed a bespoke tool, QuillRecon, designed to find paths.', ['tool QuillRecon']],
  ['The ransomware gang Quillvex claimed it.', ['actor Quillvex']],
  ['Quillvex, a pro-Russian hacktivist collective, claimed it.', ['actor Quillvex']],
  ['We disabled security tools such as QuillGuard and ZorbShield.', []],
  ['To bypass UAC, Emotet malware uses COM.', ['malware Emotet']],
  ['The actors used tools such as PowerQuill, GearQuill, and Foo.', ['tool Foo', 'tool GearQuill', 'tool PowerQuill']],
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
  ['The Quillbridge RAT threat actors registered it.', ['malware Quillbridge RAT']],
  ['The payload is Quillpadu, a LATAM malware loader.', ['malware Quillpadu']],
  // Lists.
  [
    'Police seized the botnets Zorbcat, Quillbot, and Mirthbee.',
    ['malware Mirthbee', 'malware Quillbot', 'malware Zorbcat'],
  ],
  ['It spreads malware like Quilltesla and ZorbBook.', ['malware Quilltesla', 'malware ZorbBook']],
  ['Gangs such as 4QU1LL and Zorbwar took part.', ['actor 4QU1LL', 'actor Zorbwar']],
  [
    'The main groups which targeted banks in 2019 were QuillDream, Zorbdek, and Mirthmyte.',
    ['actor Mirthmyte', 'actor QuillDream', 'actor Zorbdek'],
  ],
  [
    'Members of the Quillsus$, Zorb Hunters, and MirthHunters hacking groups.',
    ['actor MirthHunters', 'actor Quillsus$', 'actor Zorb Hunters'],
  ],
  [
    'The malware strains taken down:\n- Zorbcat\n- Quillbot\n- Mirthbee\n',
    ['malware Mirthbee', 'malware Quillbot', 'malware Zorbcat'],
  ],
  [
    'Most Active Ransomware Crews (Observed)\nQuillin · Zorbra · Mirthex',
    ['actor Mirthex', 'actor Quillin', 'actor Zorbra'],
  ],
  ['Families of banking trojans (Quilldma and Zorbeiro) attack.', ['malware Quilldma', 'malware Zorbeiro']],
  ['Phishing-as-a-service kits, notably Zorbon 2FA, power it.', ['malware Zorbon 2FA']],
  ['The actors deployed custom backdoors, including QUILLOAD and ZORBPAN.', ['malware QUILLOAD', 'malware ZORBPAN']],
  [
    'Actors use certificates from Quillvidia and Zorb Telecommunications Corp. The ransomware stops processes, including Quillscan.',
    [],
  ],
  ['Actors use techniques.\n\nTechnique Title\nID\nUse\nQuillmendations\n', []],
  // Headlines, quotes and what follows a name.
  ['Quillbot Botnet Hijacks Routers. Analyst Dissects Zorbynt Stealer', ['malware Quillbot', 'malware Zorbynt']],
  ['AI-Generated Malware “Zorbopoly” Discovered', ['malware Zorbopoly']],
  [
    'The hacking unit known widely as “Quillworm,” struck. They dubbed the malware “ZorbSlicer,” then.',
    ['actor Quillworm', 'malware ZorbSlicer'],
  ],
  ['It was done by the group. They’ve dubbed it Quill Balzorb, after a beast.', ['actor Quill Balzorb']],
  ['Tracked as Quillceum (also known as Zorb Kitten), the Iranian APT group targets telecoms.', ['actor Quillceum']],
  ['Zorbster (aka Quillstick), on the other hand, is a backdoor.', ['malware Zorbster']],
  ['ZorbWork (an Indian APT group) and ZorbPad - a long-running implant.', ['actor ZorbWork', 'malware ZorbPad']],
  ['It has links to Zorbaikon Advanced Persistent Threat (APT) group.', ['actor Zorbaikon']],
  ['A group of hackers, identifying themselves as Zorbed QUILL$ Hunters, did it.', ['actor Zorbed QUILL$ Hunters']],
  ['The spyware suite dubbed QZX_SPY was used. It is a variant of Zorbdrop.', ['malware QZX_SPY', 'malware Zorbdrop']],
  // Names that a product detects or that developers chose, and lists before or after their noun.
  [
    'ESET detects it as Win32/Quillrat.A, and Defender as Trojan:Win64/Zorbynt.B!dha.',
    ['malware Quillrat', 'malware Zorbynt'],
  ],
  ['It was detected as MSIL/Agent.XYZ and Win32/Filecoder.B.', []],
  ['The implant, which the developers call Quill Spinner, is new.', ['malware Quill Spinner']],
  ['We call the cluster of activity Zorb Thief.', ['actor Zorb Thief']],
  [
    'UNC98765 deploys ZORBWOOD and HALFQUILL, two custom backdoors.',
    ['actor UNC98765', 'malware HALFQUILL', 'malware ZORBWOOD'],
  ],
  ['The actor used wipers named **Zorbing** and **Quillot**.', ['malware Quillot', 'malware Zorbing']],
  ['Google found ZORBFLUX, experimental malware that rewrites itself.', ['malware ZORBFLUX']],
  ['They deployed PANTHER malware. NEW malware and HTTPS malware are described.', ['malware PANTHER']],
  ['The files were loaded by ZorbLoader and not by a ClassLoader.', ['malware ZorbLoader']],
  ['Velvet Otter is a financially motivated group.', ['actor Velvet Otter']],
  // Actors that only what they did shows.
  ['Analysts saw that the actor Velvet Otter used a proxy server.', ['actor Velvet Otter']],
  ['The actor Quillbark, which stole credentials, is back.', ['actor Quillbark']],
  ['The Ruritania-linked actor Zorb Otter is back.', ['actor Zorb Otter']],
  ['Quillbark compromised two energy companies and stole data.', ['actor Quillbark']],
  ['In May, Velvet Otter has reportedly breached dozens of regional banks.', ['actor Velvet Otter']],
  ['Quillbark attacked a hospital in Ruritania and leaked the records.', ['actor Quillbark']],
  ['The Velvet Otter group leaked data. The Marble Heron gang, too.', ['actor Marble Heron', 'actor Velvet Otter']],
  ['Quillbark claimed responsibility for the attack on the hospital.', ['actor Quillbark']],
  ['In May, Quillbark listed the hospital on its dark web leak site after an attack.', ['actor Quillbark']],
  ['The intrusion was the work of Quillbark, police said.', ['actor Quillbark']],
  ['Researchers attributed the campaign to QuillWolf.', ['actor QuillWolf']],
  ['A Ruritania-aligned threat group, Quillbark, is back.', ['actor Quillbark']],
  [
    'Quillbark, a Ruritanian hacking unit, is back. New Ransomware Group Zorbra Targets Hospitals',
    ['actor Quillbark', 'actor Zorbra'],
  ],
  ['Threat actor QuillBooker targets telecoms.', ['actor QuillBooker']],
  [
    'A backdoor written in Go and named Quillvex runs. The Quillvoid phishing platform is sold.',
    ['malware Quillvex', 'malware Quillvoid'],
  ],
  [
    'Called Quillhulud, the worm spreads. The malware-as-a-service Zorbora is rented.',
    ['malware Quillhulud', 'malware Zorbora'],
  ],
  ['Quillsoft took responsibility for the outage. Quillzon posted details of the breach on its blog.', []],
  ['Officials attributed the attack to Strelsau.', []],
  ['The actor Zorb Quillevich, who played a hacker, used a server.', []],
  ['The actor Velvet Otter used a stage name.', []],
  ['The actor Quillsoft tracks as UNC98765 used a server.', ['actor UNC98765']],
  ['The group Quillsoft describes is unknown.', []],
  ['Attackers compromised two companies and stole data. Quillsoft attacked the two banks in court.', []],
  ['The Velvet Inn group has opened a hotel.', []],
  ['A tool that empties wallets, the drainer called Quillpink, is sold.', ['malware Quillpink']],
  ['Found were Trojan-Banker.AndroidOS.Agent and Trojan-Banker.AndroidOS.Quillmont.', ['malware Quillmont']],
  // People, campaigns, vulnerabilities and rules.
  ['Zorb Quillevich, the alleged leader of the ransomware group, was charged.', []],
  ['A threat actor runs a campaign dubbed QuillFlag with a flaw called ZorbShell.', []],
  ['ET MALWARE Quillver Loader Activity', []],
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

test('reads a text of a megabyte that repeats names within the time of a test', () => {
  expect(read('The Sable Quill ransomware gang '.repeat(30_000))).toContain('malware Sable Quill');
  expect(read('The Sable Quill ransomware attack hit. '.repeat(25_000))).toEqual([]);
  expect(extractNames('Lazarus sent '.repeat(70_000)).map(({ name }) => name)).toEqual(['Lazarus Group']);
});

test('keeps the aliases of a list, which may be common words', () => {
  const [found] = extractNames(
    'APT456, also known as Zorbvark, Plinth Heron, and Mirthfly, is a hacking group.',
    parseNameTable(''),
  );
  expect(found!.aliases).toEqual(['Zorbvark', 'Plinth Heron', 'Mirthfly']);
});
