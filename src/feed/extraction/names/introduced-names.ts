import { nameKey } from '../../reference-data/name-forms.ts';
import type { Span } from '../text/stored-text.ts';
import { addName, type ExtractedName } from './extracted-name.ts';
import { addAlias, findAliasOwner, findGluedName } from './name-aliases.ts';
import type { NameDictionary, NameKind } from './dictionary/name-dictionary.ts';
import type { NameMention, StatedKinds } from './name-kinds.ts';
import type { NameCandidate } from './name-candidates.ts';
import { distinctEntities, resolveName } from './dictionary/resolve-name.ts';
import { getShippedModel, scoreLabels } from '../classifier/linear-model.ts';
import { cue } from '../lexicon/lexicon.ts';
import { findMatches } from '../text/find-matches.ts';

/** Counts how often a text states that a name is an actor, and that it is software. */
export function countStatedKinds(names: NewName[]): StatedKinds {
  const counts = new Map<string, { actor: number; software: number }>();
  for (const { kind, name, isStated } of names) {
    if (!isStated) continue;
    const key = nameKey(name);
    const count = counts.get(key) ?? { actor: 0, software: 0 };
    counts.set(key, count);
    count[kind === 'actor' ? 'actor' : 'software'] += 1;
  }
  return counts;
}

/** Returns the new names that can contain another name: those of several words. */
export const listLongerNames = (names: NewName[]): NewName[] => names.filter(({ name }) => name.includes(' '));

/**
 * Returns whether a mention is only a word of a longer new name: `Ursa` of `Pensive Ursa`, `Lynx` of `Foobar Lynx`. Without a naming scheme,
 * only everyday words are.
 */
export const isPartOfName = (text: string, { word, span, entry }: NameMention, longer: NewName[]): boolean =>
  longer.some(({ name, span: whole, isScheme }) => {
    const isInside = whole.start <= span.start && span.end <= whole.end;
    if (isScheme) return isInside && whole.end - whole.start > span.end - span.start;
    const at = entry?.needsCue ? name.lastIndexOf(word) : -1;
    return at > 0 && text.startsWith(name, span.start - at);
  });

/**
 * Returns the names with one kind for each: the one that the text states more often, else the one that it uses first. The names of ransomware
 * stay both, because their gangs have them, too.
 */
function chooseKinds(names: NewName[], text: string): NewName[] {
  const byKey = Map.groupBy(names, ({ name }) => nameKey(name));
  return names.filter((one) => {
    const same = byKey.get(nameKey(one.name))!;
    if (same.every(({ kind }) => kind === one.kind) || same.some(({ span }) => isRansomware(text, span.end)))
      return true;
    // Malware and tools count as one kind, software.
    const [actors, software] = [same.filter(isActor), same.filter((name) => !isActor(name))];
    const [actorWeight, softwareWeight] = [weigh(actors), weigh(software)];
    const isMoreOftenActor = actorWeight === softwareWeight ? isActor(same[0]!) : actorWeight > softwareWeight;
    return isActor(one) === isMoreOftenActor;
  });
}

const isActor = ({ kind }: NewName): boolean => kind === 'actor';
const weigh = (names: NewName[]): number => names.reduce((sum, { isStated }) => sum + (isStated ? 2 : 1), 0);

const isRansomware = (text: string, end: number): boolean => /^["”’']? ransomware\b/i.test(text.slice(end, end + 14));

/** Adds the names that the text introduces: those that no list has, and those of a list that count only where the text says what they are. */
export function addNewNames(
  text: string,
  introduced: NewName[],
  {
    candidates,
    dictionary,
    found,
  }: { candidates: NameCandidate[]; dictionary: NameDictionary; found: Map<string, ExtractedName> },
): void {
  const knownKeys = new Set([...found.values()].flatMap(({ name, printed }) => [name, ...printed].map(nameKey)));
  const known = [...found.values()].flatMap(({ spans }) => spans);
  for (const { kind, name, span, isStated } of chooseKinds(introduced, text)) {
    const key = nameKey(name);
    const listed = dictionary.get(key);
    if (
      knownKeys.has(key) ||
      (listed && !isStated) ||
      (crew.test(name) && dictionary.has(nameKey(name.replace(crew, ''))))
    )
      continue;
    if (isInsideKnown(span, known) || isGlued(name, dictionary)) continue;
    const owner = findAliasOwner(candidates, span, found.values());
    const entities = listed
      ? distinctEntities(listed.entities).filter((one) => (one.kind === 'actor') === (kind === 'actor'))
      : [resolveName(kind, name, { dictionary }) ?? []].flat();
    if (owner) addAlias(owner, { word: name, span });
    else
      addName(
        entities.length === 1 ? entities[0]! : { kind, name, aliases: [] },
        { word: name, span, confidence: newNameConfidence },
        found,
      );
  }
}

/** Returns whether a new name is only a word of a known one: `Basta` of `Black Basta malware`. */
const isInsideKnown = ({ start, end }: Span, known: Span[]): boolean =>
  known.some((one) => one.start <= start && end <= one.end && one.end - one.start > end - start);

/** Returns whether a page has joined a name with the word before it: `SharesFoobar`. */
const isGlued = (name: string, dictionary: NameDictionary): boolean =>
  name.split(' ').some((word, index, all) => findGluedName([word, all[index + 1] ?? ''], dictionary) !== undefined);

const newNameConfidence = 0.55;
const crew = / (?:Gang|Crew|Cartel)$/;

/**
 * A name that a text introduces, whether or not a list has it. `isStated`: the classifier is sure of it. `isScheme`: the name follows a
 * publisher's naming scheme.
 */
type NewName = { kind: NameKind; name: string; span: Span; isStated: boolean; isScheme?: boolean };

/** The margins from which a candidate is a name, and from which its kind is sure. */
const [least, sure] = [0.4, 0.6];
const namesMax = 200;

/** Returns the names among the candidates of a text, by its words around them, and those of naming schemes. */
export function findNewNames(text: string, candidates: NameCandidate[]): NewName[] {
  const model = getShippedModel('names');
  const margins = new Float32Array(model.labels.length);
  const names = candidates.flatMap(({ printed, span, features }): NewName[] => {
    if (!features) return [];
    scoreLabels(model, features, margins);
    const best = Math.max(...margins);
    const kind = model.labels[margins.indexOf(best)] as NameKind;
    return best < least ? [] : [{ kind, name: printed, span, isStated: best >= sure }];
  });
  const ofSchemes = findMatches(cue('actorSchemes', 'g'), text).map(({ 0: name, index: start }): NewName => ({
    kind: 'actor',
    name,
    span: { start, end: start + name.length },
    isStated: true,
    isScheme: true,
  }));
  return [...names.slice(0, namesMax), ...ofSchemes];
}
