import { expect, test } from 'vitest';
import { extractItem } from '../extract-item.ts';

// Sentences about named actors in the present tense, actors of a stated origin, and events that last.
test.each([
  [
    'critical',
    'Telecom operators under watch',
    'Salt Typhoon has spied on telecom operators since 2024. Salt Typhoon exploits vulnerabilities in VPN appliances to enter the networks.',
  ],
  [
    'critical',
    'Attacks targeting VPN vulnerabilities are linked to LockBit',
    'Researchers linked attacks targeting the vulnerabilities of the gateway to LockBit. One victim was asked for a ransom.',
  ],
  [
    'critical',
    'File transfer zero-day leads to ransomware',
    'Attackers exploited CVE-2026-11111 in the MOVEit file transfer server. The attackers deployed ransomware on the servers a day later.',
  ],
  [
    'critical',
    'Editor updates were compromised',
    'The update of Notepad++ was hijacked. Attackers used the hijacked updates to install a backdoor.',
  ],
  [
    'high',
    'Agency extends its list',
    'The agency added two flaws of cameras and controllers to its Known Exploited Vulnerabilities catalog on Monday.',
  ],
  [
    'high',
    'Foobaria-linked hackers deploy a fake meeting program',
    'The program asks for a password. It sends the password to a server.',
  ],
  [
    'high',
    'Operation under the radar',
    'The espionage operation against ministries has been running for years and was linked to a group that was described in 2015. A document of May 2026 installs the backdoor.',
  ],
  [
    'high',
    'Wiper with a new name',
    'A group linked to Iran used a wiper called Foobar. The Cybersecurity and Infrastructure Security Agency warned of wipers last June.',
  ],
  [
    'high',
    'Report on a long campaign',
    'Check Point Research described a campaign in which hackers targeted ministries of several countries with a backdoor.',
  ],
  [
    'high',
    'Users in Asia receive mails',
    'Chinese-speaking users are the target of a campaign in which the attackers sent a backdoor.',
  ],
  [
    'high',
    'Flaw of switches used for three years',
    'The flaw has been exploited in the wild since at least 2023. The vendor published the update in May 2026.',
  ],
  ['none', 'A tool for testers', 'Foobar is a program used to detect vulnerabilities in the network of a company.'],
])('rates as %s: %s', (severity, title, text) => {
  expect(extractItem({ title, text }).severity).toBe(severity);
});
