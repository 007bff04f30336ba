import { needsCue } from '../../../reference-data/name-forms.ts';
import { isGenericName } from '../generic-names.ts';
import type { AddName } from './new-name.ts';
import { oneName } from './new-name-patterns.ts';
import { isDistinctive, isTitled, isUsable } from './usable-names.ts';
import { findMatches } from '../../text/find-matches.ts';

/** Verbs of what attackers do, in the past and present. */
const deeds =
  'us(?:es|ed)|deploy(?:s|ed)|exploit(?:s|ed)|compromis(?:es|ed)|breach(?:es|ed)|target(?:s|ed)|attack(?:s|ed)|infiltrat(?:es|ed)|hack(?:s|ed)|st(?:eals|ole)|leak(?:s|ed)|exfiltrat(?:es|ed)|encrypt(?:s|ed)|deliver(?:s|ed)|install(?:s|ed)|abus(?:es|ed)|leverag(?:es|ed)|extort(?:s|ed)|gained|obtained|broke';
const adverb = String.raw`(?:(?:also|then|first|later|now|\p{Ll}+ly) )?`;
const quotedName = String.raw`["“‘]?(${oneName})["”’]?`;

/** `The actor Foobar used`, `the actor Foo Bar, who`. */
const actor = new RegExp(
  String.raw`\b[Tt]he (?:[\p{Ll}-]+ ){0,2}(?:actor|adversary|intruder) ${quotedName}(?=,? (?:(?:has|have|had) )?${adverb}(?:${deeds})\b|, (?:which|who)\b| \((?:aka|also|formerly)\b|,? also known)`,
  'gu',
);

/** `Run by the actor Foobar`. */
const agent = new RegExp(
  String.raw`\bby (?:the|an?) (?:[\p{Ll}-]+ ){0,2}(?:actor|adversary|group|gang|crew|collective) ${quotedName}(?=[,.;]|$| (?:since|in|to|for|against|and)\b)`,
  'gu',
);

const number =
  '(?:at least |more than |over |nearly |almost |about |around |up to )?(?:\\d[\\d,.]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|multiple|many|numerous|various|(?:dozens|hundreds|scores|thousands) of)';
const victims = String.raw`(?:[\p{L}\d’'.-]+ ){0,4}?(?:companies|organi[sz]ations|firms|banks|hospitals|agencies|ministries|universities|schools|municipalities|cities|utilities|providers|operators|institutions|manufacturers|retailers|entities|networks|victims|governments|airlines|airports|insurers|exchanges|contractors|businesses|vendors|suppliers)\b`;
const loot = String.raw`(?=[^.;]{0,100}\b(?:stole|stealing|leaked|leaking|exfiltrated|exfiltrating|encrypted|encrypting|extorted|extorting|siphoned|wiped|wiping)\b)`;
/** `Foobar compromised two energy companies`, `In May, Foo Bar attacked several banks and stole data`. */
const intruder = new RegExp(
  String.raw`^\W*(?:(?:In|Since|On|During|Over|Between|Last|Earlier|Recently|According)\b[^,]{0,50}, )?${quotedName} (?:(?:has|have|had) )?${adverb}(?:(?:compromised|breached|infiltrated|hacked|hacked into|broke into) ${number} ${victims}|(?:compromised|breached|infiltrated|hacked|hacked into|broke into|attacked|hit|struck|targeted) (?:an? |the |one |${number} )[^.;]{0,80}?${loot})`,
  'gu',
);

/** `Foo Bar exploits CVE-2026-1234 to drop a backdoor`, whose words are common, unlike those of most people and companies. */
const titled = new RegExp(
  String.raw`^\W*(\p{Lu}\p{Ll}{2,} \p{Lu}\p{Ll}+(?<!s)) (?:(?:has|have) )?${adverb}(?:exploit(?:s|ed)|deploy(?:s|ed)|compromis(?:es|ed)|infiltrat(?:es|ed)|attack(?:s|ed)|target(?:s|ed)|infect(?:s|ed)|drop(?:s|ped)|deliver(?:s|ed)) (?=[^.;]*(?:\bCVE-\d|\b(?:backdoor|malware|trojan|ransomware|stealer|loader|implant|web shell|wiper|spyware)s?\b|RAT\b))`,
  'gu',
);

const toolsInHeadline =
  '(?:Malware|Backdoor|Trojan|RAT|Loader|Stealer|Infostealer|Spyware|Ransomware|Wiper|Implant|Rootkit|Botnet|Web Shell|Toolset|Toolkit|Phishing|Spear-Phishing|Zero-Day)s?\\b';
/** `Foobar Targets Banks With New Backdoors`, `Iran-Linked Foo Bar Uses Bazbar to Spy on Officials`. */
const headline = new RegExp(
  String.raw`^\W*(?:\p{Lu}[\p{L} ]{1,20}-(?:[Ll]inked|[Bb]acked|[Aa]ligned|[Nn]exus|[Ss]ponsored|[Ss]peaking|[Aa]ffiliated) )?(?:(?:(?:Hacking|Espionage|Threat|Cyberespionage|Spy) )?(?:Group|Gang|Actor|APT|Crew) )?(${oneName}) (?:(?:Targets|Attacks|Hits|Strikes|Breaches|Compromises|Infiltrates|Spies [Oo]n) \p{Lu}[^.;:]* (?:[Ww]ith|[Uu]sing|[Vv]ia) [^.;:]*?${toolsInHeadline}|(?:Uses|Deploys|Delivers|Spreads|Unleashes|Drops|Leverages) \p{Lu}[^.;:]* (?:${toolsInHeadline}|to (?:Spy|Steal|Infect|Breach)|(?:[Aa]gainst|in Attacks) ))`,
  'gu',
);
/** The last word of what a headline reports instead of an actor: `Fake App Targets`. */
const ofHeadline =
  /(?:^|[ -])(?:Attacks?|Campaign|Scam|Wave|Operation|Malware|Ransomware|Spyware|Kit|Service|Site|Apps?|Application|Package|Extension|Ads?|Email|Flaw|Bug|Exploit|Vulnerability|Day|Platform|Tool|Toolkit|Chain|Lure|Scheme|Spree|Threat|Firm|Company|Government|Ministry|Police|Framework|Variant|Version|Update|Installer|Module|Plugin|Page|Phishing|AI|Model)$|(?:RAT|Bot|Loader|Stealer|Locker|Spy|Worm|Door|Shell|Wiper|Trojan|Drop(?:per)?|Miner|Backdoor|Botnet)$/;

const incident = '(?:attacks?|campaigns?|intrusions?|activity|operations?|espionage|compromises?)';
/** `Foobar claimed responsibility`, `Foobar listed the hospital on its leak site`. */
const claimant = new RegExp(
  String.raw`^\W*(?:(?:In|Since|On|During|Over|Last|Earlier|Recently|According)\b[^,]{0,50}, )?${quotedName}(?:, which [^,.;]{3,60},)? (?:(?:has|have|had) )?${adverb}(?:(?:claimed|claims) (?:responsibility|credit|the attack|to have (?:stolen|breached|hacked))|took (?:credit|responsibility)|(?:listed|added|posted|named) [^.;]{3,80} (?:on|to) (?:its|their) (?:[\p{L}-]+ ){0,2}(?:leak|leaks|extortion|dark web|darknet|Tor|onion|shaming) (?:site|blog|portal|page)\b)`,
  'gu',
);
/** `The attack was the work of Foobar`, `attributed the campaign to FoobarWolf`. States and cities have no inner capital. */
const perpetrator = new RegExp(
  String.raw`\b(?:${incident} (?:[\p{L}-]+ ){0,3}(?:is|was|were|are) (?:[\p{L}-]+ )?the work of|[Rr]esponsibility (?:[\p{L}-]+ ){0,4}was claimed by|(?:attribut(?:es|ed|ing) (?:[\p{L}\d’'-]+ ){0,4}${incident}(?: [\p{L}\d-]+){0,3}? to|${incident} (?:[\p{L}-]+ ){0,3}(?:is|was|were|are) (?:[\p{L}-]+ )?attributed (?:with [\p{L}-]+ confidence )?to)(?= ["“‘]?(?:\p{Lu}\p{Ll}+\p{Lu}|\p{Lu}[\p{L}-]*\d))) ${quotedName}(?=[,.;]|$| (?:with|and|by|based|because|in)\b| \()`,
  'gu',
);

/** `needs` is part of every match and saves the search in most sentences. `isOfAttack`: every match mentions an attack. */
const patterns: { pattern: RegExp; needs: RegExp; isStated: boolean; isOfAttack?: boolean; isHeadline?: boolean }[] = [
  { pattern: actor, needs: / (?:actor|adversary|intruder) /, isStated: true },
  {
    pattern: titled,
    needs: / (?:exploit|deploy|compromis|infiltrat|attack|target|infect|drop|deliver)/,
    isStated: false,
    isHeadline: true,
  },
  { pattern: agent, needs: / by (?:the|an?) /, isStated: true },
  {
    pattern: intruder,
    needs: / (?:compromised|breached|infiltrated|hacked|broke|attacked|hit|struck|targeted) /,
    isStated: false,
  },
  {
    pattern: claimant,
    needs:
      / (?:claim(?:s|ed) (?:responsib|credit|the attack|to have)|took (?:credit|resp)|(?:listed|added|posted|named) )/,
    isStated: false,
  },
  {
    pattern: headline,
    needs:
      / (?:Targets|Attacks|Hits|Strikes|Breaches|Compromises|Infiltrates|Spies|Uses|Deploys|Delivers|Spreads|Unleashes|Drops|Leverages) /,
    isStated: false,
    isHeadline: true,
  },
  { pattern: perpetrator, needs: /attribut|the work of|was claimed by /, isStated: false, isOfAttack: true },
];

/** Shows that `the actor` is no performer, and that nobody claimed responsibility for an outage. */
const ofAttacks =
  /\b(?:against|attack\w*|malware|backdoor\w*|ransom\w*|phish\w*|exploit\w*|credential\w*|victims?|servers?|networks?|breach\w*|compromis\w*|payloads?|implants?|loaders?|web ?shells?|stole|stolen|intrusions?|espionage|lateral\w*|CVE-\d|C2|VPN|hosts?|domains?|infrastructure|tools?)\b/i;

/** Adds the actors that a sentence names only by what they did: `the actor Foobar used`, `Foobar compromised two banks and stole data`. */
export function readDeeds({ sentence, start }: { sentence: string; start: number }, add: AddName): void {
  for (const { pattern, needs, isStated, isOfAttack, isHeadline } of patterns)
    for (const match of needs.test(sentence) ? findMatches(pattern, sentence) : []) {
      const printed = match[1]!;
      const isName = isHeadline
        ? !ofHeadline.test(printed) &&
          (isAlias(printed) || (isTitled(printed) && !isGenericName(printed.split(' ')[0]!)))
        : isAlias(printed) && (isOfAttack || ofAttacks.test(sentence));
      if (isUsable(printed) && isName)
        add('actor', printed, start + match.index + match[0].indexOf(printed), { isStated });
    }
}

/** Excludes people and companies: of several words, all are common ones, unless one has an inner capital or a digit. */
const isAlias = (printed: string): boolean =>
  printed.includes(' ')
    ? /\p{Ll}\p{Lu}|\d/u.test(printed) ||
      (isTitled(printed) && needsCue(printed) && !isGenericName(printed.split(' ')[0]!))
    : isDistinctive(printed);

/** Returns whether capitalized common words stand before attackers or what they did: `the Foo Bar gang`, `the Foo Bar group leaked`. */
export const isNamedGroup = (sentence: string, { printed, start }: { printed: string; start: number }): boolean =>
  isTitled(printed) &&
  !isGenericName(printed.split(' ')[0]!) &&
  /(?:^|\W)[Tt]he ["“‘]?$/u.test(sentence.slice(Math.max(0, start - 12), start)) &&
  ofAttackers.test(sentence.slice(start + printed.length, start + printed.length + 60));
const ofAttackers = new RegExp(
  String.raw`^["”’]? (?:gang|hackers|(?:hacking|hacker|ransomware|extortion|threat|espionage|cybercrime) (?:groups?|gangs?|crews?|actors?)|group (?:(?:has|have|had) )?(?:\p{Ll}+ly |then |also )?(?:${deeds})\b)`,
  'u',
);
