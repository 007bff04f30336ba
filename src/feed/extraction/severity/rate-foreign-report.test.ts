import { expect, test } from 'vitest';
import { extractItem } from '../extract-item.ts';

const rate = (title: string, text: string) =>
  extractItem({ title, text: `${title}\n\n${text}`, publishTime: '2026-03-02T00:00:00Z' });

test.each([
  [
    'de high',
    'Cyberangriff auf Stadtwerke',
    'Unbekannte haben am Montag die Server der Stadtwerke Musterstadt verschlüsselt und Lösegeld gefordert. Der Betrieb war zwei Tage lahmgelegt. Die Polizei ermittelt.',
  ],
  [
    'de high',
    'Spionagegruppe greift Ministerien an',
    'Forscher haben eine Hintertür entdeckt, mit der Angreifer Ministerien in Mitteleuropa ausspähen. Die Gruppe verschickt dazu Phishing-Mails mit Archiven.',
  ],
  [
    'de low',
    'Update schließt Lücken im Browser',
    'Der Hersteller hat drei Schwachstellen im Browser behoben. Angreifer könnten darüber Code ausführen. Bislang gibt es keine Hinweise auf Angriffe.',
  ],
  [
    'de none',
    'Neue Version unserer Plattform',
    'Mit der neuen Version können Sie Protokolle schneller durchsuchen. Unsere Kunden erhalten das Update kostenlos.',
  ],
  [
    'fr critical',
    'Un rançongiciel paralyse trois hôpitaux',
    'Les serveurs de trois hôpitaux ont été chiffrés dans la nuit de dimanche par un rançongiciel. Les attaquants réclament une rançon et les urgences sont détournées.',
  ],
  [
    'fr high',
    'Campagne d’espionnage contre des ambassades',
    'Des chercheurs ont observé une campagne d’hameçonnage visant des ambassades en Europe. Les pirates diffusent un cheval de Troie qui exfiltre des documents.',
  ],
  [
    'fr none',
    'Bonnes pratiques pour vos mots de passe',
    'Choisissez des mots de passe longs et activez la double authentification. Ce guide est destiné aux petites entreprises.',
  ],
  [
    'es high',
    'Ciberataque contra un ayuntamiento',
    'El ayuntamiento ha sufrido un ciberataque de ransomware que ha cifrado sus servidores. Los atacantes exigen un rescate.',
  ],
  [
    'es medium',
    'Nuevo troyano bancario en Android',
    'Los investigadores han descubierto un troyano que se distribuye mediante aplicaciones falsas. El malware captura las pulsaciones y envía los datos a un servidor de control.',
  ],
  [
    'es low',
    'Corregida una vulnerabilidad en un complemento',
    'El desarrollador ha corregido una vulnerabilidad crítica en el complemento. Un atacante podría leer archivos del servidor. No hay evidencias de explotación.',
  ],
  [
    'ru high',
    'Группировка атакует промышленные компании',
    'Злоумышленники рассылают фишинговые письма сотрудникам промышленных компаний. Во вложении находится бэкдор, который похищает документы. Атаки обнаружены в феврале.',
  ],
  [
    'ru medium',
    'Новый стилер продают на форумах',
    'Исследователи обнаружили новый стилер. Зловред похищает пароли из браузеров и отправляет их на сервер управления.',
  ],
  [
    'ru none',
    'Конференция пройдет в мае',
    'Открыта регистрация участников. В программе доклады о защите информации и мастер-классы.',
  ],
  [
    'uk high',
    'Кібератака на державні установи',
    'Фахівці виявили розсилку фішингових листів серед державних органів України. Зловмисники поширюють шкідливу програму, яка викрадає документи.',
  ],
  [
    'uk none',
    'Навчання з кібергігієни для вчителів',
    'Курс триває два тижні і є безкоштовним. Учасники отримають сертифікат після тестування.',
  ],
  [
    'ja critical',
    '病院がランサムウェア被害',
    '医療法人は三日、病院のサーバーがランサムウェアに感染し、電子カルテが暗号化されたと発表した。攻撃者は身代金を要求している。',
  ],
  [
    'ja low',
    '製品の脆弱性を修正',
    '開発者は製品の複数の脆弱性を修正した更新を公開した。任意のコードが実行される可能性がある。悪用は確認されていない。',
  ],
  [
    'zh high',
    '某APT组织针对政府机构的攻击活动',
    '近期我们捕获到该组织的攻击活动。攻击者向政府机构发送钓鱼邮件，投递后门程序并窃取文件。',
  ],
  ['zh medium', '新型窃密木马分析', '我们发现了一个新的窃密木马。该恶意软件会窃取浏览器密码，并上传到控制服务器。'],
  [
    'it high',
    'Attacco ransomware contro un comune',
    'I server del comune sono stati cifrati da un ransomware. Gli attaccanti chiedono un riscatto e i servizi sono fermi.',
  ],
  [
    'pl high',
    'Atak na firmy energetyczne',
    'Hakerzy zaatakowali kilka firm w Polsce. Złośliwe oprogramowanie zostało rozesłane w wiadomościach, a dane zostały wykradzione.',
  ],
  [
    'nl high',
    'Ransomware bij een gemeente',
    'De servers van de gemeente werden versleuteld door ransomware. De aanvallers eisen losgeld en hebben gegevens gestolen.',
  ],
  [
    'pt high',
    'Ataque de ransomware contra uma prefeitura',
    'Os servidores da prefeitura foram criptografados em um ataque de ransomware. Os criminosos exigem um resgate e roubaram dados.',
  ],
])('%s: %s', (expected, title, text) => {
  const { language, severity, severityRule } = rate(title, text);
  expect(`${language} ${severity}`, severityRule).toBe(expected);
});
