import { expect, test } from 'vitest';
import { extractIndicators } from '../extract-indicators.ts';

const readFirst = (text: string) => {
  const [found] = extractIndicators(text).indicators;
  return found && { value: found.normalizedValue, status: found.status, reason: found.reasons[0] };
};

const harmless: Record<string, string[]> = {
  'hosting provider': [
    'The domain was registered through quartz-names.com in May.',
    'The server is hosted by quartz-hosting.net in the Netherlands.',
    'It used the registrar quartz-names.com again.',
  ],
  'source of the report': [
    'According to quartz-news.com, the group struck again.',
    'Researchers at quartz-lab.io published the details.',
    'This article first appeared on quartz-news.com.',
    'Posted by Jane Doe on quartz-blog.net',
    'Photo by Jane Doe / quartz-photos.com was used.',
    'Copyright 2031 quartz-news.com. All rights reserved.',
  ],
  'further reading': [
    'Visit quartz-vendor.com to learn more.',
    'For more information, go to quartz-vendor.com.',
    'More at blog.quartz-lab.io/zq7 this week.',
    'Contact us at help.quartz-vendor.com please.',
    'The update comes from the vendor at help.quartz-vendor.com soon.',
    'The tool is available at https://quartz-tools.org/get now.',
    'Customers can update at https://quartz-vendor.com/get now.',
    'More can be found here: https://quartz-lab.org/zq7',
    'Report phishing at https://www.quartz-report.org/form please.',
    'Melden Sie den Vorfall unter https://www.quartz-melden.de/form bitte.',
    'Denuncie el fraude en https://www.quartz-denuncia.es cuanto antes.',
    'Signalez le message sur https://www.quartz-signal.fr sans attendre.',
    'Segnalate la frode su https://www.quartz-segnala.it subito.',
    'Zgłoś incydent pod https://www.quartz-zglos.pl lub telefonicznie.',
    'Сообщите о письме на https://www.quartz-report.ru сегодня.',
    'Повідомте про лист на https://www.quartz-report.com.ua сьогодні.',
    'Tel. +49 30 123456, www.quartz-vendor.de',
  ],
  'service that a program uses': [
    'It checks the connectivity with quartz-ping.com first.',
    'It resolves its external address by quartz-ip.io first.',
  ],
  'victim or imitated original': [
    'Users of quartz-bank.com should change their passwords.',
    'The company’s website, quartz-works.com, was down.',
    'quartz-bank.com confirmed the incident.',
    'The bank of the customers, quartz-bank.com, warned of the mails.',
    'El sitio quartz-banco.es fue suplantado.',
    'Le site quartz-banque.fr a été imité.',
    'Die Website quartz-amt.de wurde angegriffen.',
    'Il sito quartz-banca.com è stato clonato.',
    'O site quartz-banco.com.br foi atacado.',
    'Сайт quartz-bank.ru был атакован.',
    'Сайт quartz-bank.com.ua був зламаний.',
    'Strona quartz-bank.pl została podrobiona.',
    '攻击者入侵了 quartz-news.com.cn 并窃取数据。',
    '攻击者仿冒了某银行网站 quartz-bank.com.cn 的页面。',
    '受害者网站：quartz-shop.com.cn',
    'quartz-shop.com.cn 遭到黑客攻击。',
    'quartz-bank.co.jp を装うメールが届いた。',
    'quartz-bank.co.kr 을 사칭했다.',
    'This fake Quartzbank mail links to http://www.quartzbank.co.uk/help as well.',
  ],
  'site of a named organization': [
    'Quartz Valves (quartzvalves.com) is a supplier.',
    'Quartzworks (www.quartzworks.com) was hit.',
  ],
  'display name of a mail address': ['From: "QUARTZ.COM Support" <alerts@mail-zq1.top>'],
  'analysis of a sample': [
    `It is listed at https://sandbox-zq.cn/report/file/${'0123456789abcdef'.repeat(4)}/?env=win7 for it.`,
  ],
  'legitimate file': [
    'It is loaded through the legitimate file quartzhost.exe from there.',
    'The copy of the binary is a copy of quartzhost.exe from Acme.',
    'Acme’s legitimate updater, quartzhost.exe, is abused.',
    'quartzhost.exe, a legitimate Acme binary, loads it.',
    'The installer (quartzhost.exe) is legitimate.',
    'quartzhost.exe is not inherently malicious.',
    'Es lädt die legitime Datei quartzhost.exe nach.',
    'Usa el archivo legítimo quartzhost.exe para cargar.',
    'Il utilise le fichier légitime quartzhost.exe ensuite.',
    '利用合法程序quartzhost.exe加载。',
  ],
  'software that is attacked or used for analysis': [
    'It terminates quartzsql.exe, garnet.exe and others.',
    'It checks for quartzbox.exe and exits.',
    'It injects its code into quartzlaunch.exe and waits.',
    'The sample was opened in quartzdbg.exe on Monday.',
    'We used quartzstrings.exe for triage.',
  ],
  'vulnerable component': [
    'The flaw in quartzd.cgi is exploited.',
    'A vulnerability in the quartz4j-2.1.jar library is old.',
    'They exploited quartzd.cgi in the appliance.',
  ],
  'document of the report': ['Download our white paper quartz-2031.pdf now.', 'Figure 2: quartz-chain.png'],
  'system file': ['It loads python311.dll first.', 'It loads vcruntime140_1.dll first.'],
};

test.each(Object.entries(harmless).flatMap(([reason, texts]) => texts.map((text) => ({ reason, text }))))(
  '$reason: $text',
  ({ reason, text }) => {
    expect(readFirst(text)).toMatchObject({ status: 'false_positive', reason });
  },
);

test.each([
  ['The attackers registered quartz-login.top in May.', 'quartz-login.top'],
  ['The phishing site is at quartz-login.top now.', 'quartz-login.top'],
  ['The malware downloads its payload from http://quartz-cdn.top/a now.', 'http://quartz-cdn.top/a'],
  ['The payload was hosted on quartz-cdn.top in May.', 'quartz-cdn.top'],
  ['Victims who visit quartz-login.top see a form.', 'quartz-login.top'],
  ['The bots report to quartz-c2.top every hour.', 'quartz-c2.top'],
  ['The domain quartzshop.help was registered.', 'quartzshop.help'],
  ['The C2 server quartz-update.live answered.', 'quartz-update.live'],
  ['45.9.148.7 (quartz-c2.top, Netherlands)', '45.9.148.7', 'quartz-c2.top'],
  ['The loader (quartz-c2.top) is new.', 'quartz-c2.top'],
  ['仿冒网站 quartz-login.top 已上线。', 'quartz-login.top'],
  ['攻击者使用的域名为 quartz-c2.top。', 'quartz-c2.top'],
  ['偽サイト quartz-login.top に誘導する。', 'quartz-login.top'],
  ['The trojanized copy of quartzsetup.exe was signed.', 'quartzsetup.exe'],
  ['It drops quartz.exe and terminates.', 'quartz.exe'],
  ['The malicious python39.dll is loaded.', 'python39.dll'],
  ['## Indicators of compromise\n\n- python39.dll\n', 'python39.dll'],
  ['It sends POST requests to quartzgate.php there.', 'quartzgate.php'],
])('keeps the values of %s', (text, ...values) => {
  const active = extractIndicators(text).indicators.filter(({ status }) => status === 'active');
  expect(active.map(({ normalizedValue }) => normalizedValue)).toEqual(expect.arrayContaining(values));
});

test('takes the name of a provider behind an address as harmless', () => {
  const { indicators } = extractIndicators('45.9.148.7 (Hosted by zq-hosting.net, Netherlands)');
  expect(indicators.map(({ normalizedValue, status }) => [normalizedValue, status])).toEqual([
    ['45.9.148.7', 'active'],
    ['zq-hosting.net', 'false_positive'],
  ]);
});
