import { nameKey } from '../../../reference-data/name-forms.ts';
import type { Span } from '../../text/stored-text.ts';
import { createWordsBefore, type WordsBefore } from '../../text/find-matches.ts';

const opened = String.raw`(?: ?[(:"“„«'\x60]| )`;
const before = (cues: readonly string[]): WordsBefore => createWordsBefore([`(?:${cues.join('|')})${opened}`]);

/** Words before a host, with the reason why it is not the attacker's. */
const reasonsByCue: readonly [WordsBefore, string][] = [
  [
    before([
      String.raw`\b(?:registered|bought|purchased) (?:through|via|with|at)(?: the)?(?: registrar)?`,
      String.raw`\bhosted by`,
      String.raw`\b(?:registrar|hosting provider|hoster|internet provider|isp)`,
    ]),
    'hosting provider',
  ],
  [
    before([
      String.raw`\b(?:according to|courtesy of|reported by|(?:researchers?|analysts?|journalists?|experts?) (?:at|from|of|with))`,
      String.raw`\b(?:first )?(?:appeared|published) (?:by|on|at|in)`,
      String.raw`\b(?:posted|written) by [\p{L} .]{2,40} (?:on|at|for|\/)`,
      String.raw`\b(?:photos?|images?|pictures?|graphics?)(?: credit:?|:)? (?:by |from )?(?:[\p{L} .]{2,40} \/)?`,
      String.raw`\b(?:source|credit|via|quelle|fuente|fonte|źródło|источник|джерело)s?:`,
      String.raw`(?:©|\bcopyright)(?: \d{4}(?:-\d{4})?)?(?: by)?`,
    ]),
    'source of the report',
  ],
  [
    before([
      String.raw`\b(?:tool|patch|update|plug-?in|advisory|report|paper|documentation|source code|rule|list|project|library|software|decryptor|fix)(?:s|es)? (?:is|are|can be)(?: also| freely| publicly)? (?:available|found|downloaded|obtained) (?:at|from|on|in)`,
      String.raw`\b(?:customers|users|administrators|you) (?:can|should|must) (?:update|upgrade|download|patch)[\p{L} ]{0,30} (?:at|from|on|via)`,
      String.raw`(?:^|[.!?\n] ?)(?:please )?(?:visit|see|go to|check out|(?:read |find out |learn )?more (?:at|on))`,
      String.raw`\bcontact (?:us|the (?:vendor|manufacturer|developers?|team)) (?:at|on|via|through)(?: [a-z][\w.-]{3,60} or (?:at|on|via|through))?`,
      String.raw`\bfrom the (?:vendor|manufacturer|developers?|maker|project) (?:at|on)`,
      String.raw`\b(?:information|details|help|support),? (?:please )?(?:visit|go to|see)`,
      String.raw`\b(?:web|website|homepage|internet|www|online):`,
      String.raw`\bpowered by`,
      String.raw`\b(?:follow (?:us|me|@?\w+)|subscribe|read(?: more)?|full (?:list|story|report)|iocs|list of indicators)(?: is| are)?(?: available)? (?:on|at|from)`,
      String.raw`\b(?:users|customers|you|readers) can(?: also)? check [\p{L} ]{3,40} (?:at|on|with)`,
      String.raw`\b(?:tel|phone|fax)\b[.:]?[\d ()+/-]{6,24},`,
    ]),
    'further reading',
  ],
  [
    before([
      String.raw`\b(?:check|test|verif)(?:s|ies|ed|ing)?(?: the| its| internet| network| for)*(?: connection| connectivity| access)(?: with| to| by| via| using| through)+`,
      String.raw`\b(?:external|public|own|its|victim['’]s) (?:ip|ip address|address|location)(?: by| via| with| using| from| through)+`,
    ]),
    'service that a program uses',
  ],
  [
    before([
      String.raw`\b(?:users|clients|members|subscribers|readers|colleagues|employees|customers) (?:of|at|from)(?: the)?`,
      String.raw`\b(?:company|organi[sz]ation|vendor|bank|agency|ministry|university|hospital|manufacturer|supplier)(?:['’]s|s['’])? (?:own )?(?:web ?site|site|domain|portal),?`,
    ]),
    'victim or imitated original',
  ],
];

const victimBehind =
  /^[)"”’]{0,2}(?:, (?:has |have )?(?:warned|confirmed|announced|disclosed|apologi[sz]ed) (?:of|that|the|its|it|on|for)\b| (?:has |have )?(?:confirmed|said|announced|disclosed|told|stated|apologi[sz]ed)\b| fue (?:suplantad|atacad|vulnerad|hackead|clonad)| a été (?:imité|attaqué|piraté|usurpé|cloné)| wurde (?:angegriffen|gehackt|nachgeahmt|imitiert|gefälscht)| è stat[oa] (?:attaccat|imitat|violat|clonat)| foi (?:atacad|invadid|imitad|clonad|hackead)| (?:был|была|было) (?:атакован|взломан|подделан)| (?:був|була|було) (?:атакован|зламан|підроблен)| został[ao]? (?:zaatakowan|podrobion|sklonowan|zhakowan))/iu;

/** Returns the reason why the words around a live host in prose say that it is not the attacker's, or undefined. */
export function findHarmlessHostMention(text: string, { start, end }: Span): string | undefined {
  for (const [isBehindCue, reason] of reasonsByCue) if (isBehindCue(text, start)) return reason;
  const behind = text.slice(end, end + 80);
  if (victimBehind.test(behind) || isReceiver(text.slice(Math.max(0, start - 4), start), behind))
    return 'victim or imitated original';
  if (isBystander(text, { start, end })) return 'victim or imitated original';
  return isNamedBefore(text, { start, end }) ? 'site of a named organization' : undefined;
}

/** Returns whether a host is the mail server that added a `Received` line, which is the recipient's: `by mx.example.org (Postfix) with ESMTPS id`. */
const isReceiver = (before: string, behind: string): boolean =>
  /\bby $/.test(before) &&
  /^(?: \([^()\n]{1,40}\))? (?:with|via) (?:E?SMTPS?A?|UTF8SMTPS?A?|L?MTP|HTTPS?)\b/.test(behind);

const nameMaxChars = 96;

/** Returns whether a host stands in parentheses behind its organization: `Acme Valves (acmevalves.com)`. */
function isNamedBefore(text: string, { start, end }: Span): boolean {
  if (text[end] !== ')' || text[start - 1] !== '(') return false;
  const name = /((?:\p{Lu}[\p{L}\d&.’'-]{1,30} ){1,3})\($/u.exec(
    text.slice(Math.max(0, start - nameMaxChars), start),
  )?.[1];
  if (name === undefined) return false;
  const words = name.trim().split(' ');
  const key = nameKey(
    text
      .slice(start, end)
      .replace(/^www\./i, '')
      .split('.')[0]!,
  );
  return words.some((_, index) => nameKey(words.slice(index).join(' ')) === key);
}

const site = String.raw`(?:web ?sites?|sites?|domains?|pages?|portals?|homepages?|address(?:es)?|urls?|hosts?|hostnames?|senders?)`;
const harmless = String.raw`(?:legitimate|legit|official|genuine|authentic|benign)`;
/** Words between a cue and the value: `the official website of the bank (`. */
const between = String.raw`(?:[ ,:("'“„«]{1,3}(?!(?:that|which|by|to|and|from|with)\b)[\p{L}’'-]{1,20}){0,4}`;
/** Up to three marks, or a colon and the start of a code block. */
const quoted = String.raw`(?:[ :,("'“„«\x60]{1,3}|:\s{0,4}(?:\x60{3}\w{0,8}\s{1,4})?)`;
/** Hosts before the value in the same list: `victims include example.org, `. */
const listed = String.raw`(?:["“\x60]?[\w-]{1,60}(?:\.[\w-]{1,30}){1,4}["”\x60]?(?:, and |, or |, | and | or )){0,6}["“\x60]?`;

/** Words before a host that attackers imitate, or that belongs to a victim. Reports print such hosts defanged, too. */
const hasOriginalCue = createWordsBefore([
  String.raw`(?:${[
    String.raw`(?<!\b(?:seemingly|apparently|appears?|looks?|as|like|a|an|be) )\b${harmless}(?: \p{L}{1,20}){0,2} ${site}${between}`,
    String.raw`\b(?:real|actual) (?:web ?site|site|homepage)${between}`,
    String.raw`\((?:the )?(?:${harmless}|real|original)(?: ${site})?(?: is|:)?`,
    String.raw`\b(?:instead of|rather than)(?: the)?(?: (?:${harmless}|real|original))?(?: ${site})?`,
    String.raw`\b(?:typosquats? (?:of|on)|typosquatting|misspellings? of|variations? of)(?: the)?(?: (?:${harmless}|real))?(?: ${site})?`,
    String.raw`\bvictim(?:(?:['’]s|s['’])(?: own)?(?: ${site})?| (?:organi[sz]ation|company|${site}))`,
    String.raw`\b(?:lookalikes?|look-alikes?|imitations?|clones?) of(?: the)?(?: ${harmless})?(?: ${site})?`,
    String.raw`\b(?:letters? away|differs?|differed|distinguished) from(?: the)?(?: ${harmless})?(?: ${site})?`,
    String.raw`\b(?:resembl(?:es|ed|ing)|confused with|mistaken for)(?: the)?(?: ${harmless})?(?: ${site})?`,
    String.raw`\blog-?in (?:page|form|portal)s? of(?: the)?`,
    String.raw`\b${harmless} (?:app|application|store|installer|software|version|download)(?: is| are| can be)?(?: available| found| downloaded)? (?:at|from|on)`,
  ].join('|')})${quoted}`,
]);

/** Words before hosts of victims, and of services that take no part in an attack. They decide even if the sentence tells of the attack. */
const hasBystanderCue = createWordsBefore([
  String.raw`(?:${[
    String.raw`\bvictims? (?:include[sd]?|are|were):?`,
    String.raw`(?:^|\n)[\s*>-]{0,6}(?:real|legit|legitimate|genuine|official|victim|impersonated|imitated)(?: (?:site|domain|brand|website|organi[sz]ation|company))?:\*{0,2}`,
    String.raw`\b(?:claim|pretend|purport)(?:s|ed|ing)? to (?:be|come|originate|have come) from(?: the)?(?: ${site})?`,
    String.raw`\bblocks access to(?: the)?(?: ${site})?`,
    String.raw`\b(?:data|databases?|records) of(?: the)?(?: ${site})?`,
    String.raw`\bwe (?:have |also )?(?:notified|informed|alerted|contacted)(?: the)?(?: registrar| hosting provider| host)?(?: at| of)?`,
    String.raw`\b(?:thanks to|abuse (?:team|desk|department) (?:of|at)|name ?servers (?:of|at|by)|registered (?:with|through|via|at)|registrar)`,
    String.raw`\b(?:users|customers|clients) (?:should|must|can) (?:only |always |directly )?(?:visit|go to|log ?in (?:at|to|on))`,
    String.raw`\bonly (?:log ?in|sign in) (?:at|to|on)`,
    String.raw`\bcop(?:y|ies|ied|ying) the (?:look|design|layout|appearance|branding) of(?: the)?(?: ${site})?`,
    String.raw`\b(?:passwords?|credentials?|accounts?|logins?|sessions?|cookies) (?:of|for)(?: the)?(?: ${site})?`,
    String.raw`\b(?:users|customers|clients|employees|members|subscribers) (?:of|at)(?: the)?(?: ${site})?`,
    String.raw`\b(?:phishing|fake|spoofed|cloned) (?:login |log-in )?(?:pages?|sites?|forms?) for`,
    String.raw`\b(?:through|via|with|at|from) the registrar`,
    String.raw`\b(?:certificates?|cert) (?:was |were |is )?issued by`,
    String.raw`\b(?:exclude|do not block|don['’]t block|allow-?list|white-?list)`,
    String.raw`\b(?:according to|(?:reported|published|researched) by|(?:report|article|blog|post|write-?up) (?:by|from)|researchers? (?:at|from|of))(?: the)?(?: ${site})?`,
    String.raw`\b(?:check|test|verif)(?:s|ies|ed|ing)?(?: the| its| network| for| online)* internet (?:connection|connectivity|access)(?: with| to| by| via| using| through| against| asking| querying| contacting| pinging)+`,
    String.raw`\b(?:check|test|verif)(?:s|ies|ed|ing)?(?: the| its| network| for)* (?:connection|connectivity)(?: by| via| using| through| against| asking| querying| contacting| pinging)+`,
    String.raw`\b(?:visitor|victim|visitor['’]s|victim['’]s|public|external) (?:ip )?(?:address|location)(?: by| via| with| using| from| through| at| against)+`,
  ].join('|')}) ${listed}`,
]);

const harmlessBehind = new RegExp(
  String.raw`^["'”’)\x60]{0,2}(?:,| -| –| —| \()? ?(?:which )?(?:is |was )?(?:an? |the )?(?:\w+ )?(?:${harmless}|(?<=the )(?:real|actual))\b(?! but)(?!(?: ${site})?(?: is)?[: ]+[\w-]+\.\w)`,
  'i',
);
/** A remark in parentheses or in a later cell of the row: `example.org (legitimate; abused)`, `| example.org | benign |`. */
const remarkBehind =
  /^["'”’`]{0,2} ?\((?:redirect(?:s|ion)? to )?(?:(?:the|an?) )?(?:legitimate|benign|harmless|false positive|not malicious)\b(?![^()\n]{0,40}[\w-]\.\w)([^()\n]{0,80})\)([^.!?\n]{0,60})/i;
const cellBehind =
  /^["'”’`*]{0,3} ?\|(?:[^|\n]{0,40}\|)? ?\**(?:legitimate|benign|harmless|false positive|not malicious)\b([^|\n]{0,80})(?:[|\n]|$)/i;
const bystanderBehind = new RegExp(
  `^["'”’\`)]{0,2}(?:${[
    String.raw`(?:(?:,? and|,) ["“\x60]?[\w-]{1,60}(?:\.[\w-]{1,30}){1,4}["”\x60]?){0,4},? (?:is|are|was|were|itself is) (?:not (?:themselves |itself |in itself )?(?:malicious|stand-?alone|an? (?:ioc|indicator)|(?:iocs|indicators)\b|operated by the attackers?)|(?:the )?infrastructure of (?:the|an?) (?:abused )?(?:legitimate|shared)|part of (?:the|an?) legitimate)`,
    String.raw`(?:(?:,? and|,) ["“\x60]?[\w-]{1,60}(?:\.[\w-]{1,30}){1,4}["”\x60]?){0,4},? belongs? to (?:the |an? |its )?(?:hosting provider|registrar|provider|cdn|content delivery|victim|legitimate)\b`,
    String.raw`, an? (?:[\w-]+ )?(?:search engine|geolocation service|ip[- ](?:lookup|address|geolocation) (?:service|site)|unrelated)\b`,
    String.raw` (?:was|were|has been|had been) (?:breached|defaced|attacked|knocked offline|taken offline)\b(?! and)`,
    String.raw` (?:was|were|has been|had been) (?:added to|listed on|posted (?:on|to)) (?:the|its|their) (?:[\w-]+ ){0,3}(?:leak|extortion|shaming)`,
    String.raw` as (?:a|an|its|their|one of (?:its|their)) (?:latest |new |next |alleged )?victims?\b`,
    String.raw` (?:customers|users|accounts|employees|subscribers|tenants)\b`,
    String.raw` to the hosts file\b`,
  ].join('|')})`,
  'i',
);
const takenOver = /\b(?:compromis|hack(?:ed|s|ing)\b|hijack|infect|inject)/i;
/** Words in the sentence that show that attackers use the host. */
const misused =
  /\b(?:compromis|hack(?:ed|s|ing)\b|hijack|infect|inject|abus|exploit|takeover|tak(?:en|ing|es|e) over|host(?:s|ed|ing)\b|deliver|download|exfiltrat|c2\b|c&c\b|command[- ]and[- ]control)/i;
const reach = 160;

/** Returns whether the words around a host say that attackers imitate it, or that it is a victim's or takes no part, and not that they use it. */
export const isBystander = (text: string, span: Span): boolean =>
  isNamedOriginal(text, span) ||
  hasBystanderCue(text, span.start) ||
  bystanderBehind.test(text.slice(span.end, span.end + reach)) ||
  isCalledHarmless(text, span);

/** Returns whether the words before a host say that attackers imitate it: `(legitimate: example.org)`. */
const isNamedOriginal = (text: string, span: Span): boolean =>
  hasOriginalCue(text, span.start) && !isMisused(text, span, /[.!?;]\s|\n/);

/** Returns whether the words behind a host call it harmless: `example.org, which is benign`. */
function isCalledHarmless(text: string, span: Span): boolean {
  const behind = text.slice(span.end, span.end + reach);
  const [, remark, rest = ''] = remarkBehind.exec(behind) ?? cellBehind.exec(behind) ?? [];
  if (remark !== undefined) return !takenOver.test(`${remark} ${rest}`);
  return harmlessBehind.test(behind) && !isMisused(text, span, /[.!?;,:]\s|\n/);
}

/** Returns whether the sentence around a host says that attackers use it. `start` ends what is before the sentence or clause. */
function isMisused(text: string, span: Span, start: RegExp): boolean {
  const before = text.slice(Math.max(0, span.start - reach), span.start);
  const behind = text.slice(span.end, span.end + reach);
  return misused.test(`${before.split(start).at(-1)!} ${behind.split(/[.!?;](?:\s|$)|\n/, 1)[0]!}`);
}
