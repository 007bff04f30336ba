import { expect, test } from 'vitest';
import { extractIndicators } from '../extract-indicators.ts';

const readFiles = (text: string): string[] =>
  extractIndicators(text)
    .indicators.filter(({ type, status }) => type === 'file_name' && status === 'active')
    .map(({ normalizedValue }) => normalizedValue);

test.each([
  ['The attachment "Quartz March.zip" holds the script.', 'Quartz March.zip'],
  ["It opens 'Quartz March.zip' first.", 'Quartz March.zip'],
  ['The attachment “Zahlungs Avis 2031.pdf.exe” was sent.', 'Zahlungs Avis 2031.pdf.exe'],
  ['Der Anhang „Rechnung Nr. 12.zip“ enthält sie.', 'Rechnung Nr. 12.zip'],
  ['Plik „Faktura za maj.zip” zawiera skrypt.', 'Faktura za maj.zip'],
  ['L’archive « bordereau.zip » et «note de frais.zip» suivent.', 'bordereau.zip', 'note de frais.zip'],
  ['Die Datei »Mahnung 7.zip« liegt bei.', 'Mahnung 7.zip'],
  ['Архів «Звіт за квітень.rar» надіслали.', 'Звіт за квітень.rar'],
  ['Архив «Список (имена, адреса и телефоны).lnk» прислали.', 'Список (имена, адреса и телефоны).lnk'],
  ['附件“会议通知.rar”中包含木马。', '会议通知.rar'],
  ['样本名为“名单-四月(2).exe”,运行后释放。', '名单-四月(2).exe'],
  ['附件《四月 计划.zip》已发送。', '四月 计划.zip'],
  ['添付ファイル「予定表 4月.zip」を開く。', '予定表 4月.zip'],
  ['첨부파일 ‘일정 안내.exe’를 실행한다.', '일정 안내.exe'],
  ['문서(일정 안내.hwp)를 열면 감염된다.', '일정 안내.hwp'],
  ['It drops quartz(2).exe and copy (1).dll there.', 'quartz(2).exe', 'copy (1).dll'],
  ['A file named Quartz.com is in it.', 'Quartz.com'],
  ['Eine Datei namens quartz.com steckt darin.', 'quartz.com'],
  ['El archivo llamado quartz.com es el troyano.', 'quartz.com'],
  ['Файл под названием quartz.com запускается.', 'quartz.com'],
  ['文件名为quartz.com,运行后释放。', 'quartz.com'],
])('reads the whole name in %s', (text, ...names) => {
  expect(readFiles(text).toSorted()).toEqual(names.toSorted());
});

test.each([
  ['It said "please open quartz.exe" in the mail.', 'quartz.exe'],
  ['It runs "rundll32 quartz.dll,Start" at boot.', 'quartz.dll'],
  ['It writes "quartz.exe and garnet.exe" to a log.', 'quartz.exe', 'garnet.exe'],
  ['It is malware (see the sample quartz.exe).', 'quartz.exe'],
  ["The group's quartz.exe and the team's garnet.exe", 'quartz.exe', 'garnet.exe'],
  ['The note says: "Pay now.\nThen run quartz.exe"', 'quartz.exe'],
])('reads only the last word in %s', (text, ...names) => {
  expect(readFiles(text).toSorted()).toEqual(names.toSorted());
});

test('reads two names behind a digest separately', () => {
  const digest = '9c'.repeat(4) + '0123456789abcdef'.repeat(3) + '1f2e3d4c';
  expect(readFiles(`${digest} - quartz.exe, garnet.exe`)).toEqual(['quartz.exe', 'garnet.exe']);
});

test.each(['The domain quartz.com was registered.', 'It calls quartz.com first.'])(
  'reads a host and no file in %s',
  (text) => {
    expect(extractIndicators(text).indicators.map(({ type }) => type)).toEqual(['domain']);
  },
);
