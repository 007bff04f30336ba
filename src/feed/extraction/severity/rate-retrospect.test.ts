import { expect, test } from 'vitest';
import { extractItem } from '../extract-item.ts';

const rate = (title: string, text: string) =>
  extractItem({ title, text: `${title}\n\n${text}`, publishTime: '2026-03-02T00:00:00Z' }).severity;

// Old attacks told without a recent year, flaws as instruments, attackers after a participle, and countries of authorities.
test.each([
  [
    'low',
    'The worm that stopped the trains',
    'In May 2017, a ransomware attack spread across the globe and crippled hospitals. The attackers demanded a ransom. Companies and hospitals suffered losses in the billions.',
  ],
  [
    'high',
    'The worm that stopped the trains',
    'In May 2017, a ransomware attack spread across the globe. In February 2026, the group behind it attacked a bank in Canada with ransomware.',
  ],
  [
    'critical',
    'Institute breached: hackers infiltrated its network with Ivanti zero-day exploits',
    'The attack was attributed to a group from China. The institute informed the police.',
  ],
  [
    'critical',
    'Package attack hits wallets',
    'Hackers broke into the account of a developer. By adding malicious code to popular libraries, they reached wallets. In this supply chain hack, 50 dollars have been stolen. The libraries have been downloaded over 1 billion times.',
  ],
  [
    'medium',
    'Cybercriminals target wallets with new tactics',
    'Acme Security highlighted the emergence of malicious packages in a repository. What are the risks for users? The packages contain hidden malicious code that changes the files of wallets.',
  ],
  [
    'none',
    'Bulletin 266: Understanding the risk of phishing services',
    'The following information was obtained from sources of the national police of a European country. A form of crime involves criminals who use the Internet to offer phishing to others.',
  ],
  [
    'medium',
    'Sites that sold the Foobar trojan were seized',
    'Canadian authorities on Friday said they had seized websites used to sell a trojan. The trojan records keystrokes and takes screenshots.',
  ],
])('rates as %s: %s', (severity, title, text) => {
  expect(rate(title, text)).toBe(severity);
});
