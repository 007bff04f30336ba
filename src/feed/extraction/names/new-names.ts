import { isName, nameKey, needsCue } from '../../reference-data/name-forms.ts';
import type { Span } from '../text/stored-text.ts';
import { isGenericName } from './generic-names.ts';
import { findBulletLists, findLists, findListsBefore, readItems, type NameList } from './new-name-lists.ts';
import {
  actorNoun,
  beforeActor,
  beforeMalware,
  crews,
  defined,
  definedMalware,
  introductions,
  malwareNoun,
  otherNoun,
  partNoun,
  quotedAfterActor,
  quotedAfterMalware,
  quotedMalware,
  ratNames,
  matchSchemes,
  ofRansomware,
  variantOf,
  withDesignations,
} from './new-name-patterns.ts';

/** A name that a text introduces, whether or not a list has it. `isStated`: the text says what it is, rather than only using it beside a noun. */
export type NewName = { kind: 'actor' | 'malware'; name: string; span: Span; isStated: boolean };

const reachBefore = 110;
const reachAfter = 30;
/** How far the noun may be for what a name of an earlier sentence is: `They called it Foobar.` */
const reachEarlier = 260;
const namesMax = 200;

/** Words of which one stands in every introduction, and nouns of which one stands beside every other new name. */
const introducingWord =
  /\b(?:dubbed|code-?named|nicknamed|christened|a\.k\.a|aka|track(?:s|ed|ing)?|known|refer(?:s|red)?|identif(?:y|ies|ied|ying)|designated|label+ed|monitored|operat(?:es|ed|ing)|posing|going|goes|call(?:s|ed|ing)?|name[sd]?|attribut(?:e|ed|es)|(?:group|gang|actor|set|cluster|collective|persona|backdoor|trojan|loader|stealer|infostealer|downloader|dropper|ransomware|spyware|botnet|implant|wiper|rootkit|worm|rat|families)s?)\b/i;
const kindNoun = new RegExp(
  String.raw`\b(?:${malwareNoun}|${definedMalware}|${actorNoun}|families|strains|variant|collectives|crews|sets|operations|formerly|affiliates|unit|advanced persistent threat)s?\b|\b(?:aka|a\.k\.a|tracked)\b`,
  'i',
);
// No end after `a.k.a.`.
const sentenceEnd = /(?<!\.[a-z])[.!?]["”’)]?\s|\n/g;

/** Returns the names that a text introduces by cue, in text order. */
export function findNewNames(text: string): NewName[] {
  const found: NewName[] = [];
  // Lists and logs repeat sentences. One without a candidate has none where it is repeated.
  const barren = new Set<string>();
  const isRepeated = createRepeatCheck(text);
  let candidates = 0;
  const add: AddName = (kind, printed, start, isStated = true) => {
    candidates += 1;
    if (kind && found.length < namesMax)
      found.push({ kind, name: printed, span: { start, end: start + printed.length }, isStated });
  };
  let start = 0;
  const read = (end: number): void => {
    const sentence = text.slice(start, end);
    if (found.length < namesMax && !barren.has(sentence)) {
      const before = candidates;
      if (introducingWord.test(sentence)) readIntroductions(text, { sentence, start }, add);
      if (kindNoun.test(sentence)) readKinds({ sentence, start, isRepeated }, add);
      if (candidates === before) barren.add(sentence);
    }
    start = end;
  };
  for (const { index, 0: mark } of text.matchAll(sentenceEnd)) read(index + mark.length);
  read(text.length);
  readLists(findBulletLists(text).filter(isMostlyNames), 0, add);
  for (const match of matchSchemes(text)) add('actor', match[0], match.index);
  return found;
}

type AddName = (kind: NewName['kind'] | undefined, printed: string, start: number, isStated?: boolean) => void;
type TextPart = { sentence: string; start: number };

const isNaming = /^(?:dubbed|code-?named|nicknamed|tracked|known)\b/i;

function readIntroductions(text: string, { sentence, start: offset }: TextPart, add: AddName): void {
  for (const pattern of introductions)
    for (const match of sentence.matchAll(pattern)) {
      const printed = trimName(match[1]!);
      const at = offset + match.index;
      const start = at + match[0].lastIndexOf(match[1]!);
      if (!isUsable(printed, isNaming.test(match[0]))) continue;
      const isPart =
        /\p{Ll}\p{Lu}|\d|^\p{Lu}{6,}$/u.test(printed) && partNoun.test(text.slice(Math.max(0, at - 60), start));
      const kind = isPart ? 'malware' : guessKindAround(text, { at, end: start + printed.length, cue: match[0] });
      add(kind, printed, start);
      addFurther(sentence, { from: start - offset + match[1]!.length, offset, kind }, add);
    }
}

const furtherNames = /^["”’']?,? (?:and |or )?(?=["“‘']?[\p{Lu}\d])/u;
/** Adds the names that continue a list after an introduced one: `dubbed Foobar, Barfoo and Bazbar`. */
function addFurther(
  sentence: string,
  { from, offset, kind }: { from: number; offset: number; kind: NewName['kind'] | undefined },
  add: AddName,
): void {
  const gap = furtherNames.exec(sentence.slice(from));
  if (!gap) return;
  const { items } = readItems(sentence, from + gap[0].length);
  const last = items.at(-1);
  if (!last || !/(?:^["”’']?,? (?:and|or) )|(?: and | or )/.test(sentence.slice(from, last.start))) return;
  for (const { printed: full, start } of items) {
    const printed = trimName(full);
    if (isUsable(printed, true) && isDistinctive(printed)) add(kind, printed, offset + start);
  }
}

/** The title of a network detection rule: `ET MALWARE Foobar Loader Activity`. */
const detectionRule = /\bET(?:PRO)? (?:[A-Z]{3,}_?)+ /;

/** Reads the names that stand beside the noun for what they are. */
function readKinds(
  { sentence, start: offset, isRepeated }: TextPart & { isRepeated: (printed: string) => boolean },
  add: AddName,
): void {
  if (detectionRule.test(sentence)) return;
  const hasQuote = /["“‘']/.test(sentence);
  for (const [kind, pattern, isPossible] of [
    ['malware', beforeMalware, true],
    ['malware', quotedMalware, hasQuote],
    ['malware', variantOf, true],
    ['malware', ratNames, sentence.includes(' RAT')],
    ['actor', beforeActor, true],
  ] as const)
    for (const match of isPossible ? sentence.matchAll(pattern) : []) {
      const isTitle =
        pattern === ratNames ||
        /^["”’']?,? \p{Lu}/u.test(match[0].slice(match[0].indexOf(match[1]!) + match[1]!.length));
      const printed = isTitle ? trimTitle(match[1]!) : trimLead(trimName(match[1]!));
      if (printed === '') continue;
      const start = match.index + match[0].lastIndexOf(printed);
      // A common word before a kind describes it (`Custom loader`), unless it stands in quotes.
      const isQuoted = /["“‘']/.test(match[0].slice(0, match[0].indexOf(match[1]!)));
      if (kind === 'actor' && kindEnd.test(printed)) continue;
      if (isUsable(printed) && (isQuoted || !needsCue(printed) || isRepeated(printed)))
        add(kind, printed, offset + start, false);
    }
  for (const [kind, pattern] of [
    ['malware', quotedAfterMalware],
    ['actor', quotedAfterActor],
  ] as const)
    for (const match of hasQuote ? sentence.matchAll(pattern) : []) {
      const printed = trimName(match[1]!);
      if (isUsable(printed, true)) add(kind, printed, offset + match.index + match[0].lastIndexOf(match[1]!));
    }
  for (const { kind, pattern, needs } of defined) {
    if (needs && !needs.test(sentence)) continue;
    for (const match of sentence.matchAll(pattern)) {
      const full = pattern === crews ? match[1]! : trimName(match[1]!);
      const printed = trimLead(full.replace(headlineVerb, ''));
      const start = match.index + match[0].indexOf(match[1]!) + full.length - printed.length;
      if (isUsable(printed) && (pattern === withDesignations || isDistinctive(printed)))
        add(match[2] ? 'actor' : kind, printed, offset + start);
    }
  }
  readLists(findLists(sentence), offset, add);
  readLists(findListsBefore(sentence), offset, add);
}

const capitalizedWords = /^\p{Lu}\p{Ll}{2,}(?: \p{Lu}\p{Ll}{2,}){1,2}$/u;
const repeatedMax = 200;

/**
 * Returns a check for several common words that the text twice uses as the name of ransomware: `the Foo Bar ransomware gang`. It answers for
 * the first 200 of them.
 */
function createRepeatCheck(text: string): (printed: string) => boolean {
  const known = new Map<string, boolean>();
  return (printed) => {
    if (!capitalizedWords.test(printed)) return false;
    let isRepeated = known.get(printed);
    if (isRepeated === undefined && known.size < repeatedMax)
      known.set(printed, (isRepeated = countRansomwareUses(text, printed) > 1));
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

/** Checks whether most lines below a heading look like names, unlike those of a table. */
const isMostlyNames = ({ items }: NameList): boolean =>
  2 * items.filter(({ printed }) => isUsable(trimName(printed)) && isDistinctive(trimName(printed))).length >
  items.length;

function readLists(lists: NameList[], offset: number, add: AddName): void {
  for (const { kind, items, isSingle } of lists) {
    // A common word counts as a name only in a list that also has a distinctive name.
    if (!isUsable(trimName(items[0]!.printed), true) || !items.some(({ printed }) => isDistinctive(trimName(printed))))
      continue;
    for (const { printed: full, start } of items) {
      const printed = trimName(full);
      if (isUsable(printed, !isSingle)) add(kind, printed, offset + start);
    }
  }
}

/** Removes generic words and acronyms at the end: `Foobar Ransomware`, `Foobar CLI`. */
const trimName = (printed: string): string => {
  const rest = printed.replace(genericEnd, '');
  const [, start, acronym] = / ?(.+) (?!RAT)([A-Z]{2,5})$/.exec(rest) ?? [];
  return start !== undefined && isGenericName(acronym!) ? start : rest;
};
const genericEnd =
  / (?:Ransomware|Malware|Backdoor|Stealer|Infostealer|Loader|Trojan|Botnet|Worm|Wiper|Group|Gang|Team|APT|RaaS|MaaS|C2|IoT|Linux|Windows|Android|macOS|ESXi)$/;

/** Removes a participle, determiner or question word before a distinctive name that a noun follows: `Encrypted Foobar ransomware`, `The Foobar malware`. */
function trimLead(full: string): string {
  const printed = full.replace(/^The (?=\p{Lu})/u, '');
  const rest = printed.replace(
    /^(?:\p{Lu}\p{Ll}+(?:ed|ing)|This|New|Another|Every|Each|Any|You|Why|How|When|What|Unlike|Like|Via) (?=\p{Lu})/u,
    '',
  );
  return isDistinctive(rest) ? rest : printed;
}

/** Returns the words of a headline right before a kind that are no common words: `Analyst Dissects Foobar Stealer`. */
function trimTitle(printed: string): string {
  const words = trimName(printed.replace(kindEnd, '')).split(' ');
  const start = words.findLastIndex((word) => needsCue(word) || isGenericName(word)) + 1;
  const rest = words.slice(start).join(' ');
  return rest !== '' && kindEnd.test(printed) ? `${rest} RAT` : rest;
}
/** Malware whose operators a text mentions: `the Foobar RAT threat actors`. */
const kindEnd = / RAT$/;

/** Names of functions, cmdlets, files and campaigns. */
const otherName =
  /^(?:Get|Set|New|Add|Invoke|Remove|Start|Stop|Import|Export|Out|Test|Write|Read|Install)-\p{Lu}|^(?:Get|Set|Nt|Zw|Rtl|Ldr|Virtual|Create|Write|Read|Open|Load|Find|Heap|Crypt|Internet)\p{Lu}\p{Ll}+(?:\p{Lu}|$)|\.(?:exe|dll|dat|sys|hex|ps1|vbs|js|bat|bin|zip|py|sh|net|aspx?|jsp|php|cmd|lnk|hta|msi|so|elf|apk|jar|iso|pdf|docx?|xlsx?|txt|com|org|io|ru|cn|top|xyz)$|^(?:Operation|Campaign) |^0x|^\d{2,}\p{Lu}\p{Ll}|^\d+(?:st|nd|rd|th|bit|g|d|fa|x|k|m|gb|mb|kb|way)$/iu;

/** Companies, agencies and their teams. */
const organization =
  / (?:Labs?|Security|Research|Intelligence|Networks?|Technologies|Technology|Software|Systems|Solutions|Institute|University|Agency|Corporation|Corp|Inc|Ltd|LLC|GmbH|Foundation|Bank|Ministry|Department|Police|Center|Centre|Council|Commission|Media|News|Times|Post|Response)$/;

const isOtherName = (printed: string, isIntroduced: boolean): boolean =>
  otherName.test(printed) || (printed.includes('_') && !(isIntroduced && /^[A-Z][A-Z\d]+_[A-Z\d]+$/.test(printed)));
const isUsable = (printed: string, isIntroduced = false): boolean =>
  nameKey(printed).length >= 3 &&
  !organization.test(printed) &&
  isName(printed) &&
  !isGenericName(printed, isIntroduced) &&
  !isOtherName(printed, isIntroduced) &&
  !/^(?:CVE|CWE|T)-?\d|T\d{4}/.test(printed);

const headlineVerb =
  /^(?:Meet|Inside|Unmasking|Analyzing|Analysing|Dissecting|Introducing|Tracking|Behind|Unpacking|Exposing|Hunting|Beyond|From|Enter|Unveiling|Uncovering|Decoding|Deconstructing) /;

/** A defined name is no plain word: it has an inner capital or a digit, or its words are not common. */
const isDistinctive = (printed: string): boolean => /\p{Ll}\p{Lu}|\d/u.test(printed) || !needsCue(printed);

/** Matches the last end of a sentence. The periods of `a.k.a.` do not end one. */
const lastSentence = /(?<!\ba\.k\.a)\. (?!.*(?<!\ba\.k\.a)\. )/s;
const nouns = new RegExp(
  String.raw`\b(?:(${malwareNoun})|(${actorNoun})|((?<!ransomware |as-a-)(?:${otherNoun})))s?\b`,
  'gi',
);
/** How near a noun for something else must be to an introduction to be what has the name: `a campaign dubbed Foobar`. */
const reachOther = 20;

/**
 * Returns what the noun nearest to an introduction calls the name: malware or an actor. Without such a noun in the sentence, `it` is
 * what the sentence before is about. Undefined if it is something else.
 */
function guessKindAround(
  text: string,
  { at, end, cue }: { at: number; end: number; cue: string },
): NewName['kind'] | undefined {
  const after = /^[^.!?\n]*/.exec(text.slice(end, end + reachBefore))![0];
  const first = [...after.matchAll(nouns)].find((noun) => !noun[3]);
  if (first && first.index <= 3) return kindOf(first);
  const before = text.slice(Math.max(0, at - reachBefore), end);
  const sentence = before.slice(Math.max(before.search(lastSentence), before.lastIndexOf('\n')) + 1);
  const all = [...sentence.matchAll(nouns)];
  const last = all.at(-1);
  if (last?.[3] && sentence.length - last.index - last[0].length <= end - at + reachOther) return undefined;
  // `Tracked as Foobar, the group …`
  const isOpening = sentence.length <= end - at;
  const known =
    all.findLast((noun) => !noun[3]) ?? (isOpening || (first && first.index < reachAfter) ? first : undefined);
  if (known) return kindOf(known);
  if (!/\b(?:it|them|been (?:named|called|christened)) ["“‘']?/i.test(cue)) return undefined;
  const earlier = text.slice(Math.max(0, at - reachEarlier), at);
  const noun = [...earlier.matchAll(nouns)].findLast((one) => !one[3]);
  return noun && kindOf(noun);
}

const kindOf = (noun: RegExpMatchArray): NewName['kind'] => (noun[1] ? 'malware' : 'actor');
