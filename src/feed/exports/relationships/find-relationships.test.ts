import { describe, expect, test } from 'vitest';
import {
  extractFrom,
  listRelationships,
  readRelationships,
  withoutTechniques,
} from '../../../../test/support/feed/read-relationships.ts';
import { expectLinearTime, repeated } from '../../../../test/support/linear-time.ts';
import { findRelationships } from './find-relationships.ts';

describe('relationships stated by a sentence', () => {
  test.each([
    ['APT29 deployed WellMess against its victims.', ['APT29 uses WellMess']],
    ['WellMess has been used by APT29 since 2018.', ['APT29 uses WellMess']],
    [
      'The actors of APT29 use WellMess, SUNBURST and TEARDROP.',
      ['WellMess', 'SUNBURST', 'TEARDROP'].map((name) => `APT29 uses ${name}`),
    ],
    ['Turla, like APT29, used Emotet.', ['Turla uses Emotet']],
    ['Much like Emotet, WellMess was used by APT29.', ['APT29 uses WellMess']],
    ['In contrast to APT28, Turla used Emotet.', ['Turla uses Emotet']],
    ['Emotet rather than TrickBot was used by Turla.', ['Turla uses Emotet']],
    ['Groups like APT29 and Turla used Emotet.', ['Turla uses Emotet', 'APT29 uses Emotet']],
    ['Turla hijacked the infrastructure of APT28 and deployed WellMess.', ['Turla uses WellMess']],
    ['A cluster tracked as UNC1234 with links to APT29 used Emotet.', ['UNC1234 uses Emotet']],
    // Names that are only compared, connected or handled, subjects without a name, and places beside a target.
    ['APT28, a group loosely linked to APT29, used Emotet.', ['APT28 uses Emotet']],
    ['Attacks linked to APT29 used Emotet.', ['APT29 uses Emotet']],
    ['Emotet uses the same configuration structure as the TrickBot loader.', []],
    ['Emotet loads its data in a very similar way to the TrickBot malware.', []],
    ['On the day Emotet was deployed, another wiper attacked modems in Norway.', []],
    [
      'Groups such as APT29 and other actors attacked banks in Norway.',
      ['APT29 targets NO', 'APT29 targets financial-services'],
    ],
    ['Someone used a modified Emotet variant to attack banks in Norway.', []],
    ['APT37 hacked a newspaper focused on Norway.', []],
    ['APT37 attacked the neighbors of Norway.', []],
    // References to somebody without a name, and names of something else.
    ['APT29 was active. Another espionage group attacked banks in Norway. The group used Emotet.', []],
    ['APT29 was active. It is a large group. The group used Emotet.', ['APT29 uses Emotet']],
    ['Hackers deployed Emotet. The tactic, known as the Contagious Interview campaign, is old.', []],
    ['Hackers deployed Emotet. Researchers track the group as APT29.', ['APT29 uses Emotet']],
    // Further verbs.
    [
      'TAG-110 runs a campaign directed at banks in Norway.',
      ['TAG-110 targets NO', 'TAG-110 targets financial-services'],
    ],
    ['Storm-0501 targeted the critical flaw CVE-2023-42793.', ['Storm-0501 exploits CVE-2023-42793']],
    ['APT29 is old. It has been associated with the deployment of WellMess.', ['APT29 uses WellMess']],
    ['TrickBot downloads Emotet and drops Ryuk.', ['TrickBot uses Emotet', 'TrickBot uses Ryuk']],
    ['Turla attacked Germany from servers in Norway.', ['Turla targets DE']],
    ['APT29 has targeted Norway, Germany said.', ['APT29 targets NO']],
    ['Victims of Emotet were found in Japan, researchers at a German university said.', ['Emotet targets JP']],
    ['The attack was first attributed to APT29 but later to APT28, who used Emotet.', ['APT28 uses Emotet']],
    ['Both APT28 and APT29 used Mimikatz.', ['APT28 uses Mimikatz', 'APT29 uses Mimikatz']],
    ['The TrickBot malware drops Ryuk on the hosts.', ['TrickBot uses Ryuk']],
    [
      'APT29 targets government agencies and energy companies in Norway.',
      ['APT29 targets government', 'APT29 targets energy', 'APT29 targets NO'],
    ],
    ['APT29 exploited CVE-2023-42793 in TeamCity.', ['APT29 exploits CVE-2023-42793']],
    ['CVE-2023-42793 was exploited in the wild by APT29.', ['APT29 exploits CVE-2023-42793']],
    ['Stone Panda used Cobalt Strike.', ['menuPass uses Cobalt Strike']],
    [
      'APT29 used WellMess against energy companies in Norway.',
      ['APT29 targets NO', 'APT29 targets energy', 'APT29 uses WellMess'],
    ],
    ['The WellMess malware is attributed to APT29.', ['WellMess attributed-to APT29']],
    ['APT29 was active again. The group deployed WellMess.', ['APT29 uses WellMess']],
    ['APT29 is back. The attackers are using WellMess, and They exploit nothing.', ['APT29 uses WellMess']],
    ['# APT29\n\n* Used the tools **WellMess** and **SUNBURST**.', ['APT29 uses WellMess', 'APT29 uses SUNBURST']],
    ['APT29 targets Ukrainian government agencies.', ['APT29 targets UA', 'APT29 targets government']],
    ['APT29 relies on WellMess.', ['APT29 uses WellMess']],
    ['APT29 infected hosts in Norway with WellMess.', ['APT29 targets NO', 'APT29 uses WellMess']],
    ['APT29 struck the Czech foreign ministry.', ['APT29 targets CZ']],
    ['TrickBot was seen delivering Ryuk.', ['TrickBot uses Ryuk']],
    ['Researchers attribute the SUNBURST implant to APT29.', ['SUNBURST attributed-to APT29']],
    ['We saw the deployment of WellMess by APT29.', ['APT29 uses WellMess']],
    ['APT29’s WellMess backdoor was updated.', ['APT29 uses WellMess']],
    ['APT29 used WellMess, but also used a tool called Mimikatz.', ['APT29 uses WellMess', 'APT29 uses Mimikatz']],
    [
      'APT29 deployed the WellMess backdoor, the legitimate Mimikatz tool, and SUNBURST.',
      ['APT29 uses WellMess', 'APT29 uses Mimikatz', 'APT29 uses SUNBURST'],
    ],
    ['The flaw is tracked as CVE-2023-42793. APT29 is actively using the bug.', ['APT29 exploits CVE-2023-42793']],
    [
      'Le groupe APT29 utilise le logiciel malveillant WellMess dans les attaques contre la Norvège et les entreprises.',
      ['APT29 targets NO', 'APT29 uses WellMess'],
    ],
    [
      'Die Gruppe APT29 verwendet die Schadsoftware WellMess seit dem Frühjahr, und das ist neu.',
      ['APT29 uses WellMess'],
    ],
    ['Die Gruppe APT29 soll die Schadsoftware WellMess seit dem Frühjahr verwendet haben, und das ist neu.', []],
    ['Le groupe APT29 n’utilise pas le logiciel malveillant WellMess dans les attaques de la semaine.', []],
    ['APT29, a hacking group of Russia, is back.', []],
    ['We attribute this campaign to APT29.', []],
    ['The news media reported attacks by APT29.', []],
  ])('finds the relationships of: %s', (text, expected) => {
    expect(withoutTechniques(listRelationships(text)).toSorted()).toEqual(expected.toSorted());
  });

  test.each([
    'APT29 did not use WellMess.',
    'APT29 may have used WellMess.',
    'APT29 and WellMess were in the news.',
    'WellMess was used, and APT29 is unrelated.',
    'APT29 was seen again. WellMess is a backdoor.',
    'APT28 and APT29 were active. The group deployed WellMess.',
    'APT29 was active again.\nAnother Story Without Names\nThe attackers deployed WellMess.',
    'APT29 deployed a backdoor. It was written by the group that sold WellMess.',
    'Did APT29 use WellMess?',
  ])('not: %s', (text) => {
    expect(withoutTechniques(listRelationships(text))).toEqual([]);
  });

  test('keeps the sentence as the passage', () => {
    const [first] = readRelationships('A long story begins. APT29 deployed the WellMess malware in May. It ended.');
    expect(first!.passage).toBe('APT29 deployed the WellMess malware in May.');
  });
});

describe('names that other words stand for', () => {
  test.each([
    ['APT29 is back. This notorious Russian group is now using WellMess.', ['APT29 uses WellMess']],
    ['APT28 and APT29 are active. The attackers deployed Mimikatz.', ['APT28 uses Mimikatz', 'APT29 uses Mimikatz']],
    ['APT28 and APT29 are active. The gangs targeted Norway.', ['APT28 targets NO', 'APT29 targets NO']],
    ['APT29 overlaps with APT28 in its tools. The group deployed WellMess.', ['APT29 uses WellMess']],
    ['APT29 is one of the oldest groups. In a new wave, it has targeted Norway.', ['APT29 targets NO']],
    ['APT29 is active again. Recently, they have introduced a backdoor known as WellMess.', ['APT29 uses WellMess']],
    ['APT29 is active again. Its arsenal includes WellMess.', ['APT29 uses WellMess']],
    ['WellMess is a backdoor. The campaign targets Norwegian users.', ['WellMess targets NO']],
    [
      'APT29 is active. The intrusions begin with mail. The attackers then installed WellMess.',
      ['APT29 uses WellMess'],
    ],
    ['APT29 was seen in May. Targeted countries include Norway and Chile.', ['APT29 targets CL', 'APT29 targets NO']],
    [
      'APT29 was seen in May. Its primary targets are banks in Norway.',
      ['APT29 targets NO', 'APT29 targets financial-services'],
    ],
    [
      'Two flaws, CVE-2026-1111 and CVE-2026-2222, are known. APT29 exploits these vulnerabilities.',
      ['APT29 exploits CVE-2026-1111', 'APT29 exploits CVE-2026-2222'],
    ],
  ])('of an earlier sentence: %s', (text, expected) => {
    expect(withoutTechniques(listRelationships(text)).toSorted()).toEqual(expected.toSorted());
  });

  test.each([
    ['A Russian group has been targeting energy companies. Researchers track it as APT29.', ['APT29 targets energy']],
    [
      'A new backdoor targets banks in Norway. Dubbed WellMess, the malware steals files.',
      ['WellMess targets NO', 'WellMess targets financial-services'],
    ],
    [
      'APT29 exploits a now-patched flaw in mail servers. The bug, tracked as CVE-2026-1111, is severe.',
      ['APT29 exploits CVE-2026-1111'],
    ],
    [
      'APT29 got in by exploiting two vulnerabilities. One is a bypass identified as CVE-2026-1111, and the other is CVE-2026-2222.',
      ['APT29 exploits CVE-2026-1111', 'APT29 exploits CVE-2026-2222'],
    ],
  ])('of the next sentence: %s', (text, expected) => {
    expect(withoutTechniques(listRelationships(text)).toSorted()).toEqual(expected.toSorted());
  });

  test.each([
    [
      'APT29 is "targeting many sectors—including defense, local government, and energy—in Asia," they said.',
      ['APT29 targets defense', 'APT29 targets energy', 'APT29 targets government'],
    ],
    ['APT29 has been spying on government agencies.', ['APT29 targets government']],
    ['- APT28 & APT29: Using Mimikatz since May', ['APT28 uses Mimikatz', 'APT29 uses Mimikatz']],
    ['APT29 got access from Turla before deploying tools like the WellMess backdoor.', ['APT29 uses WellMess']],
    ['APT29 used WellMess, Foobarex/Bazarex, and Mimikatz.', ['APT29 uses Mimikatz', 'APT29 uses WellMess']],
  ])('in one sentence: %s', (text, expected) => {
    expect(withoutTechniques(listRelationships(text)).toSorted()).toEqual(expected.toSorted());
  });

  test.each([
    [
      'Le groupe APT29 est de retour dans les médias. Le groupe a déployé WellMess contre des ministères.',
      ['APT29 targets government', 'APT29 uses WellMess'],
    ],
    [
      'El grupo APT29 ha vuelto a las noticias del país. Entre sus herramientas, utilizan Mimikatz para las contraseñas.',
      ['APT29 uses Mimikatz'],
    ],
    [
      'O malware WellMess se destaca pela sua atuação no Brasil e no Chile, e tem como alvo instituições financeiras.',
      ['WellMess targets BR', 'WellMess targets CL', 'WellMess targets financial-services'],
    ],
    [
      'Die Gruppe APT29 ist wieder da. Die Angreifer verteilten WellMess und griffen Behörden in Norwegen an.',
      ['APT29 targets NO', 'APT29 targets government', 'APT29 uses WellMess'],
    ],
  ])('in other languages: %s', (text, expected) => {
    expect(withoutTechniques(listRelationships(text)).toSorted()).toEqual(expected.toSorted());
  });

  test.each([
    'APT29 and WellMess were in the news. It targets Norway.',
    'APT29 was in the news. The group of researchers deployed Mimikatz.',
    'A group targets energy companies. The campaign is tracked as APT29.',
    'WellMess was seen again. APT29 sells the malware execution service.',
  ])('not: %s', (text) => {
    expect(withoutTechniques(listRelationships(text))).toEqual([]);
  });
});

describe('names that indicators indicate', () => {
  const indicates = (text: string): string[] => listRelationships(text).filter((one) => one.includes(' indicates '));

  test('in one sentence', () => {
    expect(indicates('The Emotet malware contacted evil-panel[.]top as its command and control server.')).toEqual([
      'evil-panel.top indicates Emotet',
    ]);
    const two = 'Emotet and TrickBot contacted evil-panel[.]top as their command and control server.';
    expect(indicates(two)).toEqual([]);
    expect(indicates('The C2 server evil-panel[.]top is not related to the Emotet malware.')).toEqual([]);
  });

  test('in the rows of a table and under a heading with one name', () => {
    const text = `# Two families

## Indicators of Emotet

- evil-panel[.]top
- 198.51.101.9

## Other indicators

- other-panel[.]top

TrickBot servers:
third-panel[.]top

fourth-panel[.]top
Some more text that says nothing.
fifth-panel[.]top

| Family | Domain |
| TrickBot | row-panel[.]top |`;
    expect(indicates(text).toSorted()).toEqual([
      '198.51.101.9 indicates Emotet',
      'evil-panel.top indicates Emotet',
      'fourth-panel.top indicates TrickBot',
      'row-panel.top indicates TrickBot',
      'third-panel.top indicates TrickBot',
    ]);
  });
});

test.each(['APT29 used! ', 'APT29 uses ', 'APT29’s ', 'A group. ', 'evil.top\n', 'Attribute[0].value: APT29\n'])(
  'takes linear time for a report full of %j',
  (piece) => {
    const textOf = repeated(piece, 'APT29 used WellMess.\n');
    const reportOf = (length: number) => extractFrom(textOf(length), 'A report');
    return expectLinearTime(reportOf, (report) => findRelationships(...report), 60_000);
  },
);
