import { isGenericName } from '../generic-names.ts';
import { ofRansomware } from './new-name-patterns.ts';
import { isName, isProperNoun, isRegion, nameKey, needsCue } from '../../../reference-data/name-forms.ts';

/** Removes generic words and acronyms at the end: `Foobar Ransomware`, `Foobar CLI`. */
export const trimName = (printed: string): string => {
  const rest = printed.replace(genericEnd, '');
  const [, start, acronym] = / ?(.+) (?!RAT)([A-Z]{2,5})$/.exec(rest) ?? [];
  return start !== undefined && isGenericName(acronym!) ? start : rest;
};
const genericEnd =
  / (?:Ransomware|Malware|Backdoor|Stealer|Infostealer|Loader|Trojan|Botnet|Worm|Wiper|Group|Gang|Team|APT|RaaS|MaaS|C2|IoT|Linux|Windows|Android|macOS|ESXi|JavaScript|PowerShell|Python|Java)$/;

/** Removes a participle, determiner or question word before a distinctive name that a noun follows: `Encrypted Foobar ransomware`, `The Foobar malware`. */
export function trimLead(full: string): string {
  const printed = full.replace(
    /^(?:(?:The|\p{L}+-(?:backed|linked|aligned|nexus|sponsored|speaking|based)) (?=\p{Lu}))+/u,
    '',
  );
  const rest = printed.replace(
    /^(?:\p{Lu}\p{Ll}+(?:ed|ing)|This|New|Novel|Fresh|Stealthy|Sophisticated|Notorious|Infamous|Destructive|Dangerous|Evasive|Updated|Latest|Another|Every|Each|Any|You|Why|How|When|What|Unlike|Like|Via|Install|Deploy|Drop|Use|Download|Deliver|Execute|Detect|Remove|Block) (?=\p{Lu})/u,
    '',
  );
  return isDistinctive(rest) ? rest : printed;
}

/** Returns the words of a headline right before a kind that are no common words: `Analyst Dissects Foobar Stealer`. */
export function trimTitle(printed: string): string {
  const words = trimName(printed.replace(kindEnd, '')).split(' ');
  const start = words.findLastIndex((word) => needsCue(word) || isGenericName(word)) + 1;
  const rest = words.slice(start).join(' ');
  return rest !== '' && kindEnd.test(printed) ? `${rest} RAT` : rest;
}
/** Malware whose operators a text mentions: `the Foobar RAT threat actors`. */
export const kindEnd = / RAT$/;

/** Names of functions, cmdlets, files and campaigns. */
const otherName =
  /^(?:Get|Set|New|Add|Invoke|Remove|Start|Stop|Import|Export|Out|Test|Write|Read|Install)-\p{Lu}|^(?:Get|Set|Nt|Zw|Rtl|Ldr|Virtual|Create|Write|Read|Open|Load|Find|Heap|Crypt|Internet)\p{Lu}\p{Ll}+(?:\p{Lu}|$)|\.(?:exe|dll|dat|sys|hex|ps1|vbs|js|bat|bin|zip|py|sh|net|aspx?|jsp|php|cmd|lnk|hta|msi|so|elf|apk|jar|iso|pdf|docx?|xlsx?|txt|com|org|io|ru|cn|top|xyz)$|^(?:Operation|Campaign) |^0x|^\d{2,}\p{Lu}\p{Ll}|^\d+(?:st|nd|rd|th|bit|g|d|fa|x|k|m|gb|mb|kb|way)$/iu;

/** Companies, agencies and their teams. */
const organization =
  / (?:Labs?|Security|Research|Intelligence|Networks?|Technologies|Technology|Software|Systems|Solutions|Institute|University|Agency|Corporation|Corp|Inc|Ltd|LLC|GmbH|Foundation|Bank|Ministry|Department|Police|Center|Centre|Council|Commission|Media|News|Times|Post|Response)$/;

export const isOrganization = (printed: string): boolean => organization.test(printed);
export const isOtherName = (printed: string, isIntroduced: boolean): boolean =>
  otherName.test(printed) || (printed.includes('_') && !(isIntroduced && /^[A-Z][A-Z\d]+_[A-Z\d]+$/.test(printed)));
export const isUsable = (printed: string, isIntroduced = false): boolean =>
  nameKey(printed).length >= 3 &&
  !organization.test(printed) &&
  isName(printed) &&
  !isGenericName(printed, isIntroduced) &&
  !isOtherName(printed, isIntroduced) &&
  !/^(?:CVE|CWE|T)-?\d|T\d{4}/.test(printed);

export const headlineVerb =
  /^(?:Meet|Inside|Unmasking|Analyzing|Analysing|Dissecting|Introducing|Tracking|Behind|Unpacking|Exposing|Hunting|Beyond|From|Enter|Unveiling|Uncovering|Decoding|Deconstructing) /;

/** A defined name is no plain word: it has an inner capital or a digit, or its words are not common. */
export const isDistinctive = (printed: string): boolean => /\p{Ll}\p{Lu}|\d/u.test(printed) || !needsCue(printed);

/** A common word in capitals, which an acronym of at most four letters is not: `FOOTBALL malware`. */
export const isCapitals = (printed: string): boolean => /^\p{Lu}{5,}$/u.test(printed);
/** Common words with a capital each: `Foo Bar is a threat actor`. */
export const isTitled = (printed: string): boolean => /^\p{Lu}\p{Ll}{2,}(?: \p{Lu}\p{Ll}{2,}){1,2}$/u.test(printed);

/** Returns whether a common word has a capital between `the` and a kind in prose, as only a name has: `uses the Foobar phishing kit`. */
export const isProperInProse = (sentence: string, { printed, start }: { printed: string; start: number }): boolean =>
  /^\p{Lu}\p{Ll}{3,}$/u.test(printed) &&
  !isProperNoun(printed) &&
  !isRegion(printed) &&
  /\p{Ll}{2} the $/u.test(sentence.slice(0, start)) &&
  /^ (?:\p{Ll}+ )?\p{Ll}/u.test(sentence.slice(start + printed.length));

const repeatedMax = 200;

/**
 * Returns a check for several common words that the text twice uses as the name of ransomware: `the Foo Bar ransomware gang`. It answers for
 * the first 200 of them.
 */
export function createRepeatCheck(text: string): (printed: string) => boolean {
  const known = new Map<string, boolean>();
  return (printed) => {
    let isRepeated = known.get(printed);
    if (isRepeated === undefined && known.size < repeatedMax)
      known.set(printed, (isRepeated = isTitled(printed) && countRansomwareUses(text, printed) > 1));
    return isRepeated === true;
  };
}

/** Counts up to two uses of a name for ransomware. */
function countRansomwareUses(text: string, printed: string): number {
  let uses = 0;
  for (let at = text.indexOf(printed); at >= 0 && uses < 2; at = text.indexOf(printed, at + printed.length))
    if (ofRansomware.test(text.slice(at + printed.length, at + printed.length + 40))) uses += 1;
  return uses;
}
