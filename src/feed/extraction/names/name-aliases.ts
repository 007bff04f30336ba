import { nameKey } from '../../reference-data/name-forms.ts';
import type { Span } from '../text/stored-text.ts';
import { spansMax, type ExtractedName } from './extracted-name.ts';
import type { NameDictionary } from './dictionary/name-dictionary.ts';
import { isDistinctive, isTitled, type NameCandidate } from './name-candidates.ts';

/** Returns the name for which the text introduces a candidate as an alias: `Foobar (aka Barfoo)`. */
const findOwner = (owner: Span | undefined, found: Iterable<ExtractedName>): ExtractedName | undefined =>
  owner && [...found].find(({ spans }) => spans.some(({ end }) => owner.start <= end && end <= owner.end));

/** Returns the name right before a span that is introduced as its alias. */
export const findAliasOwner = (
  candidates: NameCandidate[],
  { start, end }: Span,
  found: Iterable<ExtractedName>,
): ExtractedName | undefined =>
  findOwner(candidates.find(({ span, owner }) => owner && start <= span.start && span.start < end)?.owner, found);

/** Adds a form of a name that the text introduces as an alias. */
export function addAlias(owner: ExtractedName, { word, span }: { word: string; span: Span }): void {
  const isKnown = [owner.name, ...owner.aliases].some((name) => nameKey(name) === nameKey(word));
  if (!isKnown) owner.aliases = [...owner.aliases, word];
  if (!owner.printed.includes(word)) owner.printed.push(word);
  if (owner.spans.length < spansMax) owner.spans.push(span);
}

/** Adds the unknown names that a text introduces as aliases of a name: `Foobar (also known as Barfoo)`. */
export function addStatedAliases(candidates: NameCandidate[], found: Map<string, ExtractedName>): void {
  const known = new Set(
    [...found.values()].flatMap(({ name, aliases, printed }) => [name, ...aliases, ...printed].map(nameKey)),
  );
  for (const { printed: word, span, owner } of candidates) {
    const name =
      !known.has(nameKey(word)) && (isDistinctive(word) || isTitled(word)) && findOwner(owner, found.values());
    if (name) addAlias(name, { word, span });
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
  candidates: NameCandidate[],
  found: Map<string, ExtractedName>,
  isDesignation: (name: string) => boolean,
): void {
  for (const [key, name] of found) {
    if (name.ambiguous || name.printed.some(isDesignation)) continue;
    const others = [...found.values()].filter((other) => other !== name);
    const owners = name.spans.map((span) => findAliasOwner(candidates, span, others));
    const [owner] = owners;
    if (!owner || owners.some((one) => one !== owner)) continue;
    for (const word of [...name.printed, name.name]) addAlias(owner, { word, span: name.spans[0]! });
    found.delete(key);
  }
}
