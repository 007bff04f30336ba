import { readItems } from './new-name-lists.ts';
import type { AddName } from './new-name.ts';
import { oneName } from './new-name-patterns.ts';
import { isDistinctive, isUsable, trimName } from './usable-names.ts';
import { findMatches } from '../../text/find-matches.ts';

/** Words that are frequent in German, French, Spanish, Portuguese, Italian and Dutch, but not in English. */
const functionWord =
  /(?<!\p{L})(?:[Uu]nd|[Dd]er|[Dd]as|[Ee]ine[rn]?|mit|von|für|auf|wird|nicht|den|dem|ist|seit|zum|zur|bei|sich|[Ll]es?|[Uu]ne|aux|pour|dans|avec|sont|été|du|est|ont|selon|[Ee]l|[Ll]os|[Ll]as|por|[Uu]na|para|según|como|del|de|que|un|con|[Uu]ma|não|são|também|della|che|per|[Ii]l|sono|degli|nel|[Hh]et|[Ee]en|voor|naar|ook)(?!\p{L})/gu;
const functionWordsMin = 3;
/** One in how many words is such a word at least. */
const functionWordEvery = 25;
const cyrillic = /\p{Script=Cyrillic}{3}/u;
/** Kana, Han and Hangul. */
const asianLetter = /[\u3040-\u30FF\u4E00-\u9FFF\uAC00-\uD7AF]/;
const sampleChars = 2_500;

const germanMalware =
  '(?:Schad|Spionage|Erpresser|Verschlüsselungs)(?:software|programm|trojaner)s?|(?:[Bb]anking-)?Trojaners?|Hintertür|Wurm|Botnetz(?:es)?|Backdoor|Malware|Ransomware|Infostealers?|Spyware|Loader|(?:\\p{Lu}\\p{Ll}+-){0,2}Drainers?';
const romanceMalware =
  'logiciel (?:malveillant|espion)|maliciel|rançongiciel|cheval de Troie(?: bancaire)?|porte dérobée|troyano(?: bancario)?|puerta trasera|programa malicioso|software malicioso|gusano|cavalo de Troia|trojan(?: bancario| bancário)?|cavallo di Troia|malware|ransomware|botnet|infostealer|backdoor|spyware|gijzelsoftware|virus';
const russianMalware =
  '(?:троян|бэкдор|вредонос|стилер|загрузчик|ботнет|имплант|шпион)\\p{L}*|шифровальщик\\p{L}*|вымогател\\p{L}*|черв[ья]\\p{L}*|вредоносн\\p{L}+ (?:ПО|программ\\p{L}+)';
const malwarePlural =
  'Malwares|Trojanern?|Schadprogrammen?|Hintertüren|Backdoors|Ransomware-(?:Familien|Varianten)|logiciels malveillants|maliciels|rançongiciels|malwares|troyanos|programas maliciosos|backdoors|familias de (?:malware|ransomware)|familles de (?:malwares?|rançongiciels)|famiglie di (?:malware|ransomware)|famílias de malware';
const actorQualified =
  "(?:[\\p{Lu}]\\p{L}*[-‑]?)?(?:[Hh]acker|[Hh]ack|[Ss]pionage|[Bb]edrohungs|[Aa]ngreifer|[Ee]rpresser|[Rr]ansomware|APT|[Cc]yberspionage|[Cc]ybercrime)[-‑]?[Gg]ruppe|Hackerkollektiv|Ransomware-Bande|groupe (?:de |d[’'])?(?:hackers?|pirates?(?: informatiques)?|(?:cyber)?espionnage|rançongiciels?|ransomware|cybercriminel|APT|malveillant)(?: \\p{Ll}+)?|gang|grupo (?:de )?(?:hackers?|ransomware|ciberespionaje|cibercriminales|ciberdelincuentes|cibercriminal|APT|piratas inform[aá]ticos|extorsión)(?: \\p{Ll}+)?|(?:banda|colectivo|actor) (?:de )?(?:ransomware|hackers|amenazas?)|gruppo (?:di )?(?:hacker|ransomware|criminale|APT|cybercriminale|cyber ?spionaggio)|collettivo|hackersgroep|ransomwaregroep|hackergroep|группировк\\p{L}*|(?:хакерск|кибершпионск|вымогательск)\\p{L}+ групп\\p{L}*|APT-групп\\p{L}*";
/** A plain `group` may be a company, unless an attack is its deed. */
const actorAsAgent =
  '(?:par le|au|du) groupe|(?:von|durch) (?:der|die) Gruppe|(?:por el|al) grupo|(?:dal|al) gruppo|(?:pelo|ao) grupo|door de groep|Die Gruppe(?= \\S+ (?:nutzt|setzt|verwendet|griff|greift|hat))';
const actorPlural =
  '(?:[\\p{Lu}]\\p{L}*[-‑])?(?:Hacker|APT|Ransomware|Spionage)?[-‑]?[Gg]ruppen|Hackergruppen|Ransomware-Banden|groupes|gangs|grupos|bandas|afiliados|gruppi|gang|collettivi|groepen|группировк\\p{L}*|групп\\p{L}*';
const exampleWord =
  '(?: (?:[\\p{Ll}-]+ ){0,3}?(?:wie|comme|tels que|como|come|zoals|als|как|conocid[oa]s como|connus sous))?(?: [\\p{Ll}-]+){0,3}?:?';
const naming =
  "namens|mit dem (?:Code)?[Nn]amen|(?:ge)?nannt|baptisée?s?|surnommée?s?|nommée?s?|appelée?s?|dénommée?s?|connue?s? sous le nom d[e’']|llamad[oa]s?|denominad[oa]s?|bautizad[oa]s?(?: como)?|conocid[oa]s? como|apodad[oa]s?|chamad[oa]s?|batizad[oa]s?(?: de| como)?|conhecid[oa]s? como|battezzat[oaie](?: come)?|denominat[oaie]|chiamat[oaie]|soprannominat[oaie]|ribattezzat[oaie]|not[oaie] come|conosciut[oaie] come|genaamd|под названием|получи\\p{L}+ название|названн\\p{L}+|известн\\p{L}+ как";
const otherThing =
  /(?:[Kk]ampagne|[Oo]peration|[Ss]chwachstelle|[Ll]ücke|campagne|opération|vulnérabilité|faille|campaña|operación|vulnerabilidad|campanha|operação|campagna|operazione|vulnerabilità|kwetsbaarheid|кампани|операци|уязвимост)\p{L}*(?: [\p{Ll}’'-]+){0,3}\s*["“«‘„]?$/u;

const quote = '["“«‘„»”’*]{0,2} ?';
const withCapital = (nouns: string): string =>
  nouns.replaceAll(/(^|\|)(\p{Ll})/gu, (_, bar: string, letter: string) => `${bar}[${letter.toUpperCase()}${letter}]`);
const lead = (nouns: string, between = ''): RegExp =>
  new RegExp(String.raw`(?<![\p{L}\p{N}-])(?:${withCapital(nouns)})${between} ${quote}(?=[\p{Lu}\d])`, 'gu');
const malwareNouns = `${germanMalware}|${romanceMalware}|${russianMalware}`;
const leads = [
  { kind: 'malware', pattern: lead(malwareNouns), isPlural: false },
  { kind: 'malware', pattern: lead(malwarePlural, exampleWord), isPlural: true },
  { kind: 'actor', pattern: lead(`${actorQualified}|${actorAsAgent}`), isPlural: false },
  { kind: 'actor', pattern: lead(actorPlural, exampleWord), isPlural: true },
  { kind: 'malware', pattern: lead(malwareNouns, ','), isPlural: false },
  { kind: 'actor', pattern: lead(actorQualified, ','), isPlural: false },
] as const;
const namings = lead(naming);
const ofMalware = new RegExp(String.raw`(?<![\p{L}-])(?:${malwareNouns}|implant|variante)`, 'iu');
const ofActor = new RegExp(
  String.raw`(?:${actorQualified}|gruppe|groupe|grupo|gruppo|groep|групп|Akteur|acteur|actor|attore|ator|кластер)`,
  'iu',
);
/** A kind that is joined to the name: `Foobar-Backdoor`, `der Foobar-Trojaner`. */
const joined = new RegExp(
  String.raw`(?<![\p{L}\p{N}-])([\p{Lu}\d][\p{L}\p{N}]{2,24})[-‑](?:(Gruppe|Bande|Hacker|Akteure)|Backdoor|Malware|Trojaners?|Ransomware|Schadsoftware|Stealer|Loader|Botnetz|Wurm)`,
  'gu',
);
/** A name with what it is in an apposition: `Foobar, un troyano diseñado`, `Foobar, ein neuer Loader`. */
const apposed = new RegExp(
  String.raw`(?<![\p{L}\p{N}_-])(${oneName}), (?:descrit[oa] (?:como|come) |décrite? comme |(?:une?|un[oa]?|uma|eine?|el|la|le|een) )(?:\p{Ll}[\p{Ll}-]* ){0,2}(?:(${actorQualified}|групп\p{L}+|gruppo|grupo|groupe)|${malwareNouns}|phishing-as-a-service)(?![\p{L}])`,
  'gu',
);

const asianName = String.raw`([A-Z][A-Za-z\d]+(?:[-.][A-Za-z\d]+)*(?: (?!APT|RAT)[A-Z][A-Za-z\d]+){0,2})`;
const asianQuote = '[「『“"《〈‘（(]?';
const asianQuoteEnd = '[」』”"》〉’）)]? ?';
const asianMalware =
  '恶意软件|惡意軟體|恶意程序|后门|後門|木马|木馬|勒索软件|勒索軟體|蠕虫|加载器|僵尸网络|远控|窃密程序|マルウェア|ランサムウェア|バックドア|トロイの木馬|ローダー|インフォスティーラー|악성코드|악성 코드|백도어|랜섬웨어|트로이목마';
const asianActor =
  '黑客组织|APT组织|威胁组织|黑客團體|攻撃グループ|ハッカー集団|ハッカーグループ|ランサムウェアグループ|ランサムグループ|脅威アクター|해킹 ?그룹|해킹 ?조직|해커 ?그룹|APT ?그룹|APTグループ|勒索组织|勒索团伙';
const asian = [
  ['malware', new RegExp(`(?:${asianMalware}) ?${asianQuote}${asianName}`, 'gu')],
  ['malware', new RegExp(`${asianName}${asianQuoteEnd}(?:型)?(?:${asianMalware})`, 'gu')],
  ['actor', new RegExp(`(?:${asianActor}) ?${asianQuote}${asianName}`, 'gu')],
  ['actor', new RegExp(`${asianName}${asianQuoteEnd}(?:${asianActor}|组织|組織|团伙|集団)`, 'gu')],
] as const;

/** Adds the names that a text in another language introduces by the noun for their kind or by a word such as `called`. */
export function readForeignNames(text: string, add: AddName): void {
  const sample = text.slice(0, sampleChars);
  if (hasFunctionWords(sample) || cyrillic.test(sample)) readEuropeanNames(text, add);
  if (!asianLetter.test(text)) return;
  let index = 0;
  for (const line of text.split('\n')) {
    if (asianLetter.test(line)) readAsianNames({ line, index }, add);
    index += line.length + 1;
  }
}

function hasFunctionWords(sample: string): boolean {
  const count = sample.match(functionWord)?.length ?? 0;
  return count >= functionWordsMin && count * functionWordEvery >= sample.split(/\s+/).length;
}

function readEuropeanNames(text: string, add: AddName): void {
  const isRepeated = createRepeatCheck(text);
  const isGerman = /\b(?:und|der|das)\b/.test(text);
  const isName = (printed: string, isQuoted: boolean): boolean =>
    isUsable(printed, true) && (!isGerman || isQuoted || isShaped(printed) || isRepeated(printed));
  for (const { kind, pattern, isPlural } of leads)
    for (const match of findMatches(pattern, text)) {
      // `El grupo de ransomware Foobar` is about the people.
      if (kind === 'malware' && gang.test(text.slice(Math.max(0, match.index - 24), match.index))) continue;
      const { items } = readItems(text, match.index + match[0].length);
      const isQuoted = quoteEnd.test(match[0]);
      // In a headline, a capital shows no name: `Malware Básico Adopta Tácticas`.
      const isTitle = !isGerman && !isQuoted && /^\p{Lu}/u.test(match[0]) && !isShaped(items[0]?.printed ?? '');
      if (isTitle && kind === 'malware') continue;
      const isListOfNames = isPlural && items.some(({ printed }) => isShaped(printed));
      for (const { printed: full, start } of isPlural ? items : items.slice(0, 1)) {
        const printed = trimName(full);
        // An apposition ends with a comma: `un groupe de pirates, Foobar, a`.
        if (/, \W*$/.test(match[0]) && text[start + full.length] !== ',') continue;
        if (
          isName(printed, isQuoted || isListOfNames) &&
          (isQuoted || kind === 'malware' || isDistinctive(printed) || isPlural)
        )
          add(kind, printed, start);
      }
    }
  for (const match of findMatches(namings, text)) readNaming(text, match, add);
  for (const match of findMatches(joined, text))
    if (isUsable(match[1]!, true) && (isShaped(match[1]!) || isRepeated(match[1]!)))
      add(match[2] ? 'actor' : 'malware', match[1]!, match.index);
  for (const match of findMatches(apposed, text)) {
    const printed = trimName(match[1]!);
    if (isName(printed, false) && isDistinctive(printed)) add(match[2] ? 'actor' : 'malware', printed, match.index);
  }
}

function readAsianNames({ line, index: offset }: { line: string; index: number }, add: AddName): void {
  for (const [kind, pattern] of asian)
    for (const match of findMatches(pattern, line)) {
      const printed = trimName(match[1]!);
      const isAcronym = /^[A-Z]{2,4}$/.test(printed);
      if (isUsable(printed, true) && !isAcronym) add(kind, printed, offset + match.index + match[0].indexOf(match[1]!));
    }
}

const gang = /(?:[Gg]rup\p{L}*|[Gg]roupe|[Gg]ruppo|[Bb]anda|[Gg]ang|[Bb]ande) (?:de |di |d[’'])?$/u;
const quoteEnd = /["“«‘„»”’*] ?$/;

/** A name that no German noun looks like: an inner capital, a digit, or capitals only. */
const isShaped = (printed: string): boolean => /\p{Ll}\p{Lu}|\d|\p{Lu}{3}|[.-]/u.test(printed);

const checkedMax = 100;

/**
 * Returns a check for a word that a text repeats and that is no German noun: nouns stand after an article elsewhere in the text, names do not. It
 * answers for the first 100 words.
 */
function createRepeatCheck(text: string): (printed: string) => boolean {
  const known = new Map<string, boolean>();
  return (printed) => {
    const checked = known.get(printed);
    if (checked !== undefined || known.size >= checkedMax || !isDistinctive(printed)) return checked === true;
    const isRepeated = text.indexOf(printed) !== text.lastIndexOf(printed) && !isAfterArticle(text, printed);
    known.set(printed, isRepeated);
    return isRepeated;
  };
}

const isAfterArticle = (text: string, printed: string): boolean =>
  new RegExp(`\\b(?:die|das|eine|einen|ein|dem|den|keine) ${printed}(?![-\\p{L}])`, 'u').test(text);

const reach = 90;

/** Adds the name after `called`, with the kind that the nearest noun before it states. */
function readNaming(text: string, match: RegExpExecArray, add: AddName): void {
  const { items } = readItems(text, match.index + match[0].length);
  const [item] = items;
  if (!item) return;
  const printed = trimName(item.printed);
  const before = text
    .slice(Math.max(0, match.index - reach), match.index)
    .split(/[.!?\n]\s/)
    .at(-1)!;
  if (!isUsable(printed, true) || otherThing.test(before)) return;
  const malware = lastIndexOf(before, ofMalware);
  const actor = lastIndexOf(before, ofActor);
  if (malware < 0 && actor < 0) return;
  add(malware > actor ? 'malware' : 'actor', printed, item.start);
}

const lastIndexOf = (text: string, pattern: RegExp): number =>
  [...text.matchAll(new RegExp(pattern.source, 'giu'))].at(-1)?.index ?? -1;
