import { expect, test } from 'vitest';
import { extractItem } from '../extract-item.ts';

// Patches, exploited vulnerabilities, contests and explanations, in the words of advisories and of posts for users.
test.each([
  [
    'high',
    'Vendor patches second browser flaw of the month',
    'The update closes a memory flaw in the script engine. So this is the second flaw of the browser that was found exploited in the wild in the past two weeks.',
  ],
  [
    'medium',
    'Malware on phones',
    'The figures show that infecting phones with malware is the main attack vector used in the wild. Trojans for phones were distributed by text message.',
  ],
  [
    'high',
    'Exploited zero-day among 12 flaws fixed in mail client',
    'The update fixes 12 flaws, among them a zero-day that was actively exploited in the wild.\nWhat is a zero-day vulnerability?\nIt is a flaw that attackers use before a patch exists.',
  ],
  [
    'none',
    'The intruders came at night',
    'The attackers gained access with a stolen password and used lateral movement.\nThey copied files.\nThey started the ransomware.\nThe monitoring noticed the noise.\nThis is the average case.\nIt lasts 200 days.\nA good plan saves money.\nEvidence is collected in order.\nMemory comes first.\nDisks come second.\nWhat is incident response?\nIt is the work that stops an attack.',
  ],
  [
    'low',
    'Why you should update the print server now',
    'The flaw CVE-2026-11111 in the print server can be exploited over the network. You should install the update this week. You can find it in the portal of the vendor.',
  ],
  [
    'medium',
    'A strange test before the download',
    'You can meet such a test on many pages. You should not copy what it shows. You will see a box. Researchers at Foobar discovered that the box copies a command which installs a stealer.',
  ],
  [
    'critical',
    '#StopRansomware: Foobar Ransomware',
    'The agencies publish what is known of the Foobar ransomware. Its actors have targeted a wide range of critical infrastructure sectors since March.',
  ],
  [
    'none',
    'The silent battle of side-channel attacks',
    'Side-channel attacks observe physical effects. Each computation leaves a trace, such as heat or a small change of the current.',
  ],
  [
    'low',
    'Foobar 2.0 is vulnerable to timing-based authentication bypass',
    'The comparison of keys takes longer if the first characters match. Version 2.1 compares them in constant time.',
  ],
  [
    'low',
    'Foobar ransomware group closes',
    'The ransomware group has shut down and released the decryption keys of all its victims. The operators said that they are sorry.',
  ],
  [
    'critical',
    'Sites hacked due to a zero-day in a forum plugin',
    'Hackers targeted a zero-day vulnerability in a WordPress plugin. More than 3,000 sites were compromised since Monday.',
  ],
  [
    'critical',
    'Zero-day in VPN gateways is actively exploited',
    'The vulnerability has led to confirmed intrusions in several regions. The vendor works on a patch.',
  ],
  [
    'low',
    'Charging station plays a video game',
    'At Pwn2Own in Japan, the hackers of one team compromised a charging station of an automotive supplier. Researchers exposed 30 zero-day vulnerabilities.',
  ],
  [
    'high',
    'College cancels classes',
    'Foobar University said that its network was taken offline on Monday after a cybersecurity attack. Lectures resume on Thursday.',
  ],
])('rates %s: %s', (expected, title, text) => {
  const item = extractItem({ title, text: `${title}\n\n${text}`, publishTime: '2026-06-01T00:00:00Z' });
  expect(item.severity, item.severityRule).toBe(expected);
});

test('rates an explanation without a title by its address', () => {
  const text =
    'A worm attack on an update server compromised a build server of many companies. It spread malicious versions of packages that are widely used.';
  const rate = (path: string) => extractItem({ text, sourceUrl: `https://blog.example/${path}` }).severity;
  expect([rate('what-is-a-worm'), rate('worm-in-packages')]).toEqual(['none', 'critical']);
});
