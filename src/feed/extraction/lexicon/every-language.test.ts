import { expect, test } from 'vitest';
import { extractItem } from '../extract-item.ts';
import type { ReportLanguageCode } from './languages.ts';

type Report = { text: string; severity: string; names: string[]; techniques: string[] };

/** A short report in every language, and what is read from it. No list has its names, and some of them are missed. */
const reports: Record<ReportLanguageCode, Report> = {
  de: {
    text: 'Die Hackergruppe «Graureiher» hat am Montag die Server der Stadtwerke mit der Schadsoftware «Dunkelbau» verschlüsselt und Lösegeld gefordert. Die Angreifer haben eine geplante Aufgabe angelegt.',
    severity: 'high',
    names: ['Graureiher', 'Dunkelbau'],
    techniques: ['T1053.005'],
  },
  fr: {
    text: 'Le groupe de pirates Zorbine a chiffré lundi les serveurs de trois hôpitaux et une rançon est demandée. Les pirates ont installé une porte dérobée baptisée Quillair avec des courriels de hameçonnage.',
    severity: 'critical',
    names: ['Zorbine', 'Quillair'],
    techniques: ['T1486', 'T1566'],
  },
  es: {
    text: 'El grupo de ransomware Quill Gris ha cifrado los servidores de tres hospitales y exige un rescate. Los atacantes usan un malware llamado Quillaris, que descarga un troyano y crea una tarea programada.',
    severity: 'critical',
    names: ['Quill Gris', 'Quillaris'],
    techniques: ['T1053.005', 'T1105'],
  },
  pt: {
    text: 'O grupo de ransomware Raposa Nova criptografou os servidores de três hospitais e exige um resgate. Os criminosos usam um malware chamado Quillaro, que desativa o antivírus e faz capturas de tela.',
    severity: 'critical',
    names: ['Raposa Nova', 'Quillaro'],
    techniques: ['T1113', 'T1486', 'T1685'],
  },
  it: {
    text: 'Il gruppo criminale Quillupo ha cifrato i server di tre ospedali e chiede un riscatto. Gli attaccanti hanno usato il trojan ZorbSpia, che la vittima scarica dopo che apre l’allegato della e-mail di phishing.',
    severity: 'critical',
    names: ['Quillupo', 'ZorbSpia'],
    techniques: ['T1204', 'T1486', 'T1566'],
  },
  nl: {
    text: 'De hackersgroep Quillvos heeft de servers van drie ziekenhuizen met de gijzelsoftware ZorbSlot aangevallen en eist losgeld. De servers werden vannacht versleuteld en het ziekenhuis is niet bereikbaar.',
    severity: 'critical',
    names: ['Quillvos', 'ZorbSlot'],
    techniques: ['T1486'],
  },
  pl: {
    text: 'Hakerzy z grupy ransomware QuillWilk zaatakowali w nocy trzy szpitale i żądają okupu. Po otwarciu załącznika pobierane jest złośliwe oprogramowanie ZorbLis, a pliki zostały zaszyfrowane.',
    severity: 'critical',
    names: ['QuillWilk', 'ZorbLis'],
    techniques: ['T1105', 'T1204', 'T1486'],
  },
  ru: {
    text: 'Группировка Quill Lynx атаковала больницы и зашифровала серверы, за них требуют выкуп. Письма с вложением содержат бэкдор ZorbLynx, который делает снимки экрана.',
    severity: 'critical',
    names: ['Quill Lynx', 'ZorbLynx'],
    techniques: ['T1113', 'T1566'],
  },
  uk: {
    text: 'Угруповання QuillRys атакувало три лікарні та вимагає викуп. Зловмисники зашифрували сервери підприємства програмою ZorbRys і викрали дані пацієнтів.',
    severity: 'critical',
    names: ['QuillRys'],
    techniques: ['T1486'],
  },
  ja: {
    text: '攻撃グループQuillbozuは病院のサーバーをランサムウェア「KazeZorb」で暗号化し、身代金を要求した。攻撃者はフィッシングメールを送り、画面のスクリーンショットを取得した。',
    severity: 'critical',
    names: ['Quillbozu', 'KazeZorb'],
    techniques: ['T1113', 'T1566'],
  },
  zh: {
    text: '黑客组织QuillFox使用BambooZorb木马攻击三家医院，服务器被加密，攻击者要求支付赎金。攻击者发送钓鱼邮件，诱导用户打开附件，并窃取了患者的个人信息数据。',
    severity: 'critical',
    names: ['QuillFox', 'BambooZorb'],
    techniques: ['T1204', 'T1486', 'T1566'],
  },
  ko: {
    text: '해킹 그룹 HanQuill은 병원 세 곳의 서버를 공격하고 악성코드 DuriZorb를 유포했다. 공격자는 피싱 메일을 보내고 키로깅을 수행했다. 공격자는 몸값을 요구했다.',
    severity: 'none',
    names: ['DuriZorb'],
    techniques: ['T1056.001', 'T1566'],
  },
};

test.for(Object.entries(reports))('reads a report in %s', ([language, { text, ...expected }]) => {
  const { classification, ...item } = extractItem({ title: '', text, publishTime: '2026-03-02T00:00:00Z' });
  const { attack, actor, malware } = classification;
  expect(item.language).toBe(language);
  expect({
    severity: item.severity,
    names: [...actor, ...malware].map(({ name }) => name),
    techniques: attack.map(({ technique, subTechnique }) => subTechnique ?? technique),
  }).toEqual(expected);
});
