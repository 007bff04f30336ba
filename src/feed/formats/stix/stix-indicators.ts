import { asObject, asText, asTexts, isObject, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { toStorableText } from '../../../platform/lib/text/storable-text.ts';
import type { ClassificationMapping } from '../../extraction/classification-builder.ts';
import { createStatementCollector, type IndicatorStatement } from '../../extraction/indicator-statements.ts';
import type { BenignLookup } from '../../extraction/indicators/assessment/benign-values.ts';
import { createObservable, type Observable } from '../../extraction/observable.ts';
import type { Iocs } from '../../model/item.schema.ts';
import { parseInstant, roundConfidence } from '../../model/source-record.ts';
import { type Comparison, type ObjectPath, type Observation, parsePattern } from './pattern.ts';
import { isRevoked, listRefs, readConfidence, type StixSourceObject } from './stix-objects.ts';
import { classifyProperty, isMispContext, isMispMember, readMispValues } from './stix-observables.ts';

type IndicatorContext = {
  reliability: number;
  benign: BenignLookup | undefined;
  publishTime: string | undefined;
  withdrawn: boolean;
  lastSightings: Map<string, string>;
  /** Makes the text in which the object states the value a supporting passage. */
  addEvidence: (object: StixSourceObject, value: string) => void;
};

const mappingMaxChars = 1_000;

/** The share of confidence for observations, which are not marked as malicious. */
const observationFactor = 0.5;

/** Returns the indicators of an item: the equality values of its patterns and the values of its observations. Other values become mappings. */
export function collectIndicators(
  members: StixSourceObject[],
  context: IndicatorContext,
): { iocs: Iocs; mappings: ClassificationMapping[] } {
  const collected = createStatementCollector(context.benign);
  const { mappings } = collected;
  const state = (member: StixSourceObject, observables: Observable[], statement: IndicatorStatement): void => {
    for (const observable of observables) {
      collected.state(observable, statement);
      if (observable.kind === 'indicator') context.addEvidence(member, observable.value);
    }
  };
  const observationByPart = new Map<string, StixSourceObject>();
  for (const member of members) {
    if (member.type !== 'observed-data') continue;
    const isContext = isMispContext(member);
    for (const ref of listRefs(member))
      if (!isContext || !observationByPart.has(ref)) observationByPart.set(ref, member);
  }
  const directories = findDirectories(members.map((member) => [member.id, member] as const));
  for (const member of members) {
    if (member.type === 'indicator') {
      const { observables, mapping } = readIndicator(member);
      const statement = toIndicatorStatement(member, context);
      state(member, observables, statement);
      if (mapping) mappings.push({ ...mapping, confidence: statement.confidence });
    } else if (isMispContext(member)) {
      continue;
    } else if (isMispMember(member)) {
      state(member, readMispValues(member), toObservationStatement(member, member, context));
    } else if (member.type === 'observed-data') {
      const embedded = embeddedObjects(member);
      const embeddedDirectories = findDirectories(embedded);
      for (const [id, object] of embedded)
        state(member, readObject(id, object, embeddedDirectories), toObservationStatement(member, object, context));
    } else if (member['created'] === undefined) {
      const observed = observationByPart.get(member.id) ?? member;
      if (isMispContext(observed)) continue;
      state(member, readObject(member.id, member, directories), toObservationStatement(observed, member, context));
    }
  }
  return { iocs: collected.iocs(context.publishTime), mappings };
}

/** Returns the values of a pattern. A pattern without values and one in another language become a mapping. */
function readIndicator(indicator: StixSourceObject): {
  observables: Observable[];
  mapping?: { framework: string; id: string };
} {
  const pattern = asText(indicator['pattern']);
  const language = asText(indicator['pattern_type'])?.toLowerCase() ?? 'stix';
  const name = (asText(indicator['name']) ?? indicator.id).slice(0, mappingMaxChars).toWellFormed();
  if (language !== 'stix')
    return { observables: [], mapping: { framework: `observable:${language.slice(0, 40)}`, id: name } };
  let observables: Observable[] = [];
  try {
    observables = pattern ? findPatternValues(pattern) : [];
  } catch {
    // An invalid pattern becomes a mapping.
  }
  if (observables.length > 0) return { observables };
  return {
    observables,
    mapping: { framework: 'observable:stix-pattern', id: (pattern ?? name).slice(0, mappingMaxChars).toWellFormed() },
  };
}

function toIndicatorStatement(indicator: StixSourceObject, context: IndicatorContext): IndicatorStatement {
  const words = [...asTexts(indicator['labels']), ...asTexts(indicator['indicator_types'])];
  return {
    revoked: context.withdrawn || isRevoked(indicator),
    falsePositive: words.some(isBenignWord) && !words.some(isMaliciousWord),
    confidence: roundConfidence(readOpenCtiScore(indicator) ?? readConfidence(indicator, context.reliability)),
    firstSeen: parseInstant(indicator['valid_from']),
    lastSeen: context.lastSightings.get(indicator.id),
    until: parseInstant(indicator['valid_until']),
    phishing: words.some((word) => /phish/i.test(word)),
  };
}

/** Returns the score of an indicator in OpenCTI (0 to 100), whose `confidence` is 0 unless somebody sets it. */
function readOpenCtiScore(indicator: StixSourceObject): number | undefined {
  const score = indicator['x_opencti_score'];
  return typeof score === 'number' && score >= 0 && score <= 100 ? score / 100 : undefined;
}

/**
 * Returns whether a word means that an indicator is harmless. The vocabulary of STIX 2.1 is `benign` and `malicious-activity`. Labels of
 * STIX 2.0 are free text.
 */
const isBenignWord = (word: string): boolean => /^(?:benign|false[- _]?positive)$/i.test(word.trim());
const isMaliciousWord = (word: string): boolean => /^malicious/i.test(word.trim());

/** A certificate expires with its validity. */
function toObservationStatement(
  observed: StixSourceObject,
  object: JsonObject,
  context: IndicatorContext,
): IndicatorStatement {
  return {
    revoked: context.withdrawn || isRevoked(observed),
    confidence: roundConfidence(readConfidence(observed, context.reliability) * observationFactor),
    firstSeen: parseInstant(observed['first_observed']),
    lastSeen: parseInstant(observed['last_observed']),
    until: parseInstant(object['validity_not_after']),
    phishing: false,
  };
}

/** STIX 2.0 embeds the observed objects. */
const embeddedObjects = (observed: StixSourceObject): [id: string, object: JsonObject][] =>
  Object.entries(asObject(observed['objects'])).filter((entry): entry is [string, JsonObject] => isObject(entry[1]));

/** Returns the paths of the directories in which files of the list are, by the id of the directory. */
function findDirectories(objects: (readonly [id: string, object: JsonObject])[]): Map<string, string> {
  const parents = new Set(objects.flatMap(([, object]) => asText(object['parent_directory_ref']) ?? []));
  return new Map(
    objects.flatMap(([id, object]) => {
      const path = object['type'] === 'directory' && parents.has(id) ? asText(object['path']) : undefined;
      return path ? [[id, path] as const] : [];
    }),
  );
}

/** Reads an observed object. A file gets the path of its directory, which then is not an observable itself. */
function readObject(id: string, object: JsonObject, directories: Map<string, string>): Observable[] {
  if (directories.has(id)) return [];
  const observables = readProperties(object);
  const [name, directory] = [asText(object['name']), directories.get(asText(object['parent_directory_ref']) ?? '')];
  if (object['type'] !== 'file' || !name || !directory) return observables;
  const path = createObservable('file_path', joinPath(directory, name));
  const others = observables.filter((one) => one.kind === 'other' || one.value !== name);
  return [path.kind === 'indicator' ? { ...path, value: name, correction: 'directory added' } : path, ...others];
}

const depthMax = 8;

/** Classifies every scalar property of an observed object by its path. */
function readProperties(object: JsonObject): Observable[] {
  const type = asText(object['type']) ?? '';
  const observables: Observable[] = [];
  const walk = (value: unknown, steps: string[]): void => {
    if (steps.length > depthMax) return;
    if (Array.isArray(value)) for (const part of value) walk(part, [...steps, '[*]']);
    else if (isObject(value)) for (const [name, part] of Object.entries(value)) walk(part, [...steps, name]);
    else if (steps.length > 0 && (typeof value === 'string' || typeof value === 'number')) {
      const text = asText(String(value));
      const observable = text === undefined ? undefined : classifyProperty(type, steps, text);
      if (observable) observables.push(observable);
    }
  };
  walk(object, []);
  return observables;
}

/**
 * Returns the values that a pattern tests for equality (`=` and `IN`, not negated, and `LIKE` without wildcards) as indicators or other observables,
 * and the networks that it tests addresses for (`ISSUBSET`). Wildcards, regular expressions and ranges are ignored. Throws an Error for an invalid
 * pattern.
 */
export function findPatternValues(pattern: string): Observable[] {
  const values: Observable[] = [];
  // Some exporters omit the brackets of a single observation.
  const isBare = !/^\s*[[(]/.test(pattern);
  const observations: Observation[] = [parsePattern(isBare ? `[${pattern}]` : pattern)];
  for (let next = observations.pop(); next; next = observations.pop()) {
    if (next.kind === 'observation') values.push(...findComparisonValues(next.comparison));
    else observations.push(...next.operands.toReversed());
  }
  return values;
}

function findComparisonValues(comparison: Comparison): Observable[] {
  switch (comparison.kind) {
    case 'exists':
      return [];
    case 'or':
      return comparison.operands.flatMap(findComparisonValues);
    case 'and': {
      const path = findFilePath(comparison.operands);
      const others = path ? comparison.operands.filter((one) => !path.tests.includes(one)) : comparison.operands;
      return [...(path ? [createObservable('file_path', path.value)] : []), ...others.flatMap(findComparisonValues)];
    }
    case 'test':
      return findTestValues(comparison);
  }
}

function findTestValues(test: Extract<Comparison, { kind: 'test' }>): Observable[] {
  const { path, negated, operator, values } = test;
  const isEquality = ['=', 'IN', 'ISSUBSET'].includes(operator);
  if (negated || !(isEquality || (operator === 'LIKE' && values.every(({ text }) => !/[%_]/.test(text))))) return [];
  const found = values
    .filter(({ kind, text }) => (kind === 'string' || kind === 'number') && text.trim() !== '')
    .map(({ text }) => classifyProperty(path.object, path.steps, toStorableText(text)))
    .filter((observable) => observable !== undefined);
  // Only ranges of addresses are values.
  return operator === 'ISSUBSET' ? found.filter(isAddressOrNetwork) : found;
}

/** Returns the path of a file whose name and directory are tested together. */
function findFilePath(operands: Comparison[]): { value: string; tests: Comparison[] } | undefined {
  const find = (path: string): { text: string; tests: Comparison[] } | undefined => {
    const tests = operands.filter((one) => one.kind === 'test' && toPathText(one.path) === path);
    const [test] = tests;
    const isOne = tests.length === 1 && test?.kind === 'test' && test.operator === '=' && !test.negated;
    return isOne && test.values[0]!.kind === 'string' ? { text: test.values[0]!.text, tests } : undefined;
  };
  const [name, directory] = [find('file:name'), find('file:parent_directory_ref.path')];
  if (!name || !directory || name.text.trim() === '' || directory.text.trim() === '') return undefined;
  return { value: joinPath(directory.text, name.text), tests: [...name.tests, ...directory.tests] };
}

/** Returns the path of a file in a directory of Windows (`C:`, `%TEMP%`) or another system. */
const joinPath = (directory: string, name: string): string =>
  `${directory.replace(/[/\\]$/, '')}${windowsDirectory.test(directory) ? '\\' : '/'}${name}`;

const windowsDirectory = /\\|^[a-z]:$|^%[^%/]+%$/i;

const toPathText = ({ object, steps }: ObjectPath): string => `${object}:${steps.join('.')}`;

const isAddressOrNetwork = (observable: Observable): boolean =>
  observable.kind === 'other' ? observable.framework === 'observable:cidr' : observable.type.startsWith('ipv');
