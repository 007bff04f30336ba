import type { Span } from '../../text/stored-text.ts';

/** Words between the cue and the address: `the official website of the bank (`. */
const between = String.raw`(?:[ ,:("'“„«]{1,3}[\p{L}’'-]{1,20}){0,4}`;
const site = String.raw`(?:web ?sites?|sites?|domains?|pages?|portals?|hosts?|servers?|services?|urls?|address(?:es)?)`;

/** Excludes sites that attackers took over, or that only seem legitimate. */
const takenOver = String.raw`(?<!\b(?:seemingly|apparently|appears?|looks?|compromised|hacked|infected|breached|abus(?:es|ed|ing)) )`;

const cues = [
  // Attacks against an address
  String.raw`\b(?:ddos|attacks?|attacked|flood(?:s|ed|ing)?|defac(?:es|ed|ing|ement))(?: attacks?)? (?:on|against)(?: the)?(?: ${site})?(?: of)?`,
  String.raw`\bvictim(?:(?:['’]s|s['’])(?: own)?(?: ${site})?| ${site})`,
  String.raw`\b(?:breached|breaching|hacked into|broke into|infiltrated)(?: the)?(?: ${site})?(?: of)?`,
  String.raw`\b(?:employees|staff|customers) of(?: the)?(?: ${site})?`,
  String.raw`\bclon(?:es|ed|ing)(?: the)?(?: \p{L}{1,20}){0,2} (?:login|forms?|design|${site})(?: ${site})?(?: of)?`,
  String.raw`\b(?:breach|leak|theft) (?:of|at)(?: the)?(?: ${site})?`,
  // Originals that attackers imitate
  String.raw`${takenOver}\b(?:legitimate|official|genuine|authentic)(?: \p{L}{1,20}){0,2} ${site}${between}`,
  String.raw`\b(?:impersonat(?:es?|ed|ing)|mimic(?:s|ked|king)?|imitat(?:es?|ed|ing)|pos(?:es?|ed|ing) as|masquerad(?:es?|ed|ing) as|pretend(?:s|ed|ing)? to be|spoof(?:s|ed|ing) (?:the|a|an))(?: the| a| an)?(?: ${site})?(?: of)?`,
  String.raw`\b(?:similar to|instead of|look(?:s|ed|ing)? like|copy of|clone of)(?: the)?(?: ${site})?`,
  // Other languages
  String.raw`\b(?:offizielle[nr]?|echte[nr]?|legitime[nr]?) (?:web(?:seiten?|sites?)|seiten?|domains?)${between}`,
  String.raw`\b(?:sites?|sitios?|sito|siti|página|pagina|domínio|dominio)(?: web)? (?:officiels?|oficial(?:es)?|oficiais|ufficial[ei]|légitimes?|leg[ií]timos?|legittim[io])${between}`,
  String.raw`(?:官网|官方网站|官網|官方網站|正規サイト|公式サイト|공식 (?:홈페이지|사이트))[(（:：は]?`,
].join('|');

// Matched backwards from the value.
const victimCue = new RegExp(`(?<=(?:${cues})[ :,(（"'“„«]{0,3})`, 'iuy');
const victimBehind =
  /^[)"”’]{0,2} (?:was|were|has been|have been) (?:defaced|breached|attacked|targeted|hit by|knocked offline|taken offline)\b/;

/**
 * Checks whether the words directly before or behind a value say that it belongs to a victim or to the original that attackers imitate: `an attack
 * against example.org`, `the official website example.org`.
 */
export function isVictimOrOriginal(text: string, { start, end }: Span): boolean {
  if (/[ )]/.test(text[end] ?? '') && victimBehind.test(text.slice(end, end + 40))) return true;
  victimCue.lastIndex = start;
  return victimCue.test(text);
}

const place = String.raw`(?: (?:at|in|on|here))?[:,]? ?[<(]?$`;
const readingCue = new RegExp(
  String.raw`\b(?:see(?: also)?|read(?: more)?|more (?:technical )?(?:information|details)|(?:technical|malware|full|our) analysis)(?: (?:is|are))?(?: (?:available|published|found))?${place}`,
  'i',
);
const sourceCue = new RegExp(
  String.raw`\b(?:analysis|details|blog(?: ?post)?|reports?|article|write-?up|reference|source)(?: (?:is|are))?(?: (?:available|published|found))?${place}`,
  'i',
);

/**
 * Checks whether the words directly before a live address say that it is further reading: `more details at`, `See`, `Blog:`. In a list of
 * indicators, `report: http://…` can be what a program requests.
 */
export function isFurtherReading(text: string, start: number, isListed: boolean): boolean {
  const before = text.slice(Math.max(0, start - 60), start);
  return readingCue.test(before) || (!isListed && sourceCue.test(before));
}
