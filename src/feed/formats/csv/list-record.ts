import { createHash } from 'node:crypto';
import { ttlDays } from '../../model/expiry.ts';
import type { Classification, Indicator, Iocs } from '../../model/item.schema.ts';
import type { ValueNames } from '../../model/value-names.ts';
import { toComparisonKey } from '../../model/values/normalize.ts';
import { type Tlp } from '../../model/vocabulary.ts';
import {
  createClassificationBuilder,
  type ClassificationBuilder,
  type ClassificationMapping,
} from '../../extraction/classification-builder.ts';
import { addProseNames } from '../../extraction/names/add-prose-names.ts';
import { findBenignReason } from '../../extraction/indicators/assessment/benign-values.ts';
import { toMappingId, type IndicatorObservable, type Observable } from '../../extraction/observable.ts';
import { isGenericName } from '../../extraction/names/generic-names.ts';
import type { NameDictionary } from '../../extraction/names/dictionary/name-dictionary.ts';
import { findTaggedName } from '../../extraction/names/dictionary/resolve-name.ts';
import { createPassageCollector, type PassageCollector } from '../../extraction/text/passage-collector.ts';
import type { Span } from '../../extraction/text/stored-text.ts';
import { findTechnique } from '../../reference-data/attack.ts';
import { roundConfidence, emptyIocs, type SourceRecord } from '../../model/source-record.ts';
import { strictestTlp } from '../record-fields.ts';
import type { ParseContext } from '../source-format.ts';
import { toLine, type ListLine, type ListRow } from './list-row.ts';
import { indicatorTypes } from '../../model/values/indicator-types.ts';

type IndicatorList = {
  recordId: string;
  title: string;
  lines: ListLine[];
  /** The date that the list states, for rows without a date of their own. */
  date: string | undefined;
  /** The marking of the whole list. */
  tlp: Tlp | undefined;
  /** Whether all rows are about phishing. */
  isPhishing: boolean;
};

const malwareMax = 100;
/** Longer lines are not passages as a whole. */
const passageMaxChars = 1_000;

/** Returns the record of a list or a part of it. Every indicator has its line as supporting passage. */
export function toListRecord(list: IndicatorList, context: ParseContext): SourceRecord {
  const storedText = list.lines.map(({ text }) => text).join('\n');
  const passages = createPassageCollector(storedText);
  const contents = createContents(context, passages);
  const rowContext = { list, context, contents };
  let offset = 0;
  for (const line of list.lines) {
    addRow(line, offset, rowContext);
    offset += line.text.length + 1;
  }
  addDescribedNames(list, contents.classification, context);
  passages.cover(contents.spans);
  const { classification: named, attackPath } = contents.classification.build([]);
  removeSharedNames(contents.iocs, named);
  return {
    recordId: list.recordId,
    canonicalKey: toCanonicalKey(list.title, storedText),
    title: list.title,
    tlp: strictestTlp([list.tlp ?? [], list.lines.flatMap(({ row }) => row.tlp ?? [])].flat()),
    withdrawn: false,
    severity: 'none',
    severityRule: 'none',
    attackPath,
    classification: {
      ...named,
      malware: named.malware.slice(0, malwareMax),
      mappings: [...contents.mappings.values(), ...named.mappings],
    },
    affectedProducts: [],
    iocs: contents.iocs,
    storedText,
    passages: passages.list(),
  };
}

const toCanonicalKey = (title: string, storedText: string): string =>
  `txt:${createHash('sha256')
    .update(JSON.stringify([title, storedText]))
    .digest('hex')}`;

/** The contents of the rows of a list. */
type ListContents = {
  iocs: Iocs;
  /** The indicators of `iocs` by type and the form in which values are compared. */
  known: Map<string, Indicator>;
  /** Observables without an indicator type, by framework and value. */
  mappings: Map<string, ClassificationMapping>;
  classification: ClassificationBuilder;
  /** The place of each indicator in the stored text. */
  spans: Span[];
  passages: PassageCollector;
};

const createContents = ({ lists }: ParseContext, passages: PassageCollector): ListContents => ({
  iocs: emptyIocs(),
  known: new Map(),
  mappings: new Map(),
  classification: createClassificationBuilder(lists?.names),
  spans: [],
  passages,
});

type RowContext = { list: IndicatorList; context: ParseContext; contents: ListContents };

/** Adds the observables of a row, and its names and techniques if one of them is an indicator. `offset` is the start of its line in the stored text. */
function addRow({ text: line, row }: ListLine, offset: number, { list, context, contents }: RowContext): void {
  const confidence = row.confidence ?? roundConfidence(context.reliability);
  const locate = (value: string): Span => {
    const { start, end } = locateInLine(line, value);
    return { start: offset + start, end: offset + end };
  };
  const named = row.observables.some(({ kind }) => kind === 'indicator')
    ? addNames(contents.classification, row, { confidence, names: context.lists?.names })
    : {};
  let hasIndicator = false;
  for (const observable of row.observables) {
    if (observable.kind === 'other') {
      addMapping(contents.mappings, observable, confidence);
      continue;
    }
    hasIndicator = true;
    const key = toComparisonKey(observable);
    const known = contents.known.get(key);
    if (known) {
      widenTimeRange(known, row);
      mergeNames(known, named);
      if (known.status === 'revoked' && !row.isRevoked) known.status = 'active';
      continue;
    }
    const indicator = { ...toIndicator(observable, row, { confidence, list, context }), ...named };
    contents.known.set(key, indicator);
    contents.iocs[indicatorTypes[observable.type].bucket].push(indicator);
    contents.spans.push(locate(observable.value));
  }
  if (!hasIndicator) return;
  for (const id of row.techniques ?? []) {
    const technique = findTechnique(id);
    if (technique) contents.classification.addTechnique(technique, confidence, () => contents.passages.add(locate(id)));
    // A technique of another matrix, or one that no longer exists.
    else contents.classification.addMapping('observable:attack-pattern', id.toUpperCase(), confidence);
  }
}

function addMapping(
  mappings: Map<string, ClassificationMapping>,
  observable: Extract<Observable, { kind: 'other' }>,
  confidence: number,
): void {
  mappings.set(`${observable.framework} ${observable.value}`, {
    framework: observable.framework,
    id: toMappingId(observable).slice(0, 500).toWellFormed(),
    confidence,
  });
}

/** Adds the malware and actors of a row, including known names in its tags, and returns them. `Unknown malware` is no name. */
function addNames(
  classification: ClassificationBuilder,
  { tags = [], actors = [], malware }: ListRow,
  { confidence, names }: { confidence: number; names: NameDictionary | undefined },
): ValueNames {
  const stated = [
    ...tags.flatMap((tag) => findTaggedName(tag, names) ?? []),
    ...actors.filter(Boolean).map((name) => ({ kind: 'actor' as const, name })),
    ...(malware && !isGenericName(malware) ? [{ kind: 'malware' as const, name: malware }] : []),
  ];
  const found = { malware: new Set<string>(), actor: new Set<string>() };
  for (const { kind, name } of stated)
    found[kind === 'actor' ? 'actor' : 'malware'].add(classification.addName(kind, name, confidence));
  const toList = (list: Set<string>): string[] => [...list].filter(Boolean).slice(0, valueNamesMax);
  return {
    ...(found.malware.size > 0 ? { malware: toList(found.malware) } : {}),
    ...(found.actor.size > 0 ? { actor: toList(found.actor) } : {}),
  };
}

const valueNamesMax = 10;

/** Adds the names of a further row with the same value. */
function mergeNames(known: Indicator, named: ValueNames): void {
  for (const list of ['malware', 'actor'] as const)
    if (named[list]) known[list] = [...new Set([...(known[list] ?? []), ...named[list]])].slice(0, valueNamesMax);
}

/** Removes the names of values that are the same for the whole list. */
function removeSharedNames(iocs: Iocs, classification: Classification): void {
  const indicators = Object.values(iocs).flat();
  for (const list of ['malware', 'actor'] as const)
    if (classification[list].length <= 1 && indicators.every((indicator) => indicator[list]))
      for (const indicator of indicators) delete indicator[list];
}

const descriptionsMaxChars = 6_000;

/** Adds the names and CVEs in the title of a list and the descriptions of its rows, each of which is read once. */
function addDescribedNames(
  { title, lines }: IndicatorList,
  classification: ClassificationBuilder,
  { lists, reliability }: ParseContext,
): void {
  const descriptions = new Set(lines.flatMap(({ row }) => row.description ?? []));
  if (descriptions.size === 0) return;
  const text = [title, ...descriptions].join('\n').slice(0, descriptionsMaxChars);
  addProseNames(classification, text, lists?.names);
  for (const [cve] of text.matchAll(/\bCVE-\d{4}-\d{4,7}\b/gi))
    classification.addMapping('cve', cve.toUpperCase(), reliability);
}

/** Returns the span of a line, or of the value alone in a long one. */
function locateInLine(line: string, value: string): Span {
  const stored = toLine(value);
  const start = line.length <= passageMaxChars ? -1 : line.indexOf(stored);
  return start < 0 ? { start: 0, end: line.length } : { start, end: start + stored.length };
}

function toIndicator(
  { type, value, normalizedValue, correction }: IndicatorObservable,
  row: ListRow,
  { confidence, list, context: { lists, now } }: { confidence: number; list: IndicatorList; context: ParseContext },
): Indicator {
  const lastSeen = row.lastSeen ?? row.firstSeen ?? list.date;
  const isHarmless = row.isBenign || findBenignReason(type, normalizedValue, lists?.benign) !== undefined;
  // Without a date, the lifetime begins with the pull.
  const from = lastSeen === undefined ? now?.getTime() : Date.parse(lastSeen);
  const validity = from !== undefined && row.validUntil ? { from, until: Date.parse(row.validUntil) } : {};
  return {
    type,
    value,
    normalizedValue,
    status: isHarmless ? 'false_positive' : row.isRevoked ? 'revoked' : 'active',
    confidence,
    ...(row.firstSeen ? { firstSeen: row.firstSeen } : {}),
    ...(lastSeen ? { lastSeen } : {}),
    ttlDays: ttlDays(type, { phishing: list.isPhishing || row.phishing === true, ...validity }),
    ...(correction ? { correction } : {}),
  };
}

function widenTimeRange(known: Indicator, { firstSeen, lastSeen = firstSeen }: ListRow): void {
  if (firstSeen && (known.firstSeen ?? '9') > firstSeen) known.firstSeen = firstSeen;
  if (lastSeen && (known.lastSeen ?? '') < lastSeen) known.lastSeen = lastSeen;
}
