import { needsCue } from '../../../reference-data/name-forms.ts';
import { compactText } from '../../text/compact-text.ts';
import { isNamedGroup, readDeeds } from './actor-deeds.ts';
import { readDetections, readBehavior } from './malware-names.ts';
import { readForeignNames } from './foreign-names.ts';
import type { AddName, NewName } from './new-name.ts';
import { findBulletLists, findLists, findListsBefore, readItems, isMostlyNames, readLists } from './new-name-lists.ts';
import {
  actorNoun,
  appositions,
  attackersTools,
  beforeActor,
  beforeMalware,
  crews,
  defined,
  definedMalware,
  deployedTools,
  introductions,
  malwareNoun,
  otherNoun,
  partNoun,
  quotedAfterActor,
  quotedAfterMalware,
  quotedMalware,
  ratNames,
  matchSuffixed,
  matchSchemes,
  phishingKits,
  variantOf,
  withDesignations,
  afterActorInHeadline,
  afterKind,
  afterKindInHeadline,
  bracketedMalware,
  versionOf,
} from './new-name-patterns.ts';
import {
  createRepeatCheck,
  headlineVerb,
  isCapitals,
  isDistinctive,
  isProperInProse,
  isTitled,
  isUsable,
  kindEnd,
  trimLead,
  trimName,
  trimTitle,
} from './usable-names.ts';
import { readTools } from './tool-names.ts';
import { findMatches } from '../../text/find-matches.ts';

const reachBefore = 110;
const reachAfter = 30;
/** How far the noun may be for what a name of an earlier sentence is: `They called it Foobar.` */
const reachEarlier = 260;
const namesMax = 200;

/** Words of which one stands in every introduction, and nouns of which one stands beside every other new name. */
const introducingWord =
  /\b(?:dubbed|code-?named|nicknamed|christened|a\.k\.a|aka|track(?:s|ed|ing)?|known|refer(?:s|red)?|identif(?:y|ies|ied|ying)|designated|label+ed|monitored|operat(?:es|ed|ing)|posing|going|goes|under the|call(?:s|ed|ing)?|name[sd]?|attribut(?:e|ed|es)|(?:group|gang|actor|set|cluster|collective|persona|backdoor|trojan|loader|stealer|infostealer|downloader|dropper|ransomware|spyware|botnet|implant|wiper|rootkit|worm|rat|families)s?)\b/i;
const kindNoun = new RegExp(
  String.raw`\b(?:${malwareNoun}|${definedMalware}|${actorNoun}|families|strains|variant|collectives|crews|sets|operations|formerly|affiliates|unit|payload|arsenal|toolset|advanced persistent threat)s?\b|\b(?:aka|a\.k\.a|tracked)\b|\b(?:tool|utility|program|script|component) (?:called|named|dubbed|known as)\b`,
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
  const add: AddName = (kind, printed, start, { isStated = true, isCommon = false, isScheme = false } = {}) => {
    candidates += 1;
    if (kind && found.length < namesMax)
      found.push({ kind, name: printed, span: { start, end: start + printed.length }, isStated, isCommon, isScheme });
  };
  let start = 0;
  const read = (end: number): void => {
    const sentence = compactText(text.slice(start, end));
    if (found.length < namesMax && !barren.has(sentence)) {
      const before = candidates;
      if (introducingWord.test(sentence)) readIntroductions(text, { sentence, start }, add);
      if (kindNoun.test(sentence)) readKinds({ sentence, start, isRepeated }, add);
      if (sentence.includes('/') || sentence.includes('.')) readDetections({ sentence, start }, add);
      readTools({ sentence, start }, add);
      readBehavior({ sentence, start }, add);
      readDeeds({ sentence, start }, add);
      if (candidates === before) barren.add(sentence);
    }
    start = end;
  };
  for (const { index, 0: mark } of findMatches(sentenceEnd, text)) read(index + mark.length);
  read(text.length);
  readLists(findBulletLists(text).filter(isMostlyNames), 0, add);
  readForeignNames(text, add);
  for (const match of matchSchemes(text)) add('actor', match[0], match.index, { isScheme: true });
  for (const match of matchSuffixed(text)) add('malware', match[0], match.index, { isStated: false });
  return found;
}

type TextPart = { sentence: string; start: number };
type CheckedPart = TextPart & { isRepeated: (printed: string) => boolean };

/** A determiner in prose. All capitalized words after it belong to the name, unlike those in a headline. */
const afterDeterminer = /\p{Ll}{2} (?:the|its|their) $/u;
const isOfAliases = /^(?:known|aka|a\.k\.a|tracked|referred)/i;
const isNaming = /^(?:dubbed|code-?named|nicknamed|tracked|known)\b/i;

function readIntroductions(text: string, { sentence, start: offset }: TextPart, add: AddName): void {
  for (const pattern of introductions)
    for (const match of findMatches(pattern, sentence)) {
      const printed = trimName(match[1]!);
      const at = offset + match.index;
      const start = at + match[0].lastIndexOf(match[1]!);
      if (!isUsable(printed, isNaming.test(match[0])) || isReporter(sentence, match)) continue;
      const isPart =
        /\p{Ll}\p{Lu}|\d|^\p{Lu}{6,}$/u.test(printed) && partNoun.test(text.slice(Math.max(0, at - 60), start));
      const last = readItems(sentence, start - offset).items.at(-1);
      const end = Math.max(start + printed.length, last ? offset + last.start + last.printed.length : 0);
      const kind = isPart ? 'malware' : guessKindAround(text, { at, end, cue: match[0] });
      add(kind, printed, start);
      const isAlias = isOfAliases.test(match[0]);
      addFurther(sentence, { from: start - offset + match[1]!.length, offset, kind, isAlias }, add);
    }
}

/** Returns whether a publisher stands after the noun instead of a name: `the group Foobar Labs calls Barfoo`. */
const isReporter = (sentence: string, { 0: lead, index }: RegExpMatchArray): boolean =>
  /^(?:the|an?) /i.test(lead) &&
  /^ (?:calls?|tracks?|names?|dubs?|describes?|described|refers to|has (?:named|called|dubbed|tracked))\b/.test(
    sentence.slice(index! + lead.length),
  );

const furtherNames = /^["”’']?,? (?:and |or )?(?=["“‘']?[\p{Lu}\d])/u;
/** Adds the names that continue a list after an introduced one: `dubbed Foobar, Barfoo and Bazbar`. Aliases may be common words. */
function addFurther(
  sentence: string,
  {
    from,
    offset,
    kind,
    isAlias,
  }: { from: number; offset: number; kind: NewName['kind'] | undefined; isAlias: boolean },
  add: AddName,
): void {
  const gap = furtherNames.exec(sentence.slice(from));
  if (!gap) return;
  const { items } = readItems(sentence, from + gap[0].length);
  const last = items.at(-1);
  if (!last || !/(?:^["”’']?,? (?:and|or) )|(?: and | or )/.test(sentence.slice(from, last.start))) return;
  for (const { printed: full, start } of items) {
    const printed = trimName(full);
    if (isUsable(printed, true) && (isDistinctive(printed) || (isAlias && isTitled(printed))))
      add(kind, printed, offset + start);
  }
}

/** The title of a network detection rule: `ET MALWARE Foobar Loader Activity`. */
const detectionRule = /\bET(?:PRO)? (?:[A-Z]{3,}_?)+ /;

/** Reads the names that stand beside the noun for what they are. */
function readKinds(part: CheckedPart, add: AddName): void {
  const { sentence, start: offset } = part;
  if (detectionRule.test(sentence)) return;
  readBesideKinds(part, add);
  readQuotedAfterKinds(part, add);
  readDefined(part, add);
  readLists(findLists(sentence), offset, add);
  readLists(findListsBefore(sentence), offset, add);
}

function readBesideKinds({ sentence, start: offset, isRepeated }: CheckedPart, add: AddName): void {
  const hasQuote = quotes.test(sentence);
  const hasSmallLetters = /\p{Ll}{3} \p{Ll}{2}/u.test(sentence);
  for (const [kind, pattern, isPossible] of [
    ['malware', beforeMalware, true],
    ['malware', quotedMalware, hasQuote],
    ['malware', variantOf, true],
    ['malware', versionOf, sentence.includes('version of ')],
    ['malware', afterKind, true],
    ['malware', afterKindInHeadline, sentence.includes('New ')],
    ['actor', afterActorInHeadline, sentence.includes('New ')],
    ['malware', bracketedMalware, sentence.includes(' (')],
    ['malware', ratNames, sentence.includes(' RAT')],
    ['actor', beforeActor, true],
  ] as const)
    for (const match of isPossible ? findMatches(pattern, sentence) : []) {
      const [whole, group] = [match[0], match[1]!];
      const groupStart = whole.indexOf(group);
      const isTitle = pattern === ratNames || /^["”’']?,? \p{Lu}/u.test(whole.slice(groupStart + group.length));
      const isInProse = isTitle && afterDeterminer.test(sentence.slice(0, match.index));
      const printed = isTitle && !isInProse ? trimTitle(group) : trimLead(trimName(group));
      if (printed === '' || (kind === 'actor' && kindEnd.test(printed))) continue;
      const start = match.index + whole.lastIndexOf(printed);
      // A common word before a kind describes it (`Custom loader`), unless it stands in quotes.
      const isName =
        quotes.test(whole.slice(0, groupStart)) ||
        (isInProse && kindEnd.test(printed)) ||
        !needsCue(printed) ||
        isRepeated(printed) ||
        (isCapitals(printed) && hasSmallLetters) ||
        (kind === 'malware' && isProperInProse(sentence, { printed, start })) ||
        (pattern === beforeActor && isNamedGroup(sentence, { printed, start }));
      if (isUsable(printed) && isName) add(kind, printed, offset + start, { isStated: false });
    }
}

const quotes = /["“‘']/;

function readQuotedAfterKinds({ sentence, start: offset }: CheckedPart, add: AddName): void {
  if (!quotes.test(sentence)) return;
  for (const [kind, pattern] of [
    ['malware', quotedAfterMalware],
    ['actor', quotedAfterActor],
  ] as const)
    for (const match of findMatches(pattern, sentence)) {
      const printed = trimName(match[1]!);
      if (isUsable(printed, true)) add(kind, printed, offset + match.index + match[0].lastIndexOf(match[1]!));
    }
}

function readDefined({ sentence, start: offset, isRepeated }: CheckedPart, add: AddName): void {
  for (const { kind, pattern, needs } of defined) {
    if (needs && !needs.test(sentence)) continue;
    for (const match of findMatches(pattern, sentence)) {
      const full = pattern === crews ? match[1]! : trimName(match[1]!);
      const printed = trimLead(full.replace(headlineVerb, ''));
      if (!isUsable(printed)) continue;
      const start = match.index + match[0].indexOf(match[1]!) + full.length - printed.length;
      const stated = match[2] ? 'actor' : kind;
      const isName =
        namePatterns.has(pattern) ||
        (pattern === appositions && isTitled(printed)) ||
        isDistinctive(printed) ||
        (stated === 'actor' ? isTitled(printed) : isRepeated(printed)) ||
        isDescribed.test(sentence.slice(match.index + match[0].length));
      add(stated, printed, offset + start, { isCommon: !isName });
    }
  }
}

/** The patterns whose matches are names, common words included. */
const namePatterns = new Set<RegExp>([withDesignations, deployedTools, attackersTools, phishingKits]);

/** What sets a common word off as a name: `a malware toolkit, Foo, which …`. */
const isDescribed = /^, (?:which|that|designed|capable|believed|attributed)\b/;

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
  const first = findMatches(nouns, after).find((noun) => !noun[3]);
  if (first && first.index <= 3) return kindOf(first);
  const before = text.slice(Math.max(0, at - reachBefore), end);
  const sentence = before.slice(Math.max(before.search(lastSentence), before.lastIndexOf('\n')) + 1);
  const all = findMatches(nouns, sentence);
  const last = all.at(-1);
  if (last?.[3] && sentence.length - last.index - last[0].length <= end - at + reachOther) return undefined;
  // `Tracked as Foobar, the group …`
  const isOpening = sentence.length <= end - at;
  const known =
    all.findLast((noun) => !noun[3]) ?? (isOpening || (first && first.index < reachAfter) ? first : undefined);
  if (known) return kindOf(known);
  if (!/\b(?:it|them|been (?:named|called|christened)) ["“‘']?/i.test(cue)) return undefined;
  const earlier = text.slice(Math.max(0, at - reachEarlier), at);
  const noun = findMatches(nouns, earlier).findLast((one) => !one[3]);
  return noun && kindOf(noun);
}

const kindOf = (noun: RegExpMatchArray): NewName['kind'] => (noun[1] ? 'malware' : 'actor');
