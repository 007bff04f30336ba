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
  [
    'es high',
    'Ciberataque a una aseguradora: roban datos de clientes',
    'La aseguradora ha confirmado que los ciberdelincuentes accedieron a sus sistemas y se llevaron datos personales de miles de clientes. La compañía ha avisado a la Agencia de Protección de Datos.',
  ],
  [
    'es medium',
    'Nuevo troyano bancario para Android',
    'Los investigadores han analizado un nuevo troyano para Android que se hace pasar por una actualización del navegador. Lee los mensajes y graba la pantalla. Se comunica con su servidor de mando y control por WebSocket.',
  ],
  [
    'es low',
    'Aviso: correos fraudulentos que ofrecen premios',
    'Se ha detectado una estafa por correo electrónico que promete un premio y pide el pago de una tasa. Si has recibido el mensaje, bórralo.',
  ],
  [
    'es none',
    'Cinco consejos para proteger tu empresa',
    'Usa contraseñas fuertes, activa la verificación en dos pasos y haz copias de seguridad. Forma a tus empleados para que reconozcan el phishing.',
  ],
  [
    'de high',
    'Hackerangriff auf Universität: Daten von Studierenden gestohlen',
    'Unbekannte haben die Systeme der Universität angegriffen und Daten von Studierenden und Beschäftigten kopiert. Die Hochschule hat Anzeige erstattet.',
  ],
  [
    'de medium',
    'Neuer Infostealer wird in Foren verkauft',
    'Forscher haben einen neuen Infostealer untersucht, der in Foren für 200 Dollar im Monat angeboten wird. Die Schadsoftware liest Passwörter aus Browsern aus.',
  ],
  [
    'de low',
    'Sicherheitslücken in Routern geschlossen',
    'Der Hersteller hat mehrere Sicherheitslücken in seinen Routern geschlossen. Angreifer könnten darüber Befehle ausführen. Angriffe sind bislang nicht bekannt.',
  ],
  [
    'de none',
    'Neue Version unserer Plattform verfügbar',
    'Mit der neuen Version können Kunden Warnungen schneller bearbeiten. Die Oberfläche wurde überarbeitet.',
  ],
  [
    'fr high',
    'Une cyberattaque paralyse un groupe de cliniques vétérinaires',
    "Le groupe a été victime d'un rançongiciel dans la nuit de samedi à dimanche. Les pirates ont chiffré les serveurs et exigent une rançon. Les consultations sont reportées en France et en Belgique.",
  ],
  [
    'fr medium',
    'Un nouveau malware vole les mots de passe',
    'Des chercheurs ont découvert un logiciel malveillant qui se cache dans de fausses mises à jour. Il vole les mots de passe et les cookies du navigateur.',
  ],
  [
    'fr none',
    "Qu'est-ce que le phishing ?",
    "Le phishing est une technique d'escroquerie. L'attaquant envoie un message qui semble venir d'un tiers de confiance. Voici comment le reconnaître.",
  ],
  [
    'ru high',
    'Хакеры похитили данные клиентов сети аптек',
    'Группировка заявила о взломе сети аптек и выложила базу данных с телефонами и адресами клиентов. Компания подтвердила инцидент.',
  ],
  [
    'ru medium',
    'Новый Android-троян маскируется под приложение банка',
    'Эксперты обнаружили новый троян, который распространяется через мессенджеры. Он перехватывает сообщения и крадет пароли.',
  ],
  [
    'ru low',
    'Мошенники обманывают пользователей от имени операторов связи',
    'Мошенники звонят абонентам и предлагают продлить договор. Цель — узнать код из сообщения.',
  ],
  [
    'ru none',
    'Как защитить аккаунт: советы эксперта',
    'Эксперт рассказал, как выбрать надежный пароль и зачем включать двухфакторную аутентификацию.',
  ],
  [
    'ja high',
    '大学のサーバーに不正アクセス、学生の個人情報が流出',
    '大学は、サーバーが不正アクセスを受け、学生と教職員の個人情報約2万件が流出したと発表した。',
  ],
  ['ja low', 'ルーターに脆弱性、修正版を公開', 'メーカーはルーターの複数の脆弱性を修正した。悪用は確認されていない。'],
  [
    'ja none',
    'フィッシングとは？わかりやすく解説',
    'フィッシングとは、偽のメールで個人情報を盗む手口です。対策として多要素認証を有効にしましょう。',
  ],
  [
    'zh high',
    '某APT组织针对我国科研机构发起钓鱼攻击',
    '近期，我们捕获到某APT组织针对科研机构的钓鱼邮件，邮件附件投递木马，用于窃取文件。',
  ],
  [
    'it high',
    'Attacco ransomware al comune: servizi bloccati',
    'Il comune è stato colpito da un attacco ransomware che ha bloccato i servizi anagrafici. I criminali chiedono un riscatto.',
  ],
  [
    'pt high',
    'Ataque cibernético derruba sistemas de tribunal',
    'O tribunal informou que foi alvo de um ataque de ransomware. Os sistemas ficaram fora do ar e os prazos foram suspensos.',
  ],
  [
    'nl high',
    'Gegevens van patiënten gestolen bij laboratorium',
    'Criminelen hebben bij een aanval op het laboratorium de gegevens van honderdduizenden patiënten gestolen. De groep eist losgeld.',
  ],
  [
    'pl high',
    'Grupa APT atakuje polskie instytucje',
    'Eksperci wykryli, że grupa od kilku miesięcy wysyła urzędnikom wiadomości z załącznikiem, który instaluje złośliwe oprogramowanie. Jest ono używane przeciwko polskim instytucjom rządowym, a dokumenty, które zostały wykradzione, trafiają na serwer przestępców.',
  ],
  [
    'it high',
    'Il trojan bancario si diffonde in Europa',
    'Secondo i ricercatori questo trojan bancario si sta diffondendo in Spagna e in Francia. Le campagne sono state osservate negli ultimi mesi, e gli attaccanti continuano le loro azioni contro gli utenti.',
  ],
  [
    'es critical',
    'Nueva ola de ransomware en la región',
    'El ransomware está afectando a varias organizaciones del país. Los delincuentes cifran los servidores y piden un rescate a las víctimas.',
  ],
  [
    'pt high',
    'Vírus chega por mensagens de texto',
    'O malware foi observado em mensagens enviadas a usuários brasileiros. Ele captura as senhas digitadas e envia os dados aos criminosos.',
  ],
])('rates as %s: %s', (expected, title, text) => {
  const { language, severity, severityRule } = rate(title, text);
  expect(`${language} ${severity}`, severityRule).toBe(expected);
});
