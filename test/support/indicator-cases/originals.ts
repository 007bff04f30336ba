import type { IndicatorCase } from './case.ts';

/** Hosts of victims, and originals that attackers imitate, defanged or not. */
export const originals: IndicatorCase[] = [
  [
    'The stealer checks the address of the victim through api.ipify[.]org and ip-api[.]com.',
    '~domain api.ipify.org',
    '~domain ip-api.com',
  ],
  [
    'After the theft victims are redirected to hxxps://www.office[.]com.',
    '~url https://www.office.com/',
    '~domain www.office.com',
  ],
  ['The attackers breached acme-valves.com in March and stole mail.', '~domain acme-valves.com'],
  ['Acme Valves (acme-valves.com) confirmed the intrusion.', '~domain acme-valves.com'],
  [
    'The page mimics the official site acme-bank.com, but lives on acme-bank-login[.]top.',
    '~domain acme-bank.com',
    'domain acme-bank-login.top',
  ],
  [
    'The fake site acme-bank-login.top looks like acme-bank.com.',
    'domain acme-bank-login.top',
    '~domain acme-bank.com',
  ],
  [
    'Users should only download the tool from acme-tool.org, not from acme-tool-free.com.',
    '~domain acme-tool.org',
    'domain acme-tool-free.com',
  ],
  [
    'The site acme-tool-free.com impersonates this project, whose real site is acme-tool.org.',
    'domain acme-tool-free.com',
    '~domain acme-tool.org',
  ],
  ['The legitimate domain acme-tool[.]org was not affected.', '~domain acme-tool.org'],
  [
    'The legitimate website acme-tool[.]org was imitated by acme-t00l[.]org.',
    '~domain acme-tool.org',
    'domain acme-t00l.org',
  ],
  [
    'The typosquat acme-t00l[.]org (legitimate: acme-tool[.]org) serves the installer.',
    'domain acme-t00l.org',
    '~domain acme-tool.org',
  ],
  ['acme-t00l[.]org instead of acme-tool[.]org was used in the mail.', 'domain acme-t00l.org', '~domain acme-tool.org'],
  ['The victim organization acme-valves[.]com lost 3 TB.', '~domain acme-valves.com'],
  ['Victims should write to zq.decrypt@proton[.]me for the key.', 'email zq.decrypt@proton.me'],
  ['Victims write to an address at protonmail.com to get the key.', '~domain protonmail.com'],
  [
    'Received: from gate.zq-send.top (gate.zq-send.top [45.9.148.7]) by mx1.acme-valves.com with ESMTPS id 4JzG',
    'domain gate.zq-send.top',
    'ipv4 45.9.148.7',
    '~domain mx1.acme-valves.com',
  ],
  [
    'Received: from zq-send.top by mx2.acme-valves.com (Postfix) with ESMTP id 77',
    'domain zq-send.top',
    '~domain mx2.acme-valves.com',
  ],
  [
    'The project zq-tool.dev is impersonated by zq-tool-download.com.',
    '~domain zq-tool.dev',
    'domain zq-tool-download.com',
  ],
  [
    'The genuine download page is zq-tool.dev; the bogus copy is zq-tools.dev.',
    '~domain zq-tool.dev',
    'domain zq-tools.dev',
  ],
  ['An untrusted website at `zq-tool.org` is impersonating this project.', 'domain zq-tool.org'],
  ['Impersonated brand site: zq-real-bank.com', '~domain zq-real-bank.com'],
  ['Affected organization: acme-valves.com', '~domain acme-valves.com'],
  ['The mail pretends to come from invoices@acme-bank.com.', 'email invoices@acme-bank.com'],
  [
    'The payload is hosted on the legitimate website acme-shop[.]com that attackers compromised.',
    'domain acme-shop.com',
  ],
  ['The C2 domain zq-a1[.]com looks like a legitimate site.', 'domain zq-a1.com'],
  [
    'Phishing domains mimicking the bank include acme-login[.]top and acm3[.]top.',
    'domain acme-login.top',
    'domain acm3.top',
  ],
  ['Attackers abused the legitimate service acmefiles[.]com for exfiltration.', 'domain acmefiles.com'],
  ['zq-a1[.]com (legitimate but compromised) serves the kit.', 'domain zq-a1.com'],
  ['The site acme[.]com is legitimate. The kit is on zq-a1[.]top.', '~domain acme.com', 'domain zq-a1.top'],
  ['The kit copies the legitimate Acme staking interface (stake.acme.fi) in full.', '~domain stake.acme.fi'],
  [
    'The sender imitated the legitimate domain of the firm:\n\n```text\nacme-corp[.]com\n```\n',
    '~domain acme-corp.com',
  ],
  ['The mail came from:\n\n```text\nacme-corq[.]com\n```\n', 'domain acme-corq.com'],
  [
    'Threat actors registered acmepay-support[.]com, acmepay-help[.]net and acmepay[.]help on one day.',
    'domain acmepay-support.com',
    'domain acmepay-help.net',
    'domain acmepay.help',
  ],
  ['Traffic goes to acme-cdn[.]com, a domain that imitates the CDN of Acme.', 'domain acme-cdn.com'],
  ['The domain zq-news[.]com, which posed as a legitimate news site, was seized.', 'domain zq-news.com'],
  ['It abuses the legitimate remote tool at zq-remote[.]com to control hosts.', 'domain zq-remote.com'],
  ['Data goes to the legitimate file sharing service zqshare[.]io.', 'domain zqshare.io'],
  ['#### Q3: What is the legitimate domain of the chain?\n\n`acme-chicken.com`\n', '~domain acme-chicken.com'],
  ['## Domains of abused legitimate services\n\n- zq-share.io\n', 'domain zq-share.io'],
  ['The account at libero[.]it is abused.', '~domain libero.it'],
];
