import type { IndicatorCase } from './case.ts';

/** Services that attackers or analysts use, defanged or not. */
export const services: IndicatorCase[] = [
  [
    'It sends the archive through api.telegram[.]org and reads commands from discord[.]com.',
    '~domain api.telegram.org',
    '~domain discord.com',
  ],
  [
    'The loader first tests the connection with google[.]com and then calls zq-relay[.]top.',
    '~domain google.com',
    'domain zq-relay.top',
  ],
  [
    'The payload is hosted at hxxps://raw.githubusercontent[.]com/zq-dev77/tools/main/zq.ps1 for now.',
    'url https://raw.githubusercontent.com/zq-dev77/tools/main/zq.ps1',
  ],
  [
    'The payload is hosted at https://raw.githubusercontent.com/zq-dev77/tools/main/zq.ps1 for now.',
    'url https://raw.githubusercontent.com/zq-dev77/tools/main/zq.ps1',
  ],
  [
    'Stage two comes from hxxps://github[.]com/zq-dev77/tools/releases/download/v1/zq.exe.',
    'url https://github.com/zq-dev77/tools/releases/download/v1/zq.exe',
  ],
  [
    'The decoder is available at https://github.com/zqlabs/zq-decoder for defenders.',
    '~url https://github.com/zqlabs/zq-decoder',
  ],
  ['The channel hxxps://t[.]me/zq_drop serves as a dead drop.', 'url https://t.me/zq_drop', '~domain t.me'],
  ['Subscribe to our channel: https://t.me/zqnews_daily', '~url https://t.me/zqnews_daily', '~domain t.me'],
  ['Follow the news on https://t.me/zqnews_daily and in the app.', '~url https://t.me/zqnews_daily', '~domain t.me'],
  [
    'It posts data to hxxps://discord[.]com/api/webhooks/1122334455/zqTok-en.',
    'url https://discord.com/api/webhooks/1122334455/zqTok-en',
    '~domain discord.com',
  ],
  [
    'The file comes from hxxps://cdn.discordapp[.]com/attachments/991/992/zqload.exe directly.',
    'url https://cdn.discordapp.com/attachments/991/992/zqload.exe',
  ],
  ['The page is hosted on zq-login-portal.azurewebsites[.]net since June.', 'domain zq-login-portal.azurewebsites.net'],
  ['The panel runs on zqpanel.eastus.cloudapp.azure[.]com only.', 'domain zqpanel.eastus.cloudapp.azure.com'],
  [
    'It fetches hxxps://zq-drop-7.s3.amazonaws[.]com/a.zip first.',
    'bucket zq-drop-7',
    'url https://zq-drop-7.s3.amazonaws.com/a.zip',
    'domain zq-drop-7.s3.amazonaws.com',
  ],
  [
    'The lure is hxxps://zqcorp-my.sharepoint[.]com/:b:/g/personal/x/abc in the mail.',
    'url https://zqcorp-my.sharepoint.com/:b:/g/personal/x/abc',
    'domain zqcorp-my.sharepoint.com',
  ],
  ['C2: quiet-zq.zq-team.workers[.]dev', 'domain quiet-zq.zq-team.workers.dev'],
  ['The backdoor talks to quiet-zq.zq-team.workers.dev every minute.', 'domain quiet-zq.zq-team.workers.dev'],
  [
    'The actors abuse trusted services such as dropbox[.]com, mega[.]nz and pastebin[.]com.',
    '~domain dropbox.com',
    '~domain mega.nz',
    '~domain pastebin.com',
  ],
  ['It reads the paste hxxps://pastebin[.]com/raw/Zq7Ab3Cd for its address.', 'url https://pastebin.com/raw/Zq7Ab3Cd'],
  ['The full list of indicators: https://pastebin.com/Zq7Ab3Cd', '~url https://pastebin.com/Zq7Ab3Cd'],
  ['More IOCs thanks to a colleague:\nhttps://pastebin.com/Zq7Ab3Ce\n', '~url https://pastebin.com/Zq7Ab3Ce'],
  ['From: Billing <billing@zq-invoice.top>', 'email billing@zq-invoice.top'],
  ['url,zq-srv[.] workers[.]dev,C2 server', 'domain zq-srv.workers.dev'],
  [
    'Received: from mail01.zq-nota.com (mail01.zq-nota.com [45.9.148[.]7])',
    'domain mail01.zq-nota.com',
    'ipv4 45.9.148.7',
  ],
  ['Both accounts use tutamail.com, a mail service without phone numbers.', '~domain tutamail.com'],
  ['The operators answer from addresses at onionmail.org and cock.li.', '~domain onionmail.org', '~domain cock.li'],
  [
    'The implant resolves its server over DNS-over-HTTPS with dns.google and cloudflare-dns.com.',
    '~domain dns.google',
    '~domain cloudflare-dns.com',
  ],
  [
    'Blog about this: http://zq-analyst.blogspot.com/2015/10/walking-thru-a-mail.html',
    '~url http://zq-analyst.blogspot.com/2015/10/walking-thru-a-mail.html',
    '~domain zq-analyst.blogspot.com',
  ],
  [
    'The bogus download links now go to https://github.com/Zq-Free-for-PC/.github/archive/refs/heads/main.zip',
    'url https://github.com/Zq-Free-for-PC/.github/archive/refs/heads/main.zip',
  ],
  ['C2 panel: hxxps://zqpanel[.]pages[.]dev/login', 'url https://zqpanel.pages.dev/login', 'domain zqpanel.pages.dev'],
  [
    'The kit lives at zq-login.web.app and zq-login2.firebaseapp.com.',
    'domain zq-login.web.app',
    'domain zq-login2.firebaseapp.com',
  ],
  ['The redirect uses zq77.app.link and then zq-phish[.]top.', 'domain zq77.app.link', 'domain zq-phish.top'],
  ['The link shortener bit.ly was used: bit[.]ly/3zQ7abc', '~domain bit.ly', 'url http://bit.ly/3zQ7abc'],
  ['More from the analyst: http://pastebin.com/u/zqanalyst', '~url http://pastebin.com/u/zqanalyst'],
  [
    'It runs \\\\zq-files.eastus.cloudapp.azure[.]com@SSL\\share\\zq.exe then.',
    'domain zq-files.eastus.cloudapp.azure.com',
    'file_path \\\\zq-files.eastus.cloudapp.azure.com@SSL\\share\\zq.exe',
  ],
  [
    'Detection link: https://www.virustotal.com/gui/domain/zq1.com',
    '~url https://www.virustotal.com/gui/domain/zq1.com',
    '~domain www.virustotal.com',
  ],
  [
    'https://safeweb.norton.com/report/show?url=zq1.com',
    '~url https://safeweb.norton.com/report/show?url=zq1.com',
    '~domain safeweb.norton.com',
  ],
  [
    'https://urlfiltering.paloaltonetworks.com/single_cr/?url=zq1.com',
    '~url https://urlfiltering.paloaltonetworks.com/single_cr/?url=zq1.com',
    '~domain urlfiltering.paloaltonetworks.com',
  ],
  ['https://www.shodan.io/host/45.9.148.7', '~url https://www.shodan.io/host/45.9.148.7', '~domain www.shodan.io'],
  [
    'https://search.censys.io/hosts/45.9.148.7',
    '~url https://search.censys.io/hosts/45.9.148.7',
    '~domain search.censys.io',
  ],
  ['Abuse contact: abuse@zq-registrar.com', 'email abuse@zq-registrar.com'],
  [
    'The malware is compiled with Go 1.21.0 and uses github.com/zq/gobfuscate and golang.org/x/sys.',
    '~url http://github.com/zq/gobfuscate',
    '~url http://golang.org/x/sys',
    '~domain golang.org',
  ],
  ['The loader imports the package github.com/google/uuid and zq77/lib.', '~url http://github.com/google/uuid'],
  [
    'Emails came from no-reply@accounts.zq-login.com and zqnews@gmail.com.',
    'email no-reply@accounts.zq-login.com',
    'email zqnews@gmail.com',
  ],
  [
    'The bucket zq-stolen-77.s3.eu-west-1.amazonaws[.]com received the data.',
    'bucket zq-stolen-77',
    'domain zq-stolen-77.s3.eu-west-1.amazonaws.com',
  ],
  [
    'The page zq77.github[.]io/login and the site zq77.gitlab[.]io host the kit.',
    'url http://zq77.github.io/login',
    'domain zq77.github.io',
    'domain zq77.gitlab.io',
  ],
  [
    'It calls hxxps://api.telegram[.]org/bot7712345678:AAHzq_tok/sendMessage?chat_id=-100123.',
    'url https://api.telegram.org/bot7712345678:AAHzq_tok/sendMessage?chat_id=-100123',
    '~domain api.telegram.org',
  ],
  [
    'It downloads hxxps://drive.google[.]com/uc?export=download&id=1zQ7 first.',
    'url https://drive.google.com/uc?export=download&id=1zQ7',
  ],
  [
    'The form posts to hxxps://formspree[.]io/f/zq77abcd for the operator.',
    'url https://formspree.io/f/zq77abcd',
    'domain formspree.io',
  ],
  ['The HTML file Voicemail_77.html opens a login page.', 'file_name Voicemail_77.html'],
  // Brands, carriers and social networks
  [
    'The mail imitates a parcel note of dhl.com and links to zq-parcel[.]top.',
    '~domain dhl.com',
    'domain zq-parcel.top',
  ],
  ['Tokens of okta[.]com were stolen.', '~domain okta.com'],
  ['Powered by zq-cms.org', '~domain zq-cms.org'],
  ['Download the full list at zq-vendor.com.', '~domain zq-vendor.com'],
  ['The page is at zq-wallet.squarespace[.]com.', 'domain zq-wallet.squarespace.com'],
];
