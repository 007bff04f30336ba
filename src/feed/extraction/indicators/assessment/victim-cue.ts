import { nameKey } from '../../../reference-data/name-forms.ts';
import type { Span } from '../../text/stored-text.ts';
import { createWordsBefore, findMatches } from '../../text/find-matches.ts';

/** Words between the cue and the address: `the official website of the bank (`. */
const between = String.raw`(?:[ ,:("'“„«]{1,3}[\p{L}’'-]{1,20}){0,4}`;
const site = String.raw`(?:web ?sites?|sites?|mirrors?|repositor(?:y|ies)|domains?|pages?|portals?|hosts?|servers?|services?|urls?|address(?:es)?)`;

/** Excludes sites that attackers took over, or that only seem legitimate. */
const takenOver = String.raw`(?<!\b(?:seemingly|apparently|appears?|looks?|compromised|hacked|infected|breached|abus(?:es|ed|ing)) )`;

const cues: string[] = [
  // Attacks against an address
  String.raw`\b(?:ddos|attacks?|attacked|flood(?:s|ed|ing)?|defac(?:es|ed|ing|ement))(?: attacks?)? (?:on|against)(?: the)?(?: ${site})?(?: of)?`,
  String.raw`\bvictim(?:(?:['’]s|s['’])(?: own)?(?: ${site})?| ${site})`,
  String.raw`\b(?:breached|breaching|hacked into|broke into|infiltrated)(?: the)?(?: ${site})?(?: of)?`,
  String.raw`\b(?:employees|staff|customers) of(?: the)?(?: ${site})?`,
  String.raw`\bclon(?:es|ed|ing)(?: the)?(?: \p{L}{1,20}){0,2} (?:login|forms?|design|${site})(?: ${site})?(?: of)?`,
  String.raw`\b(?:breach|leak|theft) (?:of|at)(?: the)?(?: ${site})?`,
  // Originals that attackers imitate
  String.raw`${takenOver}\b(?:legitimate|official|genuine|authentic)(?: \p{L}{1,20}){0,2} ${site}${between}`,
  String.raw`${takenOver}\b(?:legitimate|official|genuine|authentic)(?: [\p{L}\d.’'-]{1,20}){0,3} (?:interface|front-?end|app|application|platform|store|login)(?= ?\()`,
  String.raw`\b(?:real|actual) (?:web ?site|site|homepage)(?: is| was| at)?`,
  String.raw`\b(?:impersonated|imitated|targeted|affected) (?:brands?|organi[sz]ations?|compan(?:y|ies)|${site})(?: ${site})?(?=:)`,
  String.raw`\b(?:victims?|targets?)(?=:)`,
  String.raw`\bonly (?:download|install|get|use|buy)(?: \p{L}{1,20}){0,3} from`,
  String.raw`\b(?:impersonat(?:es?|ed|ing)|mimic(?:s|ked|king)?|imitat(?:es?|ed|ing)|pos(?:es?|ed|ing) as|masquerad(?:es?|ed|ing) as|pretend(?:s|ed|ing)? to be|spoof(?:s|ed|ing) (?:the|a|an))(?: the| a| an)?(?: ${site})?(?: of)?`,
  String.raw`\b(?:similar to|instead of|look(?:s|ed|ing)? like|copy of|clone of)(?: the)?(?: ${site})?`,
  // Other languages
  String.raw`\b(?:offizielle[nr]?|echte[nr]?|legitime[nr]?) (?:web(?:seiten?|sites?)|seiten?|domains?)${between}`,
  String.raw`\b(?:sites?|sitios?|sito|siti|página|pagina|domínio|dominio)(?: web)? (?:officiels?|oficial(?:es)?|oficiais|ufficial[ei]|légitimes?|leg[ií]timos?|legittim[io])${between}`,
];

const opened = String.raw`[ :,(（"'“„«\x60]{0,3}`;
const hasCue = createWordsBefore([`(?:${cues.join('|')})${opened}`]);

/** Cues in scripts without spaces. */
const hasUnspacedCue = createWordsBefore(
  [
    String.raw`(?:官网|官方网站|官網|官方網站|正規サイト|公式サイト|공식 (?:홈페이지|사이트))[(（:：は]?`,
    // `仿冒网站 example.top` is the imitation, `仿冒了某银行网站 example.com` its original.
    String.raw`(?:仿冒|冒充|假冒|伪装成|偽裝成|模仿|克隆|山寨)(?:了|的是)?(?:(?!钓鱼|釣魚|恶意|虚假)\p{Script=Han}{2,8}(?:网站|網站|官网|官網|平台))?[(（:：]?`,
    String.raw`(?:攻击|攻擊|入侵|渗透|篡改|攻陷|攻破)(?:了|过)(?:\p{Script=Han}{0,12}(?:网站|網站|官网|官網|门户|系统|平台))?[(（:：]?`,
    String.raw`(?:受害|被害|被攻击|被入侵|遭入侵)(?:者|方|企业|企業|单位|公司|组织|机构|的)?(?:网站|網站|官网|域名|サイト)?(?:包括|为|是|有)?[(（:：]`,
  ].map((cue) => `${cue}${opened}`),
);
const unspacedStart = 0x1100;
const victimBehind =
  /^[)"”’）]{0,2} ?(?:(?:was|were|has been|have been) (?:defaced|breached|attacked|targeted|hit by|knocked offline|taken offline)\b|(?:is|are|was|were|being|been) (?:impersonated|imitated|mimicked|spoofed|cloned) by\b|(?:的(?:网站|官网|系统))?(?:被(?:攻击|入侵|篡改|黑)(?!后|用|并)|遭(?:到|受)?(?:黑客)?(?:攻击|入侵|篡改))|を(?:装|騙|模倣)|を(?:かた|なりすま)|(?:을|를) 사칭)/;

/**
 * Returns whether the words directly before or behind a value say that it belongs to a victim or to the original that attackers imitate: `an attack
 * against example.org`, `the official website example.org`.
 */
export function isVictimOrOriginal(text: string, { start, end }: Span): boolean {
  if (/[ )"”’）的被遭を을를]/.test(text[end] ?? '') && victimBehind.test(text.slice(end, end + 40))) return true;
  return hasCue(text, start) || (isBehindUnspaced(text, start) && hasUnspacedCue(text, start));
}

/** Returns whether one of the few characters before an offset belongs to a script without spaces. */
function isBehindUnspaced(text: string, start: number): boolean {
  for (let at = start - 1; at >= start - 4; at -= 1) if (text.charCodeAt(at) >= unspacedStart) return true;
  return false;
}

const imitation =
  /\b(?:fake|bogus|phony|spoof(?:ed|ing|s)?|impersonat(?:es|ed|ing)|(?:purport(?:s|ed|ing|edly)?|pretend(?:s|ed|ing)?|claim(?:s|ed|ing)?|appear(?:s|ed|ing)?) (?:to be |to come )?from|in the name of|im Namen (?:von|der)|im Namen des|suplanta(?:ndo)?(?: la identidad de)?|se faisant passer pour|a nome di|em nome d[aeo])(?= )/g;
/** The name after it. A separate pattern, because the flag `u` makes a search several times slower. */
const imitatedName = /(?: the| an?)? ((?:\p{Lu}[\p{L}\d&.’'-]{1,30} ?){1,3})/uy;
const imitatedMax = 50;

/** Returns the keys of the names that attackers imitate according to a text: `hsbc` for `this fake HSBC message`. */
export function findImitatedNames(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { 0: cue, index } of findMatches(imitation, text)) {
    imitatedName.lastIndex = index + cue.length;
    const words = imitatedName.exec(text)?.[1]!.trim().split(' ') ?? [];
    for (let count = 1; count <= words.length; count += 1) names.add(nameKey(words.slice(0, count).join(' ')));
    if (names.size > imitatedMax) break;
  }
  return names;
}
