import type { Span } from '../../text/stored-text.ts';
import { createWordsBefore } from '../../text/find-matches.ts';

const site = String.raw`(?:web ?sites?|sites?|domains?|pages?|portals?|homepages?|address(?:es)?|urls?|hosts?|hostnames?|senders?)`;
const harmless = String.raw`(?:legitimate|legit|official|genuine|authentic|benign)`;
/** Words between a cue and the value: `the official website of the bank (`. */
const between = String.raw`(?:[ ,:("'“„«]{1,3}(?!(?:that|which|by|to|and|from|with)\b)[\p{L}’'-]{1,20}){0,4}`;
/** Up to three marks, or a colon and the start of a code block. */
const opened = String.raw`(?:[ :,("'“„«\x60]{1,3}|:\s{0,4}(?:\x60{3}\w{0,8}\s{1,4})?)`;
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
  ].join('|')})${opened}`,
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
