import { findSentences, sentenceMaxChars } from '../../extraction/text/sentence-spans.ts';
import type { FeedItem, Indicator } from '../../model/item.schema.ts';
import { buckets } from '../../model/vocabulary.ts';
import {
  type Entity,
  listEntityForms,
  createMentionFinder,
  type MentionFinder,
  createSectionTracker,
  soleName,
} from './find-mentions.ts';
import { readForwardReferences, createReferenceTracker, type ReferenceTracker } from './references.ts';
import { readStatements } from './read-statements.ts';
import { isDoubtful, type StatedType } from './relationship-cues.ts';

/** An entity, the id of a technique, or `type value` of an indicator. */
export type RelationshipEnd = Entity | { kind: 'technique' | 'indicator'; name: string };
/** `passage` is the text that states it. */
export type Relationship = {
  type: StatedType | 'indicates';
  source: RelationshipEnd;
  target: RelationshipEnd;
  passage: string;
};

export const toIndicatorName = ({ type, normalizedValue }: Indicator): string => `${type} ${normalizedValue}`;

/** The part of a text that states its relationships. */
export const textMaxChars = 300_000;
const passageMaxChars = 1_000;
const relationshipsMax = 5_000;

/**
 * Returns the relationships that the text of an item states: in one sentence with a verb between two names (or with
 * `the group` and similar words for the actor or malware of the sentences before), in one sentence, row or record
 * with an indicator and one name, in a list under a heading with one name, and in the passage of a technique. The first passage counts.
 * Reads the first 300,000 characters and returns up to 5,000 relationships.
 */
export function findRelationships(item: FeedItem, storedText: string): Relationship[] {
  const language = item.source.language ?? 'en';
  const entities = listEntityForms(item, language);
  if (entities.length === 0) return [];
  const found = new Map<string, Relationship>();
  const add = ({ passage, ...relationship }: Relationship): void => {
    const key = JSON.stringify(relationship);
    if (found.has(key) || found.size >= relationshipsMax) return;
    found.set(key, { ...relationship, passage: passage.trim().slice(0, passageMaxChars).toWellFormed() });
  };
  const reader: Reader = {
    find: createMentionFinder(entities),
    indicators: indexIndicators(item),
    add,
    isForeign: language !== 'en',
  };
  addTechniques(item, reader);
  addLines(`${item.event.title}\n\n${storedText.slice(0, textMaxChars)}`, reader);
  return [...found.values()];
}

type Reader = {
  find: MentionFinder;
  indicators: Map<string, Indicator>;
  add: (relationship: Relationship) => void;
  /** The text is not in English. */
  isForeign: boolean;
};

function addTechniques({ classification, provenance }: FeedItem, { find, add }: Reader): void {
  for (const { technique, subTechnique, evidenceRef } of classification.attack) {
    const passage = provenance.supportingPassages[Number(/\d+/.exec(evidenceRef)?.[0])]?.text;
    if (passage === undefined || isDoubtful(passage)) continue;
    const mentions = find(passage);
    const actor = soleName(mentions.filter(({ kind }) => kind === 'actor'));
    const source = actor ?? soleName(mentions);
    if (source === undefined || source === 'several' || source.kind === 'tool') continue;
    add({ type: 'uses', source, target: { kind: 'technique', name: subTechnique ?? technique }, passage });
  }
}

function addLines(text: string, reader: Reader): void {
  const sections = createSectionTracker();
  const references = createReferenceTracker(reader.isForeign);
  let record = emptyRecord('');
  const lines = text.split('\n').map((line) => ({ line, sentences: splitSentences(line) }));
  for (const [index, { line, sentences }] of lines.entries()) {
    references.readLine(line);
    const following = [...sentences, lines[index + 1]?.sentences[0] ?? ''].slice(1);
    const hasIndicator = sentences
      .map((sentence, at) => addSentence({ sentence, next: following[at]! }, references, reader))
      .includes(true);
    const mentions = line.length <= 300 ? reader.find(line) : [];
    sections.read(line, mentions, hasIndicator);
    if (hasIndicator) addListed(line, sections.current(), reader);
    const path = recordPath(line);
    if (path !== record.path) {
      addRecord(record, reader);
      record = emptyRecord(path);
    }
    if (path !== '' && (hasIndicator || mentions.length > 0)) record.lines.push(line);
  }
  addRecord(record, reader);
}

/** Returns the sentences of a line, or its beginning if all of them are too short to count as sentences. */
const splitSentences = (line: string): string[] => {
  const sentences = findSentences(line);
  return sentences.length > 0 ? sentences.map(({ text }) => text) : [line.slice(0, sentenceMaxChars).toWellFormed()];
};

/** Adds what a sentence states. `next` is the sentence after it. Returns whether it contains an indicator. */
function addSentence(
  { sentence, next }: { sentence: string; next: string },
  references: ReferenceTracker,
  { find, indicators, add, isForeign }: Reader,
): boolean {
  const values = findIndicators(sentence, indicators);
  const mentions = find(sentence);
  const clauses = sentence.split(/(?<=;) /);
  for (const [index, clause] of clauses.entries()) {
    const referred = references.resolve(clause, clauses.length > 1 ? find(clause) : mentions);
    const named = [
      ...referred,
      ...readForwardReferences({ sentence: clause, mentions: referred }, clauses[index + 1] ?? next, find),
    ];
    for (const statement of readStatements(clause, named, isForeign)) add({ ...statement, passage: sentence });
  }
  const target = soleName(mentions);
  if (target && target !== 'several' && !isDoubtful(sentence))
    for (const source of values) add({ type: 'indicates', source, target, passage: sentence });
  return values.length > 0;
}

/** Adds the values of a list or table under a heading with a name. */
function addListed(line: string, section: { heading: string; name: Entity } | undefined, reader: Reader): void {
  if (!section || !isListLine(line) || reader.find(line).length > 0 || isDoubtful(line)) return;
  for (const source of findIndicators(line, reader.indicators))
    reader.add({ type: 'indicates', source, target: section.name, passage: `${section.heading}\n${line.trim()}` });
}

const isListLine = (line: string): boolean =>
  /^\s*[-*•|>]|[|\t]/.test(line) || !/\S\s+\S+\s+\S+\s+\S/.test(line.trim());

/** Lines of one element of a structured record, such as `Attribute[3].value: …` and `Attribute[3].Tag[0].name: …`. */
type RecordLines = { path: string; lines: string[] };
const emptyRecord = (path: string): RecordLines => ({ path, lines: [] });
const recordPath = (line: string): string => /^(?:\w+\[\d+\]\.)?\w+\[\d+\](?=\.[\w[\].]*: )/.exec(line)?.[0] ?? '';

function addRecord({ lines }: RecordLines, { find, indicators, add }: Reader): void {
  if (lines.length < 2) return;
  const target = soleName(lines.flatMap(find));
  if (target === undefined || target === 'several' || lines.some((line) => isDoubtful(line))) return;
  for (const source of lines.flatMap((line) => findIndicators(line, indicators)))
    add({ type: 'indicates', source, target, passage: lines.join('\n') });
}

/** Indexes the active and expired indicators by their forms in the text. */
function indexIndicators({ iocs }: FeedItem): Map<string, Indicator> {
  const usable = buckets
    .flatMap((bucket) => iocs[bucket])
    .filter(({ status }) => status === 'active' || status === 'expired');
  return new Map(
    usable.flatMap((indicator) =>
      [indicator.value, indicator.normalizedValue].map((form) => [form.toLowerCase(), indicator] as const),
    ),
  );
}

/** Returns the indicators among the words and cells of a line. */
function findIndicators(line: string, indicators: Map<string, Indicator>): RelationshipEnd[] {
  if (indicators.size === 0) return [];
  const found = new Set<Indicator>();
  for (const token of line.toLowerCase().split(/[\s,;|"'`<>]+/)) {
    const indicator = indicators.get(token) ?? indicators.get(token.replaceAll(/^[([{*]+|[)\]}*.:?!]+$/g, ''));
    if (indicator) found.add(indicator);
  }
  return [...found].map((indicator) => ({ kind: 'indicator', name: toIndicatorName(indicator) }));
}
