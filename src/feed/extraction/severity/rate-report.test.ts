import { expect, test } from 'vitest';
import { extractItem } from '../extract-item.ts';

const rate = (title: string, text: string, publishTime = '2026-03-02T00:00:00Z') => {
  const { severity, severityRule } = extractItem({ title, text: `${title}\n\n${text}`, publishTime });
  return `${severity} ${severityRule}`;
};

test.each([
  [
    'critical report:exploited-now',
    'Attackers exploit new flaw in FortiWeb firewalls',
    'On Monday, Fortinet confirmed that CVE-2026-11111 in FortiWeb is being exploited in the wild. Shadowserver counted 190 compromised appliances. The intrusions began two weeks before the patch.',
  ],
  [
    'critical report:exploited-now',
    'Zero-day in Ivanti Connect Secure used by UNC9123',
    'Mandiant identified zero-day exploitation of CVE-2026-22222 in Ivanti Connect Secure VPN appliances. The activity is attributed to UNC9123, a China-nexus espionage actor.',
  ],
  [
    'critical report:exploited-now',
    'SharePoint under attack',
    'Since Friday, attackers have been exploiting an authentication bypass in on-premises SharePoint servers. At least 54 organizations, among them two federal agencies, were compromised within three days.',
  ],
  [
    'critical report:supply-chain',
    'Popular logging package on npm backdoored',
    'Two versions of a popular npm package with 40 million weekly downloads were published with a credential stealer on Tuesday. The maintainer account was compromised by a phishing email. The malicious versions were removed after five hours.',
  ],
  [
    'critical report:supply-chain',
    'Update server of a VoIP vendor compromised',
    'We are tracking a supply chain attack on a widely used desktop phone client. The trojanized installers were signed by the vendor and delivered to customers worldwide through the update mechanism.',
  ],
  [
    'critical report:destructive-attack',
    'Wiper hits Polish energy companies',
    'A previously unknown wiper was deployed at several energy companies in Poland on 29 December. The malware overwrote the firmware of controllers and destroyed workstations.',
  ],
  [
    'critical report:destructive-attack',
    'Ransomware shuts down hospitals in two states',
    'A ransomware attack forced 14 hospitals to divert ambulances on Thursday. The operators encrypted servers of the electronic health record.',
  ],
])('rates as %s: %s', (expected, title, text) => expect(rate(title, text)).toBe(expected));

test.each([
  ['high report:named-actor', 'News of the week on the river', 'Kimsuky sent its mails from one host.'],
  ['medium report:malware', 'A note on one host', 'The attackers used PlugX to control the machines.'],
  ['medium report:indicators', 'A note on one host', 'PlugX again, with one more host: quill-host[.]top.'],
])('%s by a known name: %s', (expected, title, text) => expect(rate(title, text)).toBe(expected));

test('cites the sentence that repeats the actor of a deciding title', () => {
  const text = 'Das BSI warnt. Die Angreifer der Gruppe APT28 verschickten Mails an Behörden in Polen.';
  const item = extractItem({ title: 'APT28 greift polnische Behörden an', text, publishTime: '2026-08-20T00:00:00Z' });
  expect(item.severityRule).toBe('report:named-actor');
  const cited = item.severityEvidence.map((ref) => item.passages[Number(/\d+/.exec(ref)![0])]!);
  expect(cited.map(({ start, end }) => item.storedText.slice(start, end))).toEqual([
    'Die Angreifer der Gruppe APT28 verschickten Mails an Behörden in Polen.',
  ]);
});

test('takes the country of a lure for no target', () => {
  const text =
    'We found a spoofed document that pretends to be from a Polish energy company. It drops a backdoor written in Rust and connects to a control server. The sample has three stages.';
  expect(rate('Backdoor behind a document', text)).toBe('medium report:malware');
});

test('rates offers of criminals without victims as medium', () => {
  const text =
    'Vendors on a Russian-language forum sold access to three banks in Europe last month. Another actor offered scripts that empty cash machines.';
  expect(rate('What the criminal underground offers against banks', text)).toBe('medium report:underground');
});

test.each([
  [
    'high',
    'Qilin affiliates turn to remote management tools',
    'In three incidents, Qilin ransomware affiliates installed a remote management tool before they encrypted the hypervisors. The victims are manufacturers in Germany.',
  ],
  [
    'high',
    'A backdoor for diplomats',
    'We found a new backdoor that has been used against ministries of foreign affairs in Central Asia since 2024. We track the operators as Silent Heron.',
  ],
  [
    'high',
    'TA9999 delivers a new loader',
    'Proofpoint observed TA9999 distributing a loader in campaigns of up to 40,000 messages. The emails impersonate a shipping company.',
  ],
  [
    'high',
    'Flaw in a PDF reader exploited',
    'The vendor fixed a use-after-free that was exploited in the wild in targeted attacks.',
  ],
  [
    'high',
    'ClickFix campaign against hotels',
    'A phishing campaign targets hotels across Europe with fake booking complaints. Employees who follow the instructions run a remote access trojan.',
  ],
  [
    'medium',
    'Inside VoltStealer',
    'VoltStealer is an information stealer that researchers found on a forum in January. It collects browser passwords and wallets and sends them to a Telegram bot.',
  ],
  [
    'medium',
    'New Mirai variant adds two exploits',
    'We analyzed a variant of the Mirai botnet that we captured in our honeypots. It spreads with weak passwords and launches denial-of-service attacks.',
  ],
  [
    'medium',
    'Exploit code for CVE-2026-33333 published',
    'Researchers published a proof-of-concept exploit for a deserialization vulnerability in the library. No attacks have been observed so far.',
  ],
  [
    'low',
    'Browser extensions with adware',
    'The extensions inject advertisements and change the search engine. We reported them to the store.',
  ],
  [
    'low',
    'Free decryptor for the Prince ransomware',
    'The tool restores files of all versions. Victims can download the decryptor.',
  ],
  [
    'low',
    'Bypassing a sandbox with DNS',
    'We show that the resolver of the sandbox leaks queries. The vendor fixed the vulnerability. We are not aware of exploitation.',
  ],
  [
    'low',
    'Looking back at a bank heist',
    'In 2016, the Lazarus group stole 81 million dollars from a central bank. In February 2016 the attackers sent fraudulent transfers.',
  ],
  [
    'none',
    'Announcing version 9 of our detection platform',
    'The new release helps security teams stop ransomware earlier. Our platform integrates with your identity provider. You can start a trial today.',
  ],
  [
    'none',
    'What is a botnet?',
    'A botnet is a network of infected devices. Attackers could use it for denial-of-service attacks. You should keep your router up to date.',
  ],
  [
    'none',
    'We won the best workplace award',
    'For the fourth time, our company was recognized as one of the best places to work. Our teams protect thousands of organizations against attacks.',
  ],
  ['none', 'Office closed on Friday', 'Our support team is back on Monday morning.'],
])('rates %s: %s', (expected, title, text) => expect(rate(title, text).split(' ')[0]).toBe(expected));

test.each([
  'There is no evidence that the vulnerability in the firewall was exploited by any ransomware group.',
  'The vulnerability has not been exploited in the wild.',
  'An attacker could exploit this vulnerability in Exchange servers and might deploy ransomware on several hospitals.',
  'Was the VPN flaw exploited by a ransomware gang against hospitals?',
  'Apply the patch before ransomware operators exploit the vulnerability in your VPN.',
])('takes no threat from "%s"', (text) => {
  expect(['none', 'low']).toContain(rate('A note on a patch', text).split(' ')[0]);
});

test('cites the sentences that decide', () => {
  const text =
    'Weather was fine.\n\nA ransomware attack forced 14 hospitals to divert ambulances on Thursday. Nothing else happened here.';
  const { severityEvidence, storedText, passages } = extractItem({ title: 'Hospitals', text });
  expect(
    severityEvidence
      .map((ref) => passages[Number(/\d+/.exec(ref)![0])]!)
      .map(({ start, end }) => storedText.slice(start, end)),
  ).toEqual(['A ransomware attack forced 14 hospitals to divert ambulances on Thursday.']);
});
