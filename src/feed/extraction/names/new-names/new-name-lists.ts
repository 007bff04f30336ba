import { namedOnce, oneName } from './new-name-patterns.ts';
import type { AddName } from './new-name.ts';
import { isDistinctive, isUsable, trimLead, trimName } from './usable-names.ts';
import { findMatches } from '../../text/find-matches.ts';

/** Names in a list, with the kind that the noun beside the list states. Offsets refer to the searched text. */
export type NameList = { kind: 'actor' | 'malware'; items: { printed: string; start: number }[]; isSingle: boolean };

const malwarePlural =
  '[Bb]ackdoors|[Mm]alware(?: [Ff]amilies| [Ss]trains| [Vv]ariants| [Ff]rameworks)|[Rr]ansomware(?: [Ff]amilies| [Ss]trains| [Vv]ariants)|[Ff]amilies|[Pp]ayloads|[Ll]oaders|[Ss]tealers|[Ii]nfostealers|[Rr]ats|RATs|[Ii]mplants|[Tt]rojans|[Ww]ipers|[Bb]otnets|[Ss]trains|[Vv]ariants|[Dd]ownloaders|[Dd]roppers|[Rr]ootkits|[Ww]orms|[Pp]hishing [Kk]its|[Pp]hishing-as-a-service kits|PhaaS\\)? (?:kits|platforms)';
const malwareMass = '[Mm]alware|[Rr]ansomware|[Ss]pyware|[Aa]rsenal|[Tt]oolset|[Tt]oolkit';
const actorPlural =
  '[Tt]hreat [Aa]ctors|[Aa]ctors|[Gg]roups|[Gg]angs|[Cc]lusters|APTs|[Cc]rews|[Cc]ollectives|[Ii]ntrusion [Ss]ets|[Rr]ansomware [Oo]perations|[Aa]ffiliates|[Oo]perators|[Aa]dversaries';
const acronym = String.raw`(?: \(\p{Lu}[\p{L}]{1,6}\))?`;
/** Words that belong to the noun. A verb begins a clause about something else: `actors used tools such as`. */
const attribute = (participles: string): string =>
  String.raw`(?: (?:${participles}|tracked|known|linked|active|associated|seen|observed|today|this|in|from|behind|on|of|for)(?: [\p{L}.-]{1,20}){0,4}?)?`;
const example = 'such as|including|namely|notably|especially|like';
const naming =
  '(?:(?:has|have) been |were |are )?(?:named|called|dubbed|known as|tracked as|identified as|labell?ed(?: as)?)';
const lead = (nouns: string, further: string): RegExp =>
  new RegExp(
    String.raw`\b(?:${nouns})${acronym}${further}(?:(: ?|,? ?(?:—|–| - ) ?(?:(?:${example}) )?)|,? (${example}|${naming})(?::| the)? |( \()|,? (?:(?:which|that) [\p{L}\d ]{3,60} )?(?:are|were|have been|includ(?:e|ed|es)):?(?: the)? ()|(?= ["“‘'*]{0,2}(?:\p{Lu}|\d\p{L})) )`,
    'gu',
  );
/** `Malware used: Foo, Bar`. The groups are those of `lead`. */
const headings = new RegExp(
  String.raw`^\s*(?:[-*•–] )?(?:(?:Table|Figure) \d+[.:] )?\*{0,2}(?:${malwarePlural}|${malwareMass})(?: (?:used|deployed|observed)(?: by [\p{L}\d -]{2,30})?)?(:)\*{0,2} `,
  'gu',
);
/** `two malware families, Foo and Bar`. */
const counted = new RegExp(
  String.raw`\b(?:[Tt]wo|[Tt]hree|[Ff]our|[Ff]ive|[Ss]everal|[Mm]ultiple) (?:[\p{L}\d-]+ ){0,4}(?:${malwarePlural}), (?=["“‘'*]{0,2}\p{Lu})`,
  'gu',
);
const leads: ['malware' | 'actor', RegExp, string?][] = [
  [
    'malware',
    lead(malwarePlural, attribute('used|deployed|dropped|delivered|distributed|identified|discovered|found')),
  ],
  ['malware', lead(malwareMass, '')],
  ['malware', headings, ':'],
  ['malware', counted, 's, '],
  ['actor', lead(actorPlural, attribute('involved|operating|aligned'))],
];

const item = new RegExp(
  String.raw`["“‘'*]{0,2}(${oneName}(?:/${namedOnce})?)(?![\p{L}\p{N}_])[,.]?["”’'*]{0,2}(?: \([^()\n]{1,40}\))?`,
  'uy',
);
const separator =
  /(?:,["”’']? (?:and |or |as well as )?(?:now |the )?| \/ | (?:and|or|und|sowie|et|y|e|ed|o|ou|oder|en|и) | & | · |\/|、|; (?:and )?)/y;
const itemsMax = 12;
/** What follows the only name of a list, rather than a noun that the name describes. */
const endOfExample =
  /^(?:[,.;:)?!\n]|\s*$| [–—-]|[’']s\b| (?:and|or|has|have|had|is|are|was|were|who|that|which|to|for|in|on|as|with|by|from|against|via|can|could|may|will|also|surged|\p{Ll}+(?:ed|ing))\b)/u;

/** Reads names with separators between them, from a place in a text. */
export function readItems(text: string, from: number): { items: NameList['items']; end: number } {
  const items: NameList['items'] = [];
  let at = from;
  let end = from;
  while (items.length < itemsMax) {
    item.lastIndex = at;
    const match = item.exec(text);
    if (!match) break;
    const start = at + match[0].indexOf(match[1]!);
    items.push({ printed: match[1]!, start });
    // A comma that belongs to a quotation also separates.
    end = at + match[0].length - (/,["”’']?$/.test(match[0]) ? match[0].length - match[0].lastIndexOf(',') : 0);
    separator.lastIndex = end;
    const gap = separator.exec(text);
    if (!gap) break;
    at = end + gap[0].length;
  }
  return { items, end };
}

/** Returns the lists of names after their common noun: `two backdoors, Foo and Bar`, `groups including Foo, Bar, and Baz`. */
export function findLists(sentence: string): NameList[] {
  const lists: NameList[] = [];
  for (const [kind, pattern, needs = ''] of leads) {
    if (!sentence.includes(needs)) continue;
    for (const match of findMatches(pattern, sentence)) {
      const [, dash, word, bracket, are] = match;
      const { items, end } = readItems(sentence, match.index + match[0].length);
      if (items.length === 0) continue;
      const isExample = word !== undefined;
      const isClosed = bracket === undefined || /^(?:\)|,? etc)/.test(sentence.slice(end));
      const isSingle = items.length === 1;
      if (!isClosed || (isSingle && !(isExample && endOfExample.test(sentence.slice(end))))) continue;
      // `The actors include Foo` and `groups Foo` state little without an `and`.
      const isJoined = /(?: and | or | & | · |\/)/.test(sentence.slice(match.index + match[0].length, end));
      if (!isSingle && !isExample && bracket === undefined && dash === undefined && !isJoined) continue;
      if (are !== undefined && items.length < 2) continue;
      lists.push({ kind, items, isSingle });
    }
  }
  return lists;
}

const nounAfter =
  /^(?: |, (?:two|three|four|five|both|all|a pair of|multiple|several) (?:[\p{Ll}-]+ ){0,3})(?:(?:hacking|hacker|ransomware|extortion|threat|cybercrime|APT|apt|espionage) )*(?:(groups|gangs|actors|operators|crews|affiliates)|(?:malware|ransomware)(?: (?:families|strains|variants))?(?! \p{Ll}*(?:analyst|research|hunter|compan|vendor|lab))|families|strains|backdoors|trojans|loaders|stealers|botnets|wipers|implants|rats)\b/u;
const listStart = new RegExp(String.raw`(?<![\p{L}\p{N}_./-])(?=["“‘']?${oneName}["”’']?(?:, | and | / ))`, 'gu');

/** Returns the lists of names before their common noun: `the Foo, Bar, and Baz hacking groups`. */
export function findListsBefore(sentence: string): NameList[] {
  if (!nounOfMany.test(sentence)) return [];
  const lists: NameList[] = [];
  let read = 0;
  for (const { index } of findMatches(listStart, sentence)) {
    if (index < read) continue;
    const { items, end } = readItems(sentence, index);
    const noun = nounAfter.exec(sentence.slice(end, end + 60));
    if (!noun || items.length < 2) continue;
    // A comma alone may end a clause: `To bypass UAC, Foobar malware uses …`.
    if (/(?:malware|ransomware)$/.test(noun[0]) && !isJoinedLast.test(sentence.slice(index, items.at(-1)!.start)))
      continue;
    read = end;
    lists.push({ kind: noun[1] ? 'actor' : 'malware', items, isSingle: false });
  }
  return lists;
}
const isJoinedLast = /(?:\b(?:and|or)|[&/]) ["“‘]?$/;
const nounOfMany =
  /(?:,| and| \/) [^,.;]{2,60} (?:malware|ransomware|groups|gangs|actors|operators|crews|affiliates|families|strains|backdoors|trojans|loaders|stealers|botnets|wipers|implants|rats|variants)\b|, (?:two|three|four|five|both|all|a pair of|multiple|several) (?:[\p{Ll}-]+ ){0,3}(?:backdoors|implants|loaders|families|stealers|trojans|wipers|groups|actors|botnets|rats)\b/u;

const headingOfList =
  /(?:^|\n)[^\n]{0,160}\b(?:([Mm]alware(?: [Ff]amilies| [Ss]trains| [Vv]ariants)|[Rr]ansomware [Ff]amilies|[Bb]otnets|[Tt]rojans|[Bb]ackdoors|[Ll]oaders)|(?:[Rr]ansomware|[Tt]hreat|APT|[Hh]acking) (?:[Gg]roups|[Cc]rews|[Aa]ctors|[Gg]angs|[Cc]lusters)|(?:[Gg]rupos|[Gg]roupes|[Gg]ruppi|[Gg]ruppen)(?= [^\n]*\n{1,2}\p{Lu}\S+\n\p{Lu}\S+\n))(?: \([\p{L} ]{1,20}\))?(?: [\p{Ll} ]{1,30}(?:20\d\d)?)?:?\n{1,2}(?=[ \t]*[-*•–·]? ?["“]?[\p{Lu}\d])/gu;
const bullet = new RegExp(
  String.raw`[ \t]*(?:[-*•–] )?["“‘]?(${oneName})["”’]?(?: ?/ ?(${oneName}))?[,;]?(?: \([^()\n]{1,40}\))?[ \t]*(?:\n|$)`,
  'uy',
);

/** Returns the lists of which each line is one name, below a heading or a colon, and lines of names with dots between them. */
export function findBulletLists(text: string): NameList[] {
  const lists: NameList[] = [];
  for (const match of findMatches(headingOfList, text)) {
    const kind = match[1] ? 'malware' : 'actor';
    let at = match.index + match[0].length;
    const dotted = readItems(text, at);
    if (dotted.items.length > 2 && / · /.test(text.slice(at, dotted.end))) {
      lists.push({ kind, items: dotted.items, isSingle: false });
      continue;
    }
    const items: NameList['items'] = [];
    for (; items.length < 2 * itemsMax; at = bullet.lastIndex) {
      bullet.lastIndex = at;
      const line = bullet.exec(text);
      if (!line) break;
      items.push({ printed: line[1]!, start: at + line[0].indexOf(line[1]!) });
    }
    if (items.length > 1) lists.push({ kind, items, isSingle: false });
  }
  return lists;
}

/** Returns whether most lines below a heading look like names, unlike those of a table. */
export const isMostlyNames = ({ items }: NameList): boolean =>
  2 * items.filter(({ printed }) => isUsable(trimName(printed)) && isDistinctive(trimName(printed))).length >
  items.length;

/** Adds the names of lists that a text introduces by their kind. */
export function readLists(lists: NameList[], offset: number, add: AddName): void {
  for (const { kind, items, isSingle } of lists) {
    // A common word counts as a name only in a list that also has a distinctive name.
    if (!isUsable(trimName(items[0]!.printed), true) || !items.some(({ printed }) => isDistinctive(trimName(printed))))
      continue;
    for (const { printed: full, start } of items.flatMap(splitAlias).map(afterPreposition)) {
      const printed = trimLead(trimName(full));
      if (isUsable(printed, !isSingle)) add(kind, printed, offset + start + full.indexOf(printed));
    }
  }
}

/** Returns the name after the preposition of a headline: `Expands Malware Arsenal With Foobar`. */
function afterPreposition({ printed, start }: NameList['items'][number]): NameList['items'][number] {
  const length = /^.* (?:With|Via|Using) (?=\p{Lu})/u.exec(printed)?.[0].length ?? 0;
  return { printed: printed.slice(length), start: start + length };
}

/** Splits two names of one item: `Foobar/Barfoo`. */
function splitAlias({ printed, start }: NameList['items'][number]): NameList['items'] {
  const [first = '', second] = printed.split('/');
  return second === undefined
    ? [{ printed, start }]
    : [
        { printed: first, start },
        { printed: second, start: start + first.length + 1 },
      ];
}
