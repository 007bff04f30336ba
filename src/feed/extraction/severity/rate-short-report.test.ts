import { expect, test } from 'vitest';
import { extractItem } from '../extract-item.ts';

// Advisories, talks, denials, statistics, product news and attacks in the style of feeds.
test.each([
  [
    'low',
    'CRITICAL ALERT: PATCH NOW! Your router may be wide open!!!',
    'Researchers disclosed two flaws in a home router. Successful exploitation could allow an attacker to run commands. The vendor published firmware 1.0.4. There is no known public exploitation.',
  ],
  [
    'low',
    'ICSA-26-041-02: ACME HMI',
    'ACME reports that multiple vulnerabilities affect its HMI software. Successful exploitation of these vulnerabilities could allow an attacker to cause a denial-of-service condition. Critical infrastructure sectors: energy, water. Organizations should minimize network exposure for control system devices. No known public exploitation specifically targeting these vulnerabilities has been reported to CISA at this time.',
  ],
  [
    'low',
    'Security update for the mail server',
    'This release fixes CVE-2026-10001, CVE-2026-10002 and CVE-2026-10003. An attacker who can send mail could read memory. We thank the researchers who reported the problems.',
  ],
  [
    'low',
    'Oracle Critical Patch Update for January',
    'The update contains 318 new security patches across 90 products. Several vulnerabilities are remotely exploitable without authentication. Customers should apply the patches without delay.',
  ],
  [
    'low',
    'Talk: how we broke the secure boot of a smart lock',
    'At the conference we showed how a voltage glitch skips the signature check of the lock. The vendor was informed in May. No attacks are known.',
  ],
  [
    'low',
    'Fuzzing a PDF parser for fun',
    'Our team fuzzed an open-source PDF parser for three weeks and found eleven memory bugs. All of them are fixed in version 4.2.',
  ],
  [
    'none',
    'Acme wins best XDR award for the third year',
    "Acme stops ransomware, phishing and zero-day attacks before they happen. Customers trust our platform to protect their data. 'We blocked 4 billion threats last year,' says our CEO.",
  ],
  [
    'none',
    'Webinar: defending hospitals against ransomware',
    'Join our experts on 3 March. You will learn how ransomware gangs attack hospitals and how our solution helps. Register today.',
  ],
  [
    'none',
    'Five tips for safer passwords',
    'Use a password manager, enable MFA and do not reuse passwords. Attackers often try stolen passwords on other sites.',
  ],
  [
    'none',
    'Acme acquires a startup for identity security',
    'The acquisition adds identity threat detection to the platform. Terms were not disclosed. The team joins Acme in Berlin.',
  ],
  [
    'none',
    'Release notes 7.4',
    'New: dark mode and faster search. Fixed: the export of long tables no longer stops. Improved: the detection of duplicates.',
  ],
  [
    'high',
    'Threat report for the third quarter: ransomware up 12 percent',
    'We counted 1,402 victims on leak sites. Qilin and Akira were the most active groups. Manufacturing was hit most often, followed by healthcare.',
  ],
  [
    'high',
    'Akira hits a German machine builder',
    'The ransomware group Akira published 40 GB of data of a machine builder. The company confirmed that its servers were encrypted on 3 February.',
  ],
  [
    'critical',
    'Mass exploitation of CVE-2026-44444 in FortiGate by ransomware group',
    'The ransomware group Qilin has been exploiting CVE-2026-44444 in FortiGate firewalls since 20 February. At least 70 organizations were compromised.',
  ],
  [
    'high',
    'CISA adds one flaw to KEV catalog',
    'CISA added CVE-2026-55555 in a browser to its Known Exploited Vulnerabilities catalog, based on evidence of active exploitation. Federal agencies must patch by 20 March.',
  ],
  [
    'medium',
    'PoC exploit released for flaw in a backup product',
    'Exploit code for CVE-2026-66666 was published on GitHub on Tuesday. The vendor fixed the flaw in January. No exploitation has been seen.',
  ],
  [
    'low',
    'Flaws in the Foobar scheduler put build servers at risk',
    'Researchers found two flaws in the Foobar scheduler, CVE-2031-11111 and CVE-2031-22222. Example Labs, an Israeli security firm, reported them in May. The vendor fixed both in version 4.2. Malware was often installed on build servers of banks in France last year.',
  ],
  [
    'medium',
    'Bug in Foobar mail client fixed after code is published',
    'Foobar fixed a vulnerability in its mail client. A proof of concept exploit for the flaw was published on GitHub. Trojans steal mail of companies in Spain.',
  ],
  [
    'low',
    'January 2031 security releases of Foobar',
    'The project will release new versions on Tuesday to address 3 high severity issues. Version 8 is vulnerable to 2 of them.',
  ],
  [
    'medium',
    'Malicious extension for a popular browser swaps wallet addresses',
    'Researchers discovered a malicious extension that replaced addresses of wallets. It communicates with a command-and-control server and was removed from the store of the popular browser.',
  ],
  [
    'high',
    'Hackers exploit zero-day in Foobar firewalls',
    'Foobar released a patch on Monday. The vendor recommends that administrators install it.',
  ],
  [
    'high',
    'Ransomware at a software maker in Asia',
    'The attacker encrypted servers of a software company in South Asia. He claimed to have entered by exploiting a flaw in Palo Alto firewalls. The espionage group behind it was seen at a ministry in Europe.',
  ],
  [
    'high',
    'Loader mailed to Czech-speaking businesses',
    'Phishing emails infected Czech-speaking businesses with a loader in March. The attackers were seen to move laterally after a day.',
  ],
  [
    'low',
    'Thousands of heating controllers exposed on the web',
    'Example Labs found 9,000 controllers that answer without a password. They were mostly installed in schools.',
  ],
  [
    'low',
    "Company says customer data is safe after hacker's claim",
    'A hacker claimed on a forum to have stolen customer data. The company said it found no evidence of a breach and that its systems were not compromised.',
  ],
  [
    'low',
    'Ten years after the Bangladesh Bank heist',
    'In February 2016, hackers stole 81 million dollars through SWIFT. The Lazarus group was blamed in 2017.',
  ],
  [
    'medium',
    'Dissecting a new loader',
    'The loader arrives as a JavaScript file, decrypts shellcode and injects it into a suspended process. We have seen it deliver two stealers since December.',
  ],
  [
    'medium',
    'Phishing kit copies Microsoft 365 login pages',
    'The kit is sold on Telegram for 200 dollars a month. It captures passwords and session cookies and sends them to a bot.',
  ],
  [
    'low',
    'Fake toll messages ask for small payments',
    'The text messages lead to a page that asks for card details. It is a scam. Delete the message.',
  ],
  [
    'high',
    'Spear-phishing campaign against think tanks in Japan',
    'We observed spear-phishing emails to researchers of think tanks in Japan. The attachments install a backdoor that steals documents.',
  ],
  [
    'high',
    'North Korean IT workers hired by European companies',
    'Several European companies unknowingly hired North Korean workers with stolen identities, who exfiltrated source code and extorted their employers.',
  ],
  [
    'low',
    'Could attackers poison your AI assistant?',
    'We show that hidden text in a web page can make the assistant send data elsewhere. The vendor has changed the product. We know of no abuse.',
  ],
  [
    'none',
    'What is EPSS and how does it work?',
    'EPSS estimates the probability that a vulnerability is exploited in the next 30 days. CVSS measures severity. Both help you to prioritize.',
  ],
  [
    'critical',
    'Backdoored update of accounting software hits thousands of companies',
    "The vendor's update server was compromised and delivered a backdoored update to thousands of companies worldwide on Monday.",
  ],
  [
    'high',
    'Salt Typhoon breached a telecom operator',
    'The operator confirmed that Salt Typhoon had access to call records of customers between January and May 2025.',
  ],
  [
    'medium',
    'New botnet spreads over weak SSH passwords',
    'We captured the bot in our honeypots. It brute-forces SSH, installs a miner and waits for DDoS commands.',
  ],
  [
    'low',
    'Adobe fixes 30 flaws in Acrobat, none exploited',
    'Adobe released updates for Acrobat and Reader. They fix 30 vulnerabilities, 12 of them critical. Adobe is not aware of exploits in the wild.',
  ],
  [
    'low',
    'Bug in Linux scheduler lets users crash the kernel',
    'A local user can crash the kernel with a crafted call. The bug was introduced in 6.8 and is fixed in 6.12.',
  ],
  [
    'low',
    'Remembering NotPetya',
    'It is the anniversary of NotPetya. The wiper destroyed computers of many companies, among them a shipping line and several hospitals.',
  ],
  [
    'high',
    'Car maker is the latest target of hackers',
    'The company confirmed that hackers stole personal data of its employees. It has become the latest victim of an extortion group.',
  ],
])('rates %s: %s', (expected, title, text) => {
  const item = extractItem({ title, text: `${title}\n\n${text}`, publishTime: '2026-03-02T00:00:00Z' });
  expect(item.severity, item.severityRule).toBe(expected);
});

test('takes the month of May for no possibility', () => {
  const text = 'On 17 May 2026, a ransomware incident was reported against a manufacturer in Ohio.';
  const item = extractItem({ title: 'Incident at a manufacturer', text, publishTime: '2026-05-18T00:00:00Z' });
  expect(item.severity).toBe('high');
});

test('uses the first sentence of a long first line as the title', () => {
  const first = 'A vendor of accounting software confirmed a breach of its update server on Monday.';
  const text = `${first} The company notified about two hundred customers and replaced the certificates with which it signs its updates.`;
  expect(extractItem({ text }).title).toBe(first);
});
