import { expect, test } from 'vitest';
import { extractItem } from '../extract-item.ts';

// Addressees of advice, invented cases, exposed data, participles that are adjectives, and events after an abbreviation or a decimal.
test.each([
  [
    'high',
    'Vendor fixes a zero-day of its firewall that is actively exploited',
    'The flaw has been actively exploited in the wild. The vendor issued an urgent call for all affected organizations to install the update.',
  ],
  [
    'high',
    'Firewall flaw exploited in the wild',
    'The agency confirmed that the flaw of the firewall is actively exploited. Affected companies and hospitals should install the update today.',
  ],
  [
    'critical',
    'Firewall flaw exploited in the wild',
    'The agency confirmed that the flaw of the firewall is actively exploited. It urged companies to install the update after three companies were breached.',
  ],
  [
    'critical',
    'State-linked hackers breach agencies',
    'China-linked hackers are exploiting ToolShell to breach government agencies in Europe. A telecom operator was among the victims.',
  ],
  [
    'low',
    'New plugin vulnerability raises concern',
    'Website administrators are once again being urged to update after researchers disclosed a serious vulnerability of a plugin.',
  ],
  [
    'none',
    'Case studies for responders',
    'The following fictional cases show how responders work. A financial company was attacked with LockBit ransomware, and the attackers encrypted its servers.',
  ],
  [
    'high',
    'Ransomware at a bank',
    'This is not a hypothetical case. A bank was attacked with ransomware, and the attackers encrypted its servers.',
  ],
  [
    'low',
    'Wiz CTF: the pirate binary',
    'The task was to analyze a binary from a compromised environment. The attackers had moved laterally in the story of the challenge.',
  ],
  [
    'low',
    'Data breach exposes data of 80 million U.S. households',
    'Researchers discovered an unprotected database with the addresses of 80 million households in the United States. The owner closed it after a day.',
  ],
  [
    'medium',
    'Stealers and their logs',
    'Stealers are fueling a wave of ransomware, with stolen data on offer for ten dollars. A consultant from Europe spoke about malicious software of this kind at a conference.',
  ],
  [
    'high',
    'Job offers with malware',
    'A coin exchange in Estonia published the results of an investigation into the theft of $37.3 million by North Korean hackers on July 22.',
  ],
  [
    'medium',
    'Foobar stealer spreads by mail',
    'The Foobar stealer collects passwords and sends them to its server. Threat actors often increase their attacks during U.S. holidays.',
  ],
  [
    'critical',
    'The worm that hides in packages',
    'The supply chain worm was published in 404 malicious versions across 172 npm packages. A group called Foobars published its source code.',
  ],
  [
    'critical',
    'A supply chain worm spreads',
    'The worm compromised 160 packages. They have 518 million cumulative downloads, and the attackers stole tokens of developers.',
  ],
  [
    'medium',
    'Malicious files spread by mail',
    'Acme has observed malicious shortcut files. The files are sent by mail, and the PowerShell command in them downloads a program.',
  ],
  [
    'low',
    'Agency publishes 21 advisories for power plants',
    'Coming amid heightened tensions and a surge in ransomware attacks targeting critical infrastructure, the advisories describe new vulnerabilities of controllers.',
  ],
  [
    'critical',
    'Water utility stops its pumps amid ransomware attack',
    'Attackers encrypted the servers of the water utility with ransomware on Monday. The company stopped its pumps.',
  ],
  [
    'none',
    'Old power grids become targets',
    'Sophisticated adversaries, including state-sponsored groups, continuously target power grids with ransomware. Protecting the grids demands a strategy.',
  ],
])('rates as %s: %s', (severity, title, text) => {
  expect(extractItem({ title, text }).severity).toBe(severity);
});

test('recognizes German words for exploitation with words between them', () => {
  const title = 'Dringende Updates für Betriebssysteme';
  const text =
    'Der Hersteller hat neun Schwachstellen geschlossen. Die Lücke CVE-2026-10001 erlaubt es Angreifern, fremden Code auszuführen – und wurde bereits aktiv in freier Wildbahn ausgenutzt. Die Updates stehen seit Mittwoch bereit und sollten bald installiert werden.';
  expect(extractItem({ title, text: `${title}\n\n${text}` }).severity).toBe('high');
});
