import { nameKey, needsCue } from '../../reference-data/name-forms.ts';
import type { Span } from '../text/stored-text.ts';
import { addName, mergeVariants, type ExtractedName } from './extracted-name.ts';
import {
  addStatedAliases,
  joinKeys,
  mergeStatedAliases,
  resolveAmbiguous,
  splitGluedWords,
  splitWords,
  type Word,
} from './name-aliases.ts';
import {
  countLeanings,
  chooseKind,
  isOfPeople,
  isStatedSoftware,
  type Leanings,
  type NameMention,
  cueNeighbours,
  listFlawedTools,
  sharesEntity,
} from './name-kinds.ts';
import { addNewNames, countStatedKinds, isPartOfName, listLongerNames, findNewNames } from './introduced-names.ts';
import {
  guessKind,
  isBesideCue,
  isInLongerName,
  isOfOrganization,
  isUsedTool,
  isListedTool,
  isSlashList,
} from './name-cues.ts';
import { findCandidates } from './name-candidates.ts';
import { isGenericName } from './generic-names.ts';
import { createActorLookup, type ActorLookup } from './dictionary/resolve-name.ts';
import {
  getShippedNames,
  headChars,
  mayBeginName,
  type NameDictionary,
  type DictionaryEntry,
} from './dictionary/name-dictionary.ts';

const windowMax = 5;
// Numbered names of publishers. `TA0001` and similar ids are ATT&CK tactics.
const numbered =
  /^(?:APT[- ]?(?:[CQ][- ]?)?\d{1,3}|TA[1-9]\d{2,3}|UNC\d{3,5}|UTA\d{4}|STAC\d{4}|FIN\d{1,2}|DEV-\d{4}|Storm-\d{3,4}|UAC-\d{4}|UAT-\d{4}|REF\d{4}|UNK_[A-Z][A-Za-z]{2,30}|L(?:ARVA|arva)-\d{3,5}|Hive\d{4}|JINX-\d{4}|MUT-\d{4}|UNG\d{4}|GTG-\d{4}|TGR-[A-Z]{3}-\d{4}|UTG-Q-\d{3,4}|TAG-\d{1,3}|TG-\d{4}|ITG\d{2}|(?:CL-\w{3}|SHADOW-[A-Z]{4,6})-\d{3,4})(?![\p{L}\p{N}])/u;
const numberedMaxChars = 40;

/**
 * Extracts malware, tools and actors in one pass over the words of a text, using a dictionary with aliases. An everyday word counts as
 * a name only with a cue beside it or elsewhere in the text. An alias of several actors is reported as ambiguous.
 */
export function extractNames(original: string, dictionary: NameDictionary = getShippedNames()): ExtractedName[] {
  // Link targets are not prose. Spaces preserve the offsets.
  const text = original
    .replaceAll(/\]\([^)\n]{1,600}\)|\bhttps?:\/\/\S{1,600}/g, (link) => ' '.repeat(link.length))
    .replaceAll(/[\u2010\u2011]/g, '-');
  const words = splitGluedWords(splitWords(text), dictionary);
  const mentions: NameMention[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const match = readMention(text, words, at, dictionary);
    if (!match) continue;
    const last = mentions.at(-1);
    // `APT33/Elfin` is one mention of one actor.
    const isRepeated =
      last?.span.end === match.mention.span.start - 1 &&
      text[last.span.end] === '/' &&
      sharesEntity(last, match.mention);
    if (!isRepeated) mentions.push(match.mention);
    at += match.length - 1;
  }
  cueNeighbours(text, mentions);
  const products = listFlawedTools(text, mentions);
  const candidates = findCandidates(text, dictionary);
  const introduced = findNewNames(text, candidates);
  const longer = listLongerNames(introduced);
  const parts = new Set(mentions.filter((mention) => isPartOfName(text, mention, longer)));
  const cued = new Set(
    mentions.filter((mention) => mention.cued && !parts.has(mention)).map(({ word }) => nameKey(word)),
  );
  const stated = countStatedKinds(introduced);
  const leanings = countLeanings(text, mentions, stated);
  const found = new Map<string, ExtractedName>();
  const actorsOf = createActorLookup();
  for (const mention of mentions)
    if (
      (mention.cued || cued.has(nameKey(mention.word))) &&
      !parts.has(mention) &&
      !isStatedSoftware(mention, { leanings, stated }) &&
      !(mention.entry?.entities.some((entity) => products.has(entity)) && !isUsedTool(text, mention.span))
    ) {
      const people = isOfPeople(text, mention, leanings);
      if (people) addPeople(mention, found);
      if (people !== 'alone') addMention(mention, { leanings, actorsOf }, found);
    }
  resolveAmbiguous(found, dictionary);
  addNewNames(text, introduced, { candidates, dictionary, found });
  mergeStatedAliases(candidates, found, (name) => numbered.test(name));
  addStatedAliases(candidates, found);
  return mergeVariants([...found.values()]).toSorted(
    (a, b) => b.confidence - a.confidence || (a.name < b.name ? -1 : 1),
  );
}

/** A mention and the number of its words. */
type ReadMention = { mention: NameMention; length: number };
/** A name of the dictionary that begins at a word. `end` is where its last word ends. */
type DictionaryMatch = { entry: DictionaryEntry; length: number; end: number };

/** Returns the mention at a word: the longest dictionary match, a system tool, or a numbered name. */
function readMention(text: string, words: Word[], at: number, dictionary: NameDictionary): ReadMention | undefined {
  const match = findLongestMatch(words, at, dictionary);
  const designation = readDesignation(text, words, at);
  // `Storm-2871` is not the botnet Storm, whether or not a list has the designation.
  if (designation && designation.mention.span.end > (match?.end ?? 0)) return designation;
  return (match && readDictionaryName(text, words[at]!, match)) ?? readSystemTool(text, words[at]!) ?? designation;
}

function findLongestMatch(words: Word[], at: number, dictionary: NameDictionary): DictionaryMatch | undefined {
  const first = words[at]!;
  let keyChars = 0;
  let best: DictionaryMatch | undefined;
  for (let length = 1; length <= windowMax && at + length <= words.length; length += 1) {
    const word = words[at + length - 1]!;
    if (length > 1 && !word.continues) break;
    keyChars += word.key.length;
    if (!mayBeginName(dictionary.heads, words, at, at + length)) {
      if (keyChars >= headChars) break;
      continue;
    }
    const entry = dictionary.get(joinKeys(words, at, at + length));
    // `Remcos RAT` is Remcos with its kind, if Remcos is a name of the same malware.
    const isNoun =
      best?.length === length - 1 && word.text === 'RAT' && entry && !isActor(entry) && !isActor(best.entry);
    // The list form `The Foobar` begins with an article where it has a capital.
    if (entry && !isNoun && first.text !== 'the') best = { entry, length, end: word.end };
  }
  return best;
}

function readDictionaryName(
  text: string,
  { start }: Word,
  { entry, length, end }: DictionaryMatch,
): ReadMention | undefined {
  // The apostrophe of `Turla’s` belongs to the ending.
  const printed = text.slice(start, end).replace(/[’']$/, '');
  const span = { start, end: start + printed.length };
  if (!isNameUse(text, span, printed, entry)) return undefined;
  const ending = text.startsWith('.exe', span.end) ? '.exe' : '';
  // A designation such as `Storm-2603` consists of common words.
  const isPlain = !numbered.test(printed) && (entry.needsCue || (isSplit(printed, entry) && needsCue(printed)));
  const isPart = isPlain && ending === '' && isInLongerName(text, span);
  const cued =
    !isPlain ||
    isOwnForm(printed, entry) ||
    ending !== '' ||
    (/^[\p{Lu}\p{N}]/u.test(printed) && isBesideCue(text, span));
  const mention = {
    entry,
    word: `${printed}${ending}`,
    span: { start, end: span.end + ending.length },
    hint: ending ? ('tool' as const) : guessKind(text, span),
    cued: cued && !isPart,
    isPart,
  };
  return { mention, length };
}

function readSystemTool(text: string, { start, end }: Word): ReadMention | undefined {
  const tool = text[end] === '.' ? program.exec(text.slice(start, start + 16))?.[0] : undefined;
  if (tool === undefined) return undefined;
  const span = { start, end: start + tool.length };
  return { mention: { entry: undefined, word: tool, span, hint: 'tool', cued: true, isPart: false }, length: 2 };
}

/** Returns the mention of a numbered name of a publisher at a word: `UNC1234`. */
function readDesignation(text: string, words: Word[], at: number): ReadMention | undefined {
  const first = words[at]!;
  if (!startsWithCapital.test(first.text)) return undefined;
  const word = numbered.exec(text.slice(first.start, first.start + numberedMaxChars))?.[0];
  if (word === undefined) return undefined;
  const span = { start: first.start, end: first.start + word.length };
  return {
    mention: { entry: undefined, word, span, hint: 'actor', cued: true, isPart: false },
    length: words.slice(at, at + windowMax).filter(({ start }) => start < span.end).length,
  };
}

const startsWithCapital = /^[A-Z]/;
const isSplit = (printed: string, entry: DictionaryEntry): boolean => /\s/.test(printed) && !/\s/.test(entry.printed);

/** Recognizes distinctive spellings such as `BloodHound` and `Cobalt Strike`, although each of their words is common. */
const isOwnForm = (printed: string, { printed: known }: DictionaryEntry): boolean =>
  (printed === known || (printed.length > 8 && printed.includes(' ') && printed === known.toUpperCase())) &&
  printed.length > 4 &&
  (/\p{Ll}\p{Lu}/u.test(printed) || /^\p{Lu}\S+(?: \p{Lu}\S+)+$/u.test(printed));

const program =
  /^(?:whoami|wmic|nltest|certutil|bitsadmin|vssadmin|wevtutil|netsh|dsquery|quser|klist|reg|schtasks|tasklist|systeminfo|ipconfig|taskkill)\.exe\b/i;

const campaign = /^(?:Operation|Campaign) |\bOperation $/;

/** Before the name of something harmless that malware looks like. */
const disguise =
  /\b(?:pretend(?:s|ed|ing)? to be|masquerad\w+ as|disguised as|impersonat\w+|pos(?:es|ed|ing) as|mimick?\w*) (?:the |an? )?$/i;

/** Before the name of a program whose data malware collects: `passwords from Chrome, FileZilla`. */
const source =
  /\b(?:data|credentials|passwords|information|cookies|logins|accounts|tokens|sessions) (?:from|of|stored (?:in|by)|saved (?:in|by)|in) (?:[^.;:\n]{0,90}[, ])?$/i;

/** Returns whether a match can be a name here: not part of an address, path or code, and capitalized if the name is. */
function isNameUse(text: string, { start, end }: Span, printed: string, entry: DictionaryEntry): boolean {
  const before = text[start - 1] ?? ' ';
  if (before === '#' || campaign.test(printed) || campaign.test(text.slice(Math.max(0, start - 10), start)))
    return false;
  if (before === '/' ? !isSlashList(text, start) : /[\\@.!]/.test(before) && !/\s/.test(text[start - 2] ?? ' '))
    return false;
  if (
    (!/\s/.test(printed) && isGenericName(printed, !entry.needsCue)) ||
    disguise.test(text.slice(Math.max(0, start - 24), start))
  )
    return false;
  if (entry.entities.every(({ kind }) => kind === 'tool') && source.test(text.slice(Math.max(0, start - 120), start)))
    return false;
  // `Do not` is not DONOT, nor is `I'm Sorry` ImSorry: a one-word name printed as several words needs a capital in each.
  if (isSplit(printed, entry) && /(?:^|\s)\p{Ll}|\p{L}['’]\p{Ll}/u.test(printed)) return false;
  if (/[\\@]/.test(text[end] ?? ' ')) return false;
  if (text[end] === '.' && /[a-z0-9]/.test(text[end + 1] ?? ' ')) {
    const isProgram = entry.entities.some(({ kind }) => kind === 'tool') && text.startsWith('.exe', end);
    if (!isProgram) return false;
  }
  if (text[end] === ' ' && isOfOrganization(text, end)) return false;
  const hasCapital = /\p{Lu}/u.test(printed);
  const hasDigit = /\d/.test(printed) && /\p{L}/u.test(printed);
  if (text.startsWith('.exe', end) && entry.entities.some(({ kind }) => kind === 'tool')) return true;
  if (entry.needsCue) return hasCapital && (printed.length > 3 || printed === entry.printed);
  if (hasCapital || hasDigit) return true;
  // Reports print the command of a tool for its name: `tools such as mimikatz, PsExec and rclone`.
  if (printed.length >= 6 && entry.entities.some(({ kind }) => kind === 'tool') && isListedTool(text, start, printed))
    return true;
  const isQuoted = /["“”‘'`]\s?$/.test(text.slice(Math.max(0, start - 2), start));
  return (
    entry.printed === entry.printed.toLowerCase() && printed.length >= 4 && (isQuoted || text.startsWith('.exe', end))
  );
}

function addMention(
  mention: NameMention,
  { leanings, actorsOf }: { leanings: Leanings; actorsOf: ActorLookup },
  found: Map<string, ExtractedName>,
): void {
  const { entry, word, span } = mention;
  if (!entry) {
    const isTool = mention.hint === 'tool';
    const name = isTool ? word.replace(/\.exe$/i, '') : word.replace(/^APT[- ]/, 'APT');
    addName({ kind: isTool ? 'tool' : 'actor', name, aliases: [] }, { word, span, confidence: 0.65 }, found);
    return;
  }
  const actors = actorsOf(entry);
  const software = entry.entities.filter(({ kind }) => kind !== 'actor');
  const kind = chooseKind(entry, mention, leanings);
  const pool = kind === 'actor' ? actors : software;
  const [chosen] = pool;
  if (!chosen) return undefined;
  const isOwnName = nameKey(chosen.name) === nameKey(word);
  const confidence = (entry.needsCue ? 0.7 : 0.85) + (isOwnName ? 0.05 : 0) + (mention.hint ? 0.05 : 0);
  const others = kind === 'actor' && !isOwnName ? actors.filter(({ name }) => name !== chosen.name) : [];
  // A numbered designation is a separate name, whoever it is attributed to.
  if (others.length > 0 && numbered.test(word)) {
    addName({ kind: 'actor', name: word, aliases: [] }, { word, span, confidence }, found);
    return undefined;
  }
  if (others.length > 0)
    return addName(
      { kind: 'actor', name: word, aliases: [] },
      { word, span, confidence: 0.5, ambiguous: actors.map(({ name }) => name) },
      found,
    );
  return addName(chosen, { word, span, confidence }, found);
}

/** Adds the people behind malware that only the name of the malware identifies: `the Qilin gang`. */
function addPeople({ entry, word, span }: NameMention, found: Map<string, ExtractedName>): void {
  const known = entry!.entities.find(({ kind }) => kind === 'actor');
  const name = entry!.entities[0]!.name.replace(/ ransomware$/i, '');
  addName(known ?? { kind: 'actor', name, aliases: [] }, { word, span, confidence: gangConfidence }, found);
}

const isActor = ({ entities }: DictionaryEntry): boolean => entities.some(({ kind }) => kind === 'actor');

const gangConfidence = 0.7;
