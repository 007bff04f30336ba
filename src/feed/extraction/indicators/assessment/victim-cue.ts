/** Words between the cue and the address: `the official website of the bank (`. */
const between = String.raw`(?:[ ,:("'“„«]{1,3}[\p{L}’'-]{1,20}){0,4}`;
const site = String.raw`(?:web ?sites?|sites?|domains?|pages?|portals?|hosts?|servers?|services?|urls?|address(?:es)?)`;

/** A site that attackers took over, or that only seems legitimate, is theirs. */
const takenOver = String.raw`(?<!\b(?:seemingly|apparently|appears?|looks?|compromised|hacked|infected|breached|abus(?:es|ed|ing)) )`;

const cues = [
  // Attacks against an address
  String.raw`\b(?:ddos|attacks?|attacked|flood(?:s|ed|ing)?|defac(?:es|ed|ing|ement))(?: attacks?)? (?:on|against)(?: the)?(?: ${site})?(?: of)?`,
  String.raw`\bvictim(?:(?:['’]s|s['’])(?: own)?(?: ${site})?| ${site})`,
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

const victimCue = new RegExp(`(?:${cues})[ :,(（"'“„«]{0,3}$`, 'iu');
const reach = 110;

/**
 * Checks whether the words directly before a value say that it belongs to a victim or to the original that attackers imitate: `an attack
 * against example.org`, `the official website example.org`. Looks at the sentence of the value only.
 */
export function isVictimOrOriginal(text: string, start: number): boolean {
  const before = text.slice(Math.max(0, start - reach), start);
  return victimCue.test(before.split(/\n|[.!?] |。/).at(-1)!);
}
