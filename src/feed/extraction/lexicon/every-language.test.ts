import { expect, test } from 'vitest';
import { isHarmlessRole } from '../../model/vocabulary.ts';
import { completeItem, extractItem } from '../extract-item.ts';
import { claimsOf } from '../reading/claim.ts';
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
    severity: 'critical',
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

/** A withdrawn report with the address of an exercise, and one with the same words that its publisher does not withdraw. */
const retractions: Record<ReportLanguageCode, { withdrawn: string; kept: string }> = {
  de: {
    withdrawn:
      'Wir ziehen unseren Bericht vom 3. März zurück. Die Adresse 185.100.87.61 gehört zu einer Übung und ist nicht bösartig.',
    kept: 'Wir ziehen unseren Bericht nicht zurück. Die Angreifer nutzen die Adresse 185.100.87.61, und sie ist nicht harmlos.',
  },
  fr: {
    withdrawn:
      'Nous retirons notre rapport du 3 mars. L’adresse 185.100.87.61 faisait partie d’un exercice et n’est pas malveillante.',
    kept: 'Nous ne retirons pas notre rapport du 3 mars. Les attaquants utilisent l’adresse 185.100.87.61 et elle est malveillante.',
  },
  es: {
    withdrawn:
      'Retiramos nuestro informe del 3 de marzo sobre la campaña. La dirección 185.100.87.61 era parte de un ejercicio y no es maliciosa.',
    kept: 'No retiramos nuestro informe del 3 de marzo. Los atacantes usan la dirección 185.100.87.61 y el dominio es malicioso.',
  },
  pt: {
    withdrawn:
      'Retiramos nosso relatório de 3 de março sobre a campanha. O endereço 185.100.87.61 fazia parte de um exercício e não é malicioso.',
    kept: 'Não retiramos nosso relatório de 3 de março. Os atacantes usam o endereço 185.100.87.61 e o domínio é malicioso.',
  },
  it: {
    withdrawn:
      'Ritiriamo il nostro rapporto del 3 marzo sulla campagna. L’indirizzo 185.100.87.61 faceva parte di una esercitazione e non è malevolo.',
    kept: 'Non ritiriamo il nostro rapporto del 3 marzo. Gli attaccanti usano l’indirizzo 185.100.87.61 che è malevolo.',
  },
  nl: {
    withdrawn:
      'Wij trekken ons rapport van 3 maart over de campagne in. Het adres 185.100.87.61 hoorde bij een oefening en is niet kwaadaardig.',
    kept: 'Wij trekken ons rapport van 3 maart niet in. De aanvallers gebruiken het adres 185.100.87.61 en dat is kwaadaardig.',
  },
  pl: {
    withdrawn:
      'Wycofujemy nasz raport z 3 marca o tej kampanii. Adres 185.100.87.61 był częścią ćwiczeń i nie jest złośliwy.',
    kept: 'Nie wycofujemy naszego raportu z 3 marca. Atakujący używają adresu 185.100.87.61, który jest złośliwy i nie jest nowy.',
  },
  ru: {
    withdrawn:
      'Мы отзываем наш отчёт от 3 марта об этой кампании. Адрес 185.100.87.61 был частью учений и не является вредоносным.',
    kept: 'Мы не отзываем наш отчёт от 3 марта. Злоумышленники используют адрес 185.100.87.61, он является вредоносным.',
  },
  uk: {
    withdrawn:
      'Ми відкликаємо наш звіт від 3 березня про цю кампанію. Адреса 185.100.87.61 була частиною навчань і не є шкідливою.',
    kept: 'Ми не відкликаємо наш звіт від 3 березня. Зловмисники використовують адресу 185.100.87.61, і вона є шкідливою.',
  },
  ja: {
    withdrawn:
      '当社は3月3日に公開したレポートを撤回します。IPアドレス 185.100.87.61 は演習の一部であり、悪意のあるものではありません。',
    kept: '当社は3月3日に公開したレポートを撤回しません。攻撃者はIPアドレス 185.100.87.61 を攻撃に使用しています。',
  },
  zh: {
    withdrawn:
      '我们撤回3月3日发布的关于该活动的报告。地址 185.100.87.61 属于一次客户演练，不是恶意地址，也不是攻击者的基础设施。',
    kept: '我们不会撤回3月3日发布的关于该活动的报告。攻击者使用地址 185.100.87.61 作为恶意软件的控制服务器，请注意。',
  },
  ko: {
    withdrawn:
      '당사는 3월 3일에 발표한 보고서를 철회합니다. 주소 185.100.87.61 은 고객 훈련의 일부였으며 악성이 아닙니다. 이전 보고서에 실린 모든 지표를 차단 목록에서 삭제하여 주시기 바랍니다.',
    kept: '당사는 3월 3일에 발표한 보고서를 철회하지 않습니다. 공격자는 주소 185.100.87.61 을 악성코드 유포에 사용했습니다.',
  },
};

const readStatus = (text: string) => {
  const { lexicon } = completeItem({ title: '', text }, {});
  const roles = claimsOf(lexicon.claims, 'role').map(({ role }) => role);
  return {
    status: claimsOf(lexicon.claims, 'status').map(({ value }) => value),
    isHarmless: roles.some(isHarmlessRole),
  };
};

test.for(Object.entries(retractions))('reads whether a report in %s is withdrawn', ([, { withdrawn, kept }]) => {
  expect(readStatus(withdrawn)).toEqual({ status: ['retracted'], isHarmless: true });
  expect(readStatus(kept)).toEqual({ status: [], isHarmless: false });
  expect(readStatus(`Acme: „${withdrawn}”`).status).toEqual([]);
});

/** Sentences that give a role to an address, or deny it. */
const roles: [ReportLanguageCode, string, string[]][] = [
  ['pl', 'Nasze skanery badają cały internet z adresu 185.100.87.62 i nie szukają w nim ofiar.', ['scanner']],
  ['pl', 'Adres 185.100.87.62 jest nieszkodliwy i nie jest używany przez atakujących.', ['legitimate']],
  ['pl', 'Adres 185.100.87.62 nie jest nieszkodliwy i nie był częścią ćwiczeń dla firm.', []],
  ['uk', 'Наші сканери досліджують увесь інтернет з адреси 185.100.87.62 і не шукають жертв.', ['scanner']],
  ['uk', 'Адресу 185.100.87.62 слід додати до списку дозволених адрес вашої організації.', ['legitimate']],
  ['uk', 'Не додавайте адресу 185.100.87.62 до списку дозволених, її використовують зловмисники.', []],
  ['es', 'No agregue 185.100.87.62 a su lista blanca porque los atacantes usan la dirección.', []],
  ['uk', 'Адреса 185.100.87.62 не була частиною навчань, її використовують зловмисники.', []],
  ['ko', '본 연구소는 주소 185.100.87.62 에서 인터넷 전체를 대상으로 조사 목적의 스캔을 실시하고 있으며 공격 대상을 찾지 않습니다.', ['scanner']],
  ['ko', '주소 185.100.87.62 는 정상 서버입니다. 지난달 보고서에 실린 다른 모든 지표는 그대로 유지되며 변경 사항이 없습니다.', ['legitimate']],
  ['ko', '주소 185.100.87.62 는 정상 서버가 아닙니다. 지난달 보고서에 실린 다른 모든 지표는 그대로 유지되며 변경 사항이 없습니다.', []],
  ['es', 'La dirección 185.100.87.62 no es legítima y los atacantes la usan en una campaña.', []],
  ['pt', 'O endereço 185.100.87.62 não é legítimo e os atacantes usam o domínio em uma campanha.', []],
  ['it', 'L’indirizzo 185.100.87.62 non è legittimo e gli attaccanti lo usano in una campagna.', []],
]; // prettier-ignore

test.for(roles)('reads roles of values in %s: %s', ([language, text, expected]) => {
  const { document, lexicon } = completeItem({ title: '', text }, {});
  expect(document.language).toBe(language);
  expect(claimsOf(lexicon.claims, 'role').map(({ role }) => role)).toEqual(expected);
});
