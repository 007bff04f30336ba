import { expect, test } from 'vitest';
import { listRelationships, withoutTechniques } from '../../../../test/support/feed/read-relationships.ts';

test.each([
  // Tools that somebody abused, lists after a colon, and what others received.
  ['APT29 affiliates abused Rclone and Mimikatz.', ['APT29 uses Mimikatz', 'APT29 uses Rclone']],
  ['APT29 operates two malware families: WellMess and Emotet.', ['APT29 uses WellMess', 'APT29 uses Emotet']],
  ['APT29 sent phishing emails to Norwegian banks.', ['APT29 targets NO', 'APT29 targets financial-services']],
  [
    'APT29 delivered Emotet to hospitals in Norway.',
    ['APT29 uses Emotet', 'APT29 targets healthcare', 'APT29 targets NO'],
  ],
  ['APT29 sent stolen data to Norwegian servers.', []],
  ['APT29 deployed Emotet to steal credentials of Norwegian diplomats.', ['APT29 uses Emotet']],
  // Subjects: the patient of a passive voice, the name beside an auxiliary, and a participle at the beginning.
  [
    'Emotet was deployed against a Norwegian energy company by APT29.',
    ['APT29 uses Emotet', 'Emotet targets energy', 'Emotet targets NO'],
  ],
  [
    'In the attacks of APT29, Emotet is aimed at Norwegian banks.',
    ['Emotet targets financial-services', 'Emotet targets NO'],
  ],
  ['Attributed to APT29, the Go-based WellMess is new.', ['WellMess attributed-to APT29']],
  ['Used by APT29, WellMess is new.', ['APT29 uses WellMess']],
  ['WellMess can record audio and hides as a browser while targeting Norwegian users.', ['WellMess targets NO']],
  // Names that are compared or are aliases of the subject.
  ['Unlike APT28, APT29 deployed Emotet.', ['APT29 uses Emotet']],
  ['APT29 (also known as Quill Hollow and tracked by Example Labs as UNC7712) used Emotet.', ['APT29 uses Emotet']],
  ['Turla, which Example Labs tracks as UNC7712, used Emotet.', ['Turla uses Emotet']],
  // Sectors and countries without a noun, and words that name what malware steals.
  ['APT29 attacked firms, with a particular focus on healthcare.', ['APT29 targets healthcare']],
  ['APT29 targets Norwegian Clinics and Government in New Campaign', ['APT29 targets NO', 'APT29 targets government']],
  ['APT29 has targeted the UK, New Zealand, and India.', ['APT29 targets GB', 'APT29 targets NZ', 'APT29 targets IN']],
  ['Emotet targets users with the goal of stealing banking credentials from its targets.', []],
  ['APT29 attacked Norwegian human rights defenders.', ['APT29 targets NO']],
  // Other ways to state what an actor uses.
  ['APT29 switched from Emotet to TrickBot.', ['APT29 uses TrickBot']],
  ['APT29 campaigns typically lead to Emotet.', ['APT29 uses Emotet']],
  ['An analysis of APT29 attacks led to the discovery of Emotet.', []],
  ['Criminals used a tool called Mimikatz to steal passwords before deploying Emotet.', []],
  ['APT29 expanded its operations to new regions with Emotet.', ['APT29 uses Emotet']],
  ['Example Labs tracked the campaign of APT29 in May; the group used Emotet.', ['APT29 uses Emotet']],
  ['The Emotet malware is old; analysts attribute it to APT29.', ['Emotet attributed-to APT29']],
  // Places and victims.
  ['APT29 is spreading Emotet through mail in Norway.', ['APT29 uses Emotet', 'APT29 targets NO']],
  ['APT29 is spreading Emotet from servers hosted in Norway.', ['APT29 uses Emotet']],
  [
    'Researchers discovered Emotet in the networks of Norwegian ministries.',
    ['Emotet targets NO', 'Emotet targets government'],
  ],
  [
    'APT29 is behind a string of intrusions at Norwegian banks.',
    ['APT29 targets NO', 'APT29 targets financial-services'],
  ],
  [
    'Analysts attributed the attacks on Norwegian banks to APT29.',
    ['APT29 targets NO', 'APT29 targets financial-services'],
  ],
  [
    'A wave of attacks against Norwegian banks was attributed to APT29.',
    ['APT29 targets NO', 'APT29 targets financial-services'],
  ],
  [
    'In attacks on Norwegian banks, APT29 used Emotet.',
    ['APT29 uses Emotet', 'APT29 targets NO', 'APT29 targets financial-services'],
  ],
  ['In attacks on Norwegian banks, criminals used mail.', []],
  // Exploits without an article.
  ['Emotet infects routers through CVE-2026-1234.', ['Emotet exploits CVE-2026-1234']],
  ['APT29 Targets Quillsoft Zero-Day CVE-2026-1234', ['APT29 exploits CVE-2026-1234']],
  // A name that a publisher gives, a list after the agent, and one victim.
  ['APT29 uses a backdoor that Example Labs calls WellMess.', ['APT29 uses WellMess']],
  ['Malware used by APT29: WellMess, Emotet', ['APT29 uses WellMess', 'APT29 uses Emotet']],
  [
    'APT29 deployed Emotet at a Norwegian telecom company.',
    ['APT29 uses Emotet', 'APT29 targets telecommunications', 'APT29 targets NO'],
  ],
  ['APT29 deployed Emotet at a later stage.', ['APT29 uses Emotet']],
  ['APT29 is running two campaigns against Norwegian banks.', ['APT29 targets NO', 'APT29 targets financial-services']],
  ['Группировка APT29 использует бэкдор WellMess в атаках на компании.', ['APT29 uses WellMess']],
  ['The attack on Norway by criminals in May was large, said APT29 expert Jane Doe.', []],
  ['TrickBot was seen in the honeypots of a Norwegian university.', []],
  [
    'APT29 has attacked energy, defense and technology.',
    ['APT29 targets energy', 'APT29 targets defense', 'APT29 targets technology'],
  ],
  ['APT29 attacked an institute working on strategic technology.', []],
  ['APT29 disrupted Norwegian banks.', ['APT29 targets NO', 'APT29 targets financial-services']],
  ['WellMess is another malware produced by the group APT29.', ['APT29 uses WellMess']],
  // Relative clauses, clauses in front of the subject, and `the flaw` of the same sentence.
  ['WellMess, a backdoor that APT29 deploys through mail, is new.', ['APT29 uses WellMess']],
  [
    'By chaining CVE-2026-1281 and CVE-2026-1340, the group APT29 gained access.',
    ['APT29 exploits CVE-2026-1281', 'APT29 exploits CVE-2026-1340'],
  ],
  ['Using Emotet, APT29 attacked banks.', ['APT29 uses Emotet', 'APT29 targets financial-services']],
  ['By exploiting CVE-2026-1281, criminals hit the rivals of APT29.', []],
  ['CVE-2026-1731 is on the list after APT29 exploited the flaw.', ['APT29 exploits CVE-2026-1731']],
  ['APT29 exploited the flaw before CVE-2026-1731 was known.', []],
  [
    'Researchers found the implant WellMess in Norwegian and Polish hospitals.',
    ['WellMess targets NO', 'WellMess targets PL', 'WellMess targets healthcare'],
  ],
  ['Researchers found WellMess in ZIP archives.', []],
  ['APT29 delivered Emotet to selected victims in Norway.', ['APT29 uses Emotet', 'APT29 targets NO']],
  ['APT29 gained access to Norwegian banks.', ['APT29 targets NO', 'APT29 targets financial-services']],
  [
    'WellMess is malware that steals documents from Norwegian banks.',
    ['WellMess targets NO', 'WellMess targets financial-services'],
  ],
])('reads the statements of: %s', (text, expected) => {
  expect(withoutTechniques(listRelationships(text)).toSorted()).toEqual(expected.toSorted());
});
