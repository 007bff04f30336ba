import { expect, test } from 'vitest';
import { extractTechniques } from './extract-techniques.ts';
import type { ReportLanguageCode } from '../lexicon/languages.ts';
import { findForeignStatements } from './technique-statements.ts';

const find = (sentence: string, language: ReportLanguageCode): string[] =>
  findForeignStatements(sentence, language, new Map()).toSorted();

test.each<[ReportLanguageCode, string, string[]]>([
  ['de', 'Der Trojaner lädt weitere Schadsoftware nach.', ['T1105']],
  ['de', 'Die Täter legten eine geplante Aufgabe an und fertigten Bildschirmfotos.', ['T1053.005', 'T1113']],
  ['de', 'Alle Server wurden in der Nacht verschlüsselt.', ['T1486']],
  ['de', 'Angreifer nutzen eine Schwachstelle in der Firewall aus.', ['T1190']],
  ['de', 'Sie drangen mit gestohlenen Zugangsdaten ein.', ['T1078']],
  ['fr', 'Le message de hameçonnage contient une archive piégée.', ['T1566']],
  ['fr', 'Le programme désactive l’antivirus et enregistre les frappes au clavier.', ['T1056.001', 'T1685']],
  ['fr', 'Les pirates exploitent une vulnérabilité des pare-feux.', ['T1190']],
  ['es', 'El archivo descarga un troyano y crea una tarea programada.', ['T1053.005', 'T1105']],
  ['pt', 'O vírus desativa o antivírus e faz capturas de tela.', ['T1113', 'T1685']],
  ['it', 'Il documento scarica un malware dopo che la vittima apre l’allegato.', ['T1105', 'T1204']],
  ['nl', 'De servers werden vannacht versleuteld.', ['T1486']],
  ['pl', 'Po otwarciu załącznika pobierane jest złośliwe oprogramowanie.', ['T1105', 'T1204']],
  ['ru', 'Письма с вложением содержат бэкдор, который делает снимки экрана.', ['T1113', 'T1566']],
  ['uk', 'Зловмисники зашифрували сервери підприємства.', ['T1486']],
  ['ja', '攻撃者はフィッシングメールを送り、画面のスクリーンショットを取得した。', ['T1113', 'T1566']],
  ['ja', '不正なコードをメモ帳.exe にインジェクションする。', ['T1055']],
  ['zh', '攻击者发送钓鱼邮件，诱导用户打开附件。', ['T1204', 'T1566']],
  ['ko', '공격자는 피싱 메일을 보내고 키로깅을 수행했다.', ['T1056.001', 'T1566']],
])('reads %s: %s', (language, sentence, expected) => {
  expect(find(sentence, language)).toEqual(expected);
});

test.each<[ReportLanguageCode, string]>([
  ['de', 'Öffnen Sie keine Anhänge verdächtiger E-Mails.'],
  ['de', 'Es wurden keine Bildschirmfotos angefertigt.'],
  ['de', 'Angreifer könnten eine Schwachstelle in der Firewall ausnutzen.'],
  ['de', 'Ransomware verschlüsselt Dateien.'],
  ['fr', 'Il est recommandé de ne pas ouvrir la pièce jointe des courriels.'],
  ['es', 'No se usó fuerza bruta.'],
  ['pt', 'Evite abrir anexos de e-mails.'],
  ['it', 'Non aprite allegati.'],
  ['ru', 'Не открывайте вложения из писем.'],
  ['ja', '不審なメールの添付ファイルを開かないでください。'],
  ['zh', '请勿打开钓鱼邮件的附件。'],
  ['ko', '피싱 메일에 주의해야 한다.'],
])('reads no advice, doubt or denial in %s: %s', (language, sentence) => {
  expect(find(sentence, language)).toEqual([]);
});

test('reads a flaw in a program of the victim as exploitation for client execution', () => {
  expect(find('Die Gruppe nutzt eine Schwachstelle in Word aus.', 'de')).toEqual(['T1203']);
  expect(find('Die Gruppe nutzt eine Schwachstelle in einem Spiel aus.', 'de')).toEqual([]);
});

test('drops English statements in advice of another language', () => {
  const ids = (text: string, language?: string): string[] =>
    extractTechniques(text, { language }).map(({ technique }) => technique.id);
  const advice = 'Empfohlen wird eine Schulung gegen Phishing mit Links in einer E-Mail.';
  expect(ids(advice)).not.toEqual([]);
  expect(ids(advice, 'de')).toEqual([]);
});
