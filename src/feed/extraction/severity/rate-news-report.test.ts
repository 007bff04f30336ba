import { expect, test } from 'vitest';
import { extractItem } from '../extract-item.ts';

// Incidents, campaigns, findings, scams and posts without a threat, in the words of news.
test.each([
  [
    'high',
    'Telecom provider confirms breach',
    'A telecommunications provider said on Monday that an unauthorized party accessed its customer database. The intruder copied names, phone numbers and account numbers of about two million customers before the access was cut off. The company has notified the regulator.',
  ],
  [
    'high',
    'Retail chain says customer data was taken',
    'The clothing retailer told customers by email that their personal information was obtained by an unauthorized third party. Card details were not affected. An investigation is under way and the police have been informed.',
  ],
  [
    'high',
    'Exchange loses $90 million in crypto heist',
    'The cryptocurrency exchange suspended withdrawals after hackers drained its hot wallets of more than $90 million. Blockchain investigators trace the funds to mixers.',
  ],
  [
    'high',
    'Pro-Russian group knocks ministry websites offline',
    'The websites of several ministries were unreachable for hours on Tuesday following a distributed denial-of-service attack. A hacktivist group took credit on Telegram.',
  ],
  [
    'high',
    'Agency orders patching of exploited browser bug',
    'The agency added a type confusion flaw in the browser engine to its catalog after evidence of active exploitation. Federal civilian agencies have three weeks to apply the update.',
  ],
  [
    'high',
    'Attackers pounce on router flaw',
    'Honeypots have recorded exploitation of a command injection bug in an end-of-life router since last Friday. The requests fetch a shell script that installs a bot.',
  ],
  [
    'high',
    'Job offers hide malware for developers',
    'A campaign tracked as Contagious Interview approaches software developers on LinkedIn with fake job offers. The coding test contains a downloader that installs a stealer. Victims work at cryptocurrency companies in Europe and the United States.',
  ],
  [
    'high',
    'School district closes after cyberattack',
    'All schools of the district stayed closed on Wednesday after ransomware locked the servers. Officials do not know yet whether student data was stolen.',
  ],
  [
    'high',
    'Spyware found on phones of journalists',
    'Forensic analysis of the phones of four journalists found traces of commercial spyware. The infections took place between March and May.',
  ],
  [
    'medium',
    'Inside the new loader',
    'We look at a loader that has appeared in several campaigns since the summer. It decrypts its payload with RC4 and resolves its imports by hash. Persistence is achieved by a scheduled task. Indicators are listed at the end.',
  ],
  [
    'medium',
    'New phishing kit imitates bank logins',
    'The kit is rented for 250 dollars a month and includes an admin panel. It relays one-time codes in real time and blocks security scanners.',
  ],
  [
    'medium',
    'Exploit for router bug published',
    'A researcher has released exploit code for the authentication bypass that the vendor fixed in March. There are no reports of attacks.',
  ],
  [
    'medium',
    'Android trojan hides in fake updates',
    'The trojan abuses accessibility services to read messages and record the screen. It communicates with its server by WebSocket. Samples carry the name of a browser update.',
  ],
  [
    'low',
    'Vendor fixes flaws in camera software',
    'The update closes five vulnerabilities. The most severe one allows an attacker on the same network to run commands. The vendor is not aware of exploitation.',
  ],
  [
    'low',
    'Researchers bypass fingerprint login',
    'The team showed that the sensor of three laptops can be deceived by a cheap device between sensor and mainboard. The manufacturers were informed.',
  ],
  [
    'low',
    'Fake shops lure Christmas shoppers',
    'Consumer advocates warn of fraudulent web shops that take payment and never deliver. The shops advertise on social media.',
  ],
  [
    'low',
    'Free decryptor for victims of old ransomware',
    'The company published a tool that restores files. The ransomware has not been active for a year.',
  ],
  [
    'none',
    'Company opens office in Madrid',
    'The security vendor announced that it opens an office in Madrid to support partners in Southern Europe. It plans to hire 40 people.',
  ],
  [
    'none',
    'Why backups matter',
    'Ransomware can hit any company. Attackers encrypt files and demand money. With the three-two-one rule you keep three copies on two media, one of them elsewhere. Test the restore regularly.',
  ],
  [
    'none',
    'Understanding lateral movement',
    'Lateral movement describes how attackers move through a network after the initial compromise. They use stolen credentials and remote services. This article explains how to monitor authentication logs.',
  ],
  [
    'none',
    'Platform adds detection for identity threats',
    'The new release of our platform detects token theft and impossible travel. Customers can enable the feature in the settings.',
  ],
  [
    'none',
    'The state of cyber insurance',
    'Premiums fell for the second year. Insurers ask for multi-factor authentication and tested backups. Brokers expect the market to stay soft.',
  ],
  [
    'none',
    'Five questions for your next penetration test',
    'A good test has a clear scope. Ask for the qualifications of the testers and how they handle your data.',
  ],
  [
    'critical',
    'Mass exploitation of file transfer servers',
    'An extortion group has exploited a zero-day in a managed file transfer product since last week. Dozens of companies have confirmed that data was stolen. The vendor has released a patch.',
  ],
  [
    'critical',
    'Wiper hits energy companies',
    'Data-wiping malware destroyed systems at several energy companies on Monday. The attackers spread it by group policy.',
  ],
  [
    'critical',
    'Backdoor in update of accounting software',
    'Attackers broke into the build server of the vendor and shipped a backdoored update to its customers. The software is used by more than 60,000 businesses.',
  ],
  [
    'critical',
    'Hospitals divert ambulances after ransomware attack',
    'A ransomware attack on the hospital chain forced staff to use paper records. Ambulances were diverted to other hospitals and operations were postponed.',
  ],
  [
    'low',
    'Looking back at the 2017 outbreak',
    'In May 2017 the worm infected hundreds of thousands of computers. In this post of 2025 we tell how the kill switch was found.',
  ],
  [
    'high',
    'Extortion group publishes data of law firm',
    'The group published 300 gigabytes of documents of a law firm on its leak site after the firm declined to pay. The data includes contracts of clients.',
  ],
  [
    'high',
    'Espionage group turns to cloud mailboxes',
    'The group, which is believed to work for a foreign intelligence service, has read the mail of diplomats through stolen tokens. Targets are in Central Europe.',
  ],
  [
    'high',
    'North Korean IT workers got jobs at 64 companies',
    'Prosecutors charged three people who helped IT workers from North Korea to get remote jobs at American companies. The workers also copied source code.',
  ],
  [
    'medium',
    'Malicious VS Code extensions drop a miner',
    'Two extensions in the marketplace downloaded a cryptocurrency miner. They were removed after our report. Both had fewer than 300 installs.',
  ],
  [
    'medium',
    'Tracking the infrastructure of a stealer',
    'By pivoting on certificates and panels we found 140 control servers of the stealer. Most are hosted by two providers. The list is below.',
  ],
  [
    'high',
    'Voice phishing leads to theft from CRM instances',
    "Callers who pose as IT support convince employees to connect a malicious app to their company's CRM. The actor, tracked as UNC6040, then exports customer data and demands payment. About 20 organizations have been affected.",
  ],
  [
    'critical',
    'Ransomware gang uses zero-day in backup server',
    'The Cactus ransomware gang has been exploiting an unpatched vulnerability in the internet-facing backup server of a popular vendor since Monday. At least 30 companies were encrypted.',
  ],
  [
    'none',
    'Survey: Most companies plan to raise security budgets',
    'Of 900 managers asked, 62 percent plan to spend more on security next year. Staff is the greatest concern.',
  ],
  [
    'none',
    'Court fines broker over late breach notice',
    'The regulator imposed a fine because the broker reported an incident of 2021 four months late.',
  ],
  [
    'low',
    'Smart lock can be opened with a magnet',
    'A researcher found that a cheap smart lock opens when a magnet is held to its side. The maker plans a new model.',
  ],
  [
    'none',
    'New CEO for security startup',
    'The startup named a former executive of a cloud provider as its chief executive. The founder becomes chairman.',
  ],
  [
    'none',
    'Webinar: Threat hunting with open-source tools',
    'In this session we show how to hunt for persistence and lateral movement with open-source tools. Register now.',
  ],
  [
    'medium',
    'Stealer spreads by fake update pages',
    'Online criminals are spreading a stealer by fake update pages. The page asks the user to paste a command. The stealer reads passwords and cookies.',
  ],
  [
    'low',
    'New flaw in a wiki engine',
    'The team fixed a vulnerability in the wiki engine. Since 2019, there have been no recorded incidents of new vulnerabilities of it being exploited in the wild. However, prior to that, flaws were used to compromise numerous websites.',
  ],
  [
    'critical',
    'Four power plants without screens',
    'On Friday, the control rooms of four power plants went dark. The people behind it scrambled every server and left a note asking for money in Bitcoin.',
  ],
  [
    'low',
    'Maker fixes a flaw in its mail gateway',
    'The update closes CVE-2026-22222 in the gateway. Ransomware gangs have exploited similar gateways of other makers and hit hospitals. Nobody has used this flaw.',
  ],
  [
    'critical',
    'Ransomware attacks disrupt two city governments',
    'Two cities were hit by separate ransomware attacks this week. Numerous services have been impacted, but the emergency services were not affected.',
  ],
  [
    'low',
    'Unprotected Database Exposed Details of 20 Million Households',
    'Researchers found an unprotected database in the cloud with details of 20 million households in the U.S. Criminals can abuse such details for phishing or infect people with ransomware.',
  ],
  [
    'low',
    'Dozens of extensions removed from the store',
    'The malicious extensions were installed by a million users. They would inject ads into pages and earn affiliate commissions.',
  ],
  [
    'none',
    'Infection chain',
    'The infection chain is the sequence of steps of an attack. What is an infection chain? It begins with the delivery of malware. The malware steals data and sends it to the command-and-control server.',
  ],
  [
    'low',
    'A taxonomy of command-and-control protocols',
    'Abstract. Malware uses the network in many ways. In this paper, we propose a taxonomy of command-and-control communication and describe common malware families.',
  ],
  [
    'high',
    'Breach at an airline',
    'The breach compromised the personal data of six million customers. Passwords were not affected.',
  ],
  [
    'high',
    'Week in review: 3 April',
    'A zero-day in a firewall was exploited by the Akira ransomware gang. Two vendors fixed flaws.',
  ],
])('rates %s: %s', (expected, title, text) => {
  const item = extractItem({ title, text: `${title}\n\n${text}`, publishTime: '2025-06-01T00:00:00Z' });
  expect(item.severity, item.severityRule).toBe(expected);
});
