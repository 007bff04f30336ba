import type { Entity } from './entity.ts';
import type { Mention } from './find-mentions.ts';
import { foreignActorWords, foreignMalwareWords } from './foreign-references.ts';
import { isListGap } from './relationship-cues.ts';
import {
  actorWords,
  anotherActor,
  anotherMalware,
  malwareWords,
  possessions,
  pronouns,
  subjectless,
  vulnerabilityWords,
  type ReferenceWords,
} from './reference-words.ts';

/** Follows which actors and which malware the sentences of a text are about. */
export type ReferenceTracker = {
  /** Returns the mentions of a sentence with those of `the group` and `the malware`, which refer to the name mentioned last. */
  resolve: (sentence: string, mentions: Mention[]) => Mention[];
  /** Forgets the names at the title of another story. */
  readLine: (line: string) => void;
};

/** How many sentences after its name a pronoun can refer to an actor or malware. */
const sentencesMax = 5;

type Kind = 'actor' | 'malware' | 'vulnerability';

/** `isForeign`: the text is not in English. */
export function createReferenceTracker(isForeign: boolean): ReferenceTracker {
  const actor = createTopic(['actor'], { another: anotherActor });
  const malware = createTopic(['malware'], { another: anotherMalware });
  const vulnerability = createTopic(['vulnerability']);
  const sole = createTopic(['actor', 'malware'], { isSole: true });
  const topics = [actor, malware, vulnerability, sole];
  const byKind = { actor, malware, vulnerability };
  return {
    resolve: (sentence, mentions) => {
      const [actors, families, flaws, only] = topics.map((topic) => topic.read(sentence, mentions));
      const byActor = refer(sentence, actors!, isForeign ? foreignActorWords : actorWords);
      const references = [
        ...(byActor.length > 0 ? byActor : refer(sentence, actors!, { one: subjectless })),
        ...refer(sentence, families!, isForeign ? foreignMalwareWords : malwareWords),
        ...referToFlaws(sentence, flaws!, mentions),
        ...refer(sentence, only!, pronouns),
        ...(byActor.length > 0 ? [] : refer(sentence, actors!.length === 1 ? actors! : only!, possessions)),
      ];
      for (const { kind } of references) byKind[kind as Kind].touch();
      return references.length === 0 ? mentions : [...mentions, ...references].toSorted((a, b) => a.start - b.start);
    },
    readLine: (line) => {
      if (isTitle(line)) for (const topic of topics) topic.forget();
    },
  };
}

/** A short line without a mark of lists and headings and without an end of a sentence. */
const isTitle = (line: string): boolean => /^[\p{L}\p{N}“"'‘][^|\t:]{8,140}[^.:;,!?…|\s]$/u.test(line.trim());

type Topic = {
  /** Returns the names that a sentence may refer to. A sentence that names one of these kinds refers to none but by a pronoun. */
  read: (sentence: string, mentions: Mention[]) => Entity[];
  forget: () => void;
  /** Keeps the names for further sentences. */
  touch: () => void;
};

/**
 * `isSole`: for pronouns. A sentence with several names leaves none to refer to. `another`: words for one without a name, of which the next sentences
 * are.
 */
function createTopic(kinds: Kind[], { isSole = false, another }: { isSole?: boolean; another?: RegExp } = {}): Topic {
  let last: Entity[] = [];
  let age = 0;
  return {
    read: (sentence, mentions) => {
      const named = mentions.filter(({ kind }) => kinds.some((one) => one === kind));
      age += 1;
      if (named.length === 0 && another?.test(sentence)) last = [];
      const earlier = age <= sentencesMax ? last : [];
      if (named.length === 0) return earlier;
      age = 0;
      const names = leadingNames(sentence, named);
      last = isSole && named.some(({ name }) => name !== names[0]!.name) ? [] : names;
      return isSole ? earlier : [];
    },
    forget: () => {
      last = [];
    },
    touch: () => {
      age = 0;
    },
  };
}

/** Returns the first name of a sentence with those that form a list with it, without its aliases: `Foobar (aka Barfoo)`. */
function leadingNames(sentence: string, mentions: Mention[]): Entity[] {
  const names = new Map<string, Entity>();
  let edge: number | undefined;
  for (const { kind, name, start, end } of mentions) {
    const gap = edge === undefined ? undefined : sentence.slice(edge, start);
    if (gap !== undefined && !names.has(name) && (isAlias.test(gap) || !isListGap(gap))) break;
    names.set(name, { kind, name });
    edge = end;
  }
  return [...names.values()];
}
const isAlias = /\b(?:aka|a\.k\.a|known as|tracked as|tracks|calls|formerly|alias(?:es)?)\b|^ ?\(/;

/** Returns mentions at `the flaw`, which refers to the CVE of an earlier sentence, or else to one before it in the same sentence. */
function referToFlaws(sentence: string, earlier: Entity[], mentions: Mention[]): Mention[] {
  if (earlier.length > 0) return refer(sentence, earlier, vulnerabilityWords);
  const flaws = mentions.filter(({ kind }) => kind === 'vulnerability');
  const names = new Map(flaws.map(({ kind, name }) => [name, { kind, name }]));
  return refer(sentence, [...names.values()], vulnerabilityWords).filter(({ start }) => start > flaws.at(-1)!.end);
}

/** Returns mentions of names at the words that refer to them. */
function refer(sentence: string, names: Entity[], { one, any }: ReferenceWords): Mention[] {
  if (names.length === 0) return [];
  const match = any?.exec(sentence) ?? (names.length === 1 ? one.exec(sentence) : null);
  if (!match) return [];
  const end = match.index + match[0].trimEnd().length;
  return names.map((name) => ({ ...name, start: match.index, end }));
}
