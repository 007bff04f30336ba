import { nameKey } from '../../reference-data/name-forms.ts';
import type { Span } from '../text/stored-text.ts';
import { spansMax, type ExtractedName } from './extracted-name.ts';
import type { NameDictionary } from './dictionary/name-dictionary.ts';
import { readItems } from './new-names/new-name-lists.ts';
import { isDistinctive, isTitled, isUsable, trimName } from './new-names/usable-names.ts';

const aliasLead = new RegExp(
  String.raw`^["”’']?(?: [\p{L}-]+){0,2}?(?:[,;]| [–—-])? ?[([]?(?:(?:which|who|that) )?(?:(?:is|was|are) )?(?:aka|a\.k\.a\.?|(?:which|who|that) \p{Lu}[\p{L}\d]*(?: \p{Lu}[\p{L}\d]*){0,2} (?:also )?(?:tracks(?: it)? as|calls|refers to as|names|dubbed)|(?:sometimes |also |previously |formerly |otherwise |or )?(?:known|tracked|referred to|identified)(?: by [\p{L} ]{1,30})? as|also (?:called|named|dubbed)|formerly)[:,]? (?:the )?(?:["“‘']?[\p{L}\d][\p{L}\d.-]*(?: (?:of )?[\p{Lu}\d][\p{L}\d.-]*){0,2}["”’']?(?:,["”’']? (?:and |or |aka )?| and | or |/)){0,7}["“‘']?$`,
  'u',
);
/** Aliases in other languages: `Foobar (别名：Barfoo、Bazbar)`, `Foobar, auch bekannt als Barfoo`. */
const foreignLead = new RegExp(
  String.raw`^["”’'»」]? ?[,，]? ?[（(]? ?(?:又称|又称为|亦称|也称|又名|别名|別名|また(?:の名)?は|alias|[Aa]lias|auch (?:bekannt als|genannt)|également connue?s? sous (?:le nom|les noms) de|alias|también conocid[oa]s? como|também conhecid[oa]s? como|not[oa] anche come|ook bekend als|также известн\p{L}+ как|он же) ?[:：]? ?(?:["“‘«「]?[\p{L}\d][\p{L}\d.-]*(?: [\p{Lu}\d][\p{L}\d.-]*){0,2}["”’»」]?(?:, ?|、| (?:und|et|y|e|en|и|o|ou|oder) )){0,7}["“‘«「]?$`,
  'u',
);
const foreignWord =
  /又|别|別|称|また|alias|Alias|genannt|bekannt|connue?|conocid|conhecid|not[oa] |bekend|известн|он же/;
/** The longest distance between a name and an alias that is introduced for it, in characters. */
const aliasReach = 180;

/** Returns whether the words between two names introduce the second as an alias of the first: `Foobar (also known as Barfoo, Bazbar)`. */
const introducesAlias = (between: string): boolean =>
  aliasLead.test(between) || (foreignWord.test(between) && foreignLead.test(between));

/** Returns the name right before a span that is introduced as its alias: `Foobar (aka Barfoo)`. */
export function findAliasOwner(
  text: string,
  { start }: Span,
  found: Map<string, ExtractedName>,
): ExtractedName | undefined {
  return [...found.values()].find(({ spans }) =>
    spans.some(({ end }) => end < start && start - end <= aliasReach && introducesAlias(text.slice(end, start))),
  );
}

/** Adds a form of a name that the text introduces as an alias. */
export function addAlias(owner: ExtractedName, { word, span }: { word: string; span: Span }): void {
  const isKnown = [owner.name, ...owner.aliases].some((name) => nameKey(name) === nameKey(word));
  if (!isKnown) owner.aliases = [...owner.aliases, word];
  if (!owner.printed.includes(word)) owner.printed.push(word);
  if (owner.spans.length < spansMax) owner.spans.push(span);
}

const aliasesAfter =
  /^["”’']? ?[(,] ?(?:(?:which is |or )?(?:also |formerly |previously )?(?:known|tracked|referred to|called|dubbed)(?: as)?|aka|a\.k\.a\.?|formerly) (?:the )?(?=["“‘']?\p{Lu})/u;

/** Adds the unknown names that a text introduces as aliases right after a name: `Foobar (also known as Barfoo)`. */
export function addStatedAliases(text: string, found: Map<string, ExtractedName>): void {
  const known = new Set(
    [...found.values()].flatMap(({ name, aliases, printed }) => [name, ...aliases, ...printed].map(nameKey)),
  );
  for (const owner of found.values())
    for (const { end } of owner.spans.slice(0, spansMax)) {
      const lead = aliasesAfter.exec(text.slice(end, end + aliasReach));
      for (const { printed: full, start } of lead ? readItems(text, end + lead[0].length).items : []) {
        const word = trimName(full);
        const isNew = !known.has(nameKey(word)) && isUsable(word, true) && (isDistinctive(word) || isTitled(word));
        if (isNew) addAlias(owner, { word, span: { start, end: start + word.length } });
      }
    }
}

/** Resolves an alias of several actors if the text mentions exactly one of them by another name. */
export function resolveAmbiguous(found: Map<string, ExtractedName>, dictionary: NameDictionary): void {
  for (const [key, name] of found) {
    if (!name.ambiguous) continue;
    const candidates = dictionary.get(nameKey(name.name))!.entities.filter(({ kind }) => kind === 'actor');
    const owners = [...found.values()].filter(
      (other) =>
        other.kind === 'actor' &&
        !other.ambiguous &&
        candidates.some((one) => nameKey(one.name) === nameKey(other.name)),
    );
    const [owner] = owners;
    if (owners.length !== 1 || !owner) continue;
    for (const word of name.printed) addAlias(owner, { word, span: name.spans[0]! });
    owner.spans = [...owner.spans, ...name.spans.slice(1)].slice(0, spansMax);
    found.delete(key);
  }
}

/** Merges a name into the one that the text introduces it for, wherever it occurs, although the lists keep the two apart. */
export function mergeStatedAliases(
  text: string,
  found: Map<string, ExtractedName>,
  isDesignation: (name: string) => boolean,
): void {
  for (const [key, name] of found) {
    if (name.ambiguous || name.printed.some(isDesignation)) continue;
    const others = new Map([...found].filter(([, other]) => other !== name));
    const owners = name.spans.map((span) => findAliasOwner(text, span, others));
    const [owner] = owners;
    if (!owner || owners.some((one) => one !== owner)) continue;
    for (const word of [...name.printed, name.name]) addAlias(owner, { word, span: name.spans[0]! });
    found.delete(key);
  }
}
