import { isGang, isInActorList } from '../../extraction/names/name-cues.ts';
import type { FeedItem } from '../../model/item.schema.ts';
import { listCountryForms, listSectorForms } from '../../model/target-forms.ts';
import { nameKey, needsCue } from '../../reference-data/name-forms.ts';

export type Mention = Entity & { start: number; end: number };
export type MentionFinder = (sentence: string) => Mention[];

const wordPattern = /[\p{L}\p{N}][\p{L}\p{N}_]*/gu;
const joint = /^(?:[ \u00A0]|[-_./&]|’?'? ?| & )$/;
const wordsMax = 5;
const malwareOrActor =
  /^[ -](?:ransomware|malware|trojan|backdoor|rat|stealer|loader|botnet|worm|wiper|implant|group|gang|apt|actors?|operators?|affiliates?)\b/i;

/** A numbered designation of common words: `Storm-1234`. */
const designation = /^\p{L}[\p{L}-]*[ -]?\d{2}/u;

/** Returns a function that finds the mentions of entities in a sentence, in order and without overlap. The longest form wins. */
export function createMentionFinder(entities: EntityForms[]): MentionFinder {
  const byKey = new Map<string, Entity & { isEveryday: boolean; isProper: boolean }>();
  const people = new Map<string, Entity>();
  for (const { kind, name, forms } of entities)
    for (const form of forms) {
      const key = nameKey(form);
      const isName = kind === 'actor' || kind === 'malware' || kind === 'tool';
      if (kind === 'actor' && byKey.get(key)?.kind === 'malware') people.set(key, { kind, name });
      if (key === '' || byKey.has(key)) continue;
      byKey.set(key, {
        kind,
        name,
        isEveryday: isName && needsCue(form) && !designation.test(form),
        isProper: kind !== 'sector',
      });
    }
  return (sentence) => {
    const isRow = /[,;|\t"].*[,;|\t"]/.test(sentence);
    const words = [...sentence.matchAll(wordPattern)].map(({ 0: text, index }) => ({
      key: nameKey(text),
      start: index,
      end: index + text.length,
    }));
    const mentions: Mention[] = [];
    for (let at = 0; at < words.length; at += 1) {
      const found = longestMatch(sentence, words, at, byKey);
      if (!found) continue;
      const { entity, start, end, length } = found;
      if (!isMention(sentence, { start, end, isRow, ...entity })) continue;
      // `The Foobar gang` is not the ransomware of the same name.
      const gang = people.get(nameKey(sentence.slice(start, end)));
      const { kind, name } = gang && isPeople(sentence, { start, end }) ? gang : entity;
      mentions.push({ kind, name, start, end });
      at += length - 1;
    }
    return mentions;
  };
}

const isPeople = (sentence: string, span: { start: number; end: number }): boolean =>
  isGang(sentence, span) || isInActorList(sentence, span);

type Word = { key: string; start: number; end: number };

function longestMatch<T>(
  text: string,
  words: Word[],
  at: number,
  byKey: ReadonlyMap<string, T>,
): { entity: T; start: number; end: number; length: number } | undefined {
  const { start } = words[at]!;
  let key = '';
  let found: { entity: T; start: number; end: number; length: number } | undefined;
  for (let length = 1; length <= wordsMax && at + length <= words.length; length += 1) {
    const word = words[at + length - 1]!;
    if (length > 1 && !joint.test(text.slice(words[at + length - 2]!.end, word.start))) break;
    key += word.key;
    const entity = byKey.get(key);
    if (entity) found = { entity, start, end: word.end, length };
  }
  return found;
}

type Candidate = { start: number; end: number; isRow: boolean; isEveryday: boolean; isProper: boolean };

/**
 * Returns whether a match is a name here: not part of an address or path, and in prose with a capital or digit. An everyday word counts inside a
 * sentence, or before `ransomware`, `group` and similar words. Several words with a capital each, such as `Stone Panda`, count anywhere.
 */
function isMention(text: string, { start, end, isRow, isEveryday, isProper }: Candidate): boolean {
  const before = text.slice(Math.max(0, start - 2), start);
  if (/[\\/@#]$/.test(before) || /[\w\]][.-]$/.test(before) !== isMalpediaPrefix(text, start)) return false;
  if (/^(?:[\\/@]|\[?\.\]?[a-z0-9])/.test(text.slice(end, end + 4))) return false;
  const printed = text.slice(start, end);
  const isMarked = /[\p{Lu}\p{N}]/u.test(printed);
  if (!isProper) return true;
  const isTitled = /^\p{Lu}\S+(?: \p{Lu}\S+)+$/u.test(printed);
  if (isEveryday && (!isMarked || (start < 2 && !isTitled && !malwareOrActor.test(text.slice(end, end + 16)))))
    return false;
  // `us` is not a country.
  return isMarked
    ? printed.length > 2 || printed === printed.toUpperCase()
    : isRow && !isEveryday && printed.length > 2;
}

/** `win.emotet` is Emotet. */
const isMalpediaPrefix = (text: string, start: number): boolean =>
  /(?:^|[^\w.-])(?:win|elf|apk|osx|js|ps1|jar|py|php|vbs)\.$/.test(text.slice(Math.max(0, start - 5), start));

const naming =
  '(?:aka|a\\.k\\.a\\.?|also|formerly|previously|otherwise|tracked|known|monitored|identified|dubbed|called|(?:which|that) \\p{Lu}[\\p{L}\\d ]{1,30} (?:tracks|calls|names|dubbed))';
/** The words between a name and its first alias: `Foobar (also known as Barfoo`, `Foobar, which Example Labs tracks as Barfoo`. */
const firstAlias = new RegExp(String.raw`^["”’']?,? ?[([]?${naming}\b(?: [\p{L}\d-]+){0,6}? ["“‘']?$`, 'u');
/** The words between two aliases: `Barfoo and tracked by Example Labs as`, `Barfoo, Bazbar`. */
const furtherAlias = new RegExp(
  String.raw`^["”’']?(?:,|\/|,? (?:and|or))(?: ${naming}\b(?: [\p{L}\d-]+){0,6}?)? ?["“‘']?$`,
  'u',
);

/** Returns mentions without the names that a sentence introduces as aliases of the name before them, unless they are the same entity. */
export function withoutAliases<M extends Mention>(sentence: string, mentions: M[]): M[] {
  let list: 'bracketed' | 'open' | undefined;
  return mentions.filter((mention, index) => {
    const previous = mentions[index - 1];
    const gap = previous?.kind === mention.kind ? sentence.slice(previous.end, mention.start) : undefined;
    if (gap !== undefined && firstAlias.test(gap)) list = /[([]/.test(gap) ? 'bracketed' : 'open';
    else if (gap === undefined || !continuesAliases(gap, list)) list = undefined;
    return list === undefined || mention.name === previous!.name;
  });
}

/** Outside brackets, a name after `and` is another subject: `Foobar, also known as Barfoo, and Bazbar attacked`. */
const continuesAliases = (gap: string, list: 'bracketed' | 'open' | undefined): boolean =>
  list !== undefined && furtherAlias.test(gap) && (list === 'bracketed' || hasNaming.test(gap));
const hasNaming = new RegExp(String.raw`\b${naming}\b`, 'u');

export type EntityKind = 'actor' | 'malware' | 'tool' | 'vulnerability' | 'sector' | 'country';
/** Something that a passage can mention: a name of the item by its canonical name, a CVE, a sector of STIX, or the code of a country. */
export type Entity = { kind: EntityKind; name: string };
/** An entity with the forms under which a text mentions it. */
type EntityForms = Entity & { forms: string[] };

/** Returns the names and CVEs of an item, and every sector and country, with the forms under which a text in a language mentions them. */
export function listEntityForms({ classification }: Pick<FeedItem, 'classification'>, language = 'en'): EntityForms[] {
  const { malware, actor, mappings } = classification;
  const names = [
    ...malware.map(({ name, aliases }) => ({
      kind: softwareKind(classification, name),
      name,
      forms: [name, ...aliases],
    })),
    ...actor.map(({ name, aliases }) => ({ kind: 'actor' as const, name, forms: [name, ...aliases] })),
  ];
  const vulnerabilities = mappings
    .filter(({ framework }) => framework === 'cve')
    .map(({ id }) => ({ kind: 'vulnerability' as const, name: id, forms: [id] }));
  // Sectors and countries count only as the targets of a name.
  return names.length === 0
    ? []
    : [...names, ...vulnerabilities, ...listSectorForms(language), ...listCountryForms(language), ...demonymForms];
}

/** Returns whether an item lists a name as a tool or as malware. */
export const softwareKind = ({ mappings }: FeedItem['classification'], name: string): 'tool' | 'malware' =>
  mappings.some(({ framework, id }) => framework === 'observable:tool' && id.toLowerCase() === name.toLowerCase())
    ? 'tool'
    : 'malware';

/** The adjectives of countries by their codes: `targeted Ukrainian agencies`. */
const demonyms =
  'AE Emirati, AF Afghan, AL Albanian, AM Armenian, AR Argentinian, AT Austrian, AU Australian, AZ Azerbaijani, BD Bangladeshi, BE Belgian, BG Bulgarian, BR Brazilian, BY Belarusian, CA Canadian, CH Swiss, CL Chilean, CN Chinese, CO Colombian, CZ Czech, DE German, DK Danish, EC Ecuadorian, EE Estonian, EG Egyptian, ES Spanish, ET Ethiopian, FI Finnish, FR French, GB British, GE Georgian, GR Greek, HR Croatian, HU Hungarian, ID Indonesian, IE Irish, IL Israeli, IN Indian, IQ Iraqi, IR Iranian, IT Italian, JO Jordanian, JP Japanese, KE Kenyan, KH Cambodian, KR South Korean, KW Kuwaiti, KZ Kazakh, LB Lebanese, LT Lithuanian, LV Latvian, MA Moroccan, MD Moldovan, MM Burmese, MN Mongolian, MX Mexican, MY Malaysian, NG Nigerian, NL Dutch, NO Norwegian, NP Nepalese, OM Omani, PE Peruvian, PH Philippine, PK Pakistani, PL Polish, PT Portuguese, QA Qatari, RO Romanian, RS Serbian, RU Russian, SA Saudi, SE Swedish, SG Singaporean, SI Slovenian, SK Slovak, SY Syrian, TH Thai, TN Tunisian, TR Turkish, TW Taiwanese, UA Ukrainian, US American, UZ Uzbek, VE Venezuelan, VN Vietnamese, ZA South African';

const demonymForms: EntityForms[] = demonyms.split(', ').map((entry) => ({
  kind: 'country',
  name: entry.slice(0, 2),
  forms: [entry.slice(3)],
}));

/** The adjectives as an alternation of a pattern. */
export const demonymWords = demonymForms.flatMap(({ forms }) => forms).join('|');

const keys = new Set(demonymForms.flatMap(({ forms }) => forms.map(nameKey)));

/** Returns whether a word is the adjective of a country, which stands for a target only with a noun after it. */
export const isDemonym = (word: string): boolean => keys.has(nameKey(word));

/** Follows the headings of a text and returns the name that heads the current lines. */
type SectionTracker = {
  /** Reads the next line. `hasIndicator`: the line contains a value. */
  read: (line: string, mentions: Mention[], hasIndicator: boolean) => void;
  /** The heading and the name in it, if the current section is headed by exactly one. */
  current: () => { heading: string; name: Entity } | undefined;
};

type Section = { level: number; heading: string; name: Entity | 'several' | undefined };

const colonLevel = 8;
const indicatorWords =
  /\b(?:indicators?|iocs?|c&c|c2s?|command[- ]and[- ]control|hash(?:es)?|samples?|domains?|ip addresses|urls?|servers?|infrastructure)\b/i;
const otherWords = /\b(?:legitimate|benign|clean|false positives?|references?|related|further reading|unrelated)\b/i;

export function createSectionTracker(): SectionTracker {
  const stack: Section[] = [];
  const leave = (level: number): void => {
    while ((stack.at(-1)?.level ?? 0) >= level) stack.pop();
  };
  return {
    read: (line, mentions, hasIndicator) => {
      const level = hasIndicator ? undefined : headingLevel(line);
      if (level === undefined) {
        // A list under `Emotet servers:` ends with its last value.
        if (!hasIndicator && line.trim() !== '') leave(colonLevel);
        return;
      }
      leave(level);
      // The title of a report does not head all of its lists.
      const canHead = level > 1 || indicatorWords.test(line);
      stack.push({
        level,
        heading: line.trim(),
        name: otherWords.test(line) ? 'several' : canHead ? soleName(mentions) : undefined,
      });
    },
    current: () => {
      const section = stack.findLast(({ name }) => name !== undefined);
      if (!section?.name || section.name === 'several') return undefined;
      return { heading: section.heading, name: section.name };
    },
  };
}

/** Returns the level of a heading: Markdown or AsciiDoc marks, a bold line, or a short line that ends with a colon. */
function headingLevel(line: string): number | undefined {
  if (line.length > 110) return undefined;
  const marks = /^\s{0,3}(#{1,6}|={1,6})\s+\S/.exec(line)?.[1];
  if (marks) return marks.length;
  if (/^\*\*[^*]{2,80}\*\*:?\s*$/.test(line)) return 7;
  return /^[^.]{3,100}:\s*$/.test(line) ? colonLevel : undefined;
}

/** Returns the only malware of some mentions, or the only actor if there is no malware, or the only tool if there is neither. */
export function soleName(mentions: Mention[]): Entity | 'several' | undefined {
  for (const kind of ['malware', 'actor', 'tool'] as const) {
    const sole = soleOfKind(mentions, kind);
    if (sole) return sole;
  }
  return undefined;
}

/** Returns the only name of a kind among some mentions. */
function soleOfKind(
  mentions: Mention[],
  kind: 'malware' | 'actor' | 'tool' | 'vulnerability',
): Entity | 'several' | undefined {
  const names = [...new Set(mentions.filter((mention) => mention.kind === kind).map(({ name }) => name))];
  if (names.length > 1) return 'several';
  return names.length === 1 ? { kind, name: names[0]! } : undefined;
}
