import type { Iocs } from '../../model/item.schema.ts';
import type { ClassificationMapping } from '../../extraction/classification-builder.ts';
import { isObject, asText, asTexts, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import type { Observable } from '../../extraction/observable.ts';
import { createStatementCollector, type IndicatorStatement } from '../../extraction/indicator-statements.ts';
import { roundConfidence, parseInstant } from '../../model/source-record.ts';
import { classifyProperty } from './stix-observables.ts';
import { readConfidence, isRevoked, type StixSourceObject } from './stix-objects.ts';
import { findPatternValues } from './patterns/pattern-values.ts';

type Given = {
  reliability: number;
  publishTime: string | undefined;
  withdrawn: boolean;
  lastSightings: Map<string, string>;
  /** Makes the place where the object states the value a passage. */
  prove: (object: StixSourceObject, value: string) => void;
};

const mappingMaxChars = 1_000;

/** Seen without being called bad: an observation alone is worth half of what an indicator is. */
const observedWorth = 0.5;

/** The indicators of an item: equality values of its patterns, and what its observations hold. What has no class becomes a mapping. */
export function collectIndicators(
  members: StixSourceObject[],
  given: Given,
): { iocs: Iocs; mappings: ClassificationMapping[] } {
  const collected = createStatementCollector();
  const { mappings } = collected;
  const state = (member: StixSourceObject, observables: Observable[], statement: IndicatorStatement): void => {
    for (const observable of observables) {
      collected.state(observable, statement);
      if (observable.kind === 'indicator') given.prove(member, observable.value);
    }
  };
  const partsOfObservations = new Map<string, StixSourceObject>();
  for (const member of members) {
    if (member.type === 'observed-data' && Array.isArray(member['object_refs']))
      for (const ref of member['object_refs']) if (typeof ref === 'string') partsOfObservations.set(ref, member);
  }
  for (const member of members) {
    if (member.type === 'indicator') {
      const { observables, mapping } = readIndicator(member);
      const statement = statementOf(member, given);
      state(member, observables, statement);
      if (mapping) mappings.push({ ...mapping, confidence: statement.confidence });
    } else if (member.type === 'observed-data') {
      for (const object of embeddedObjects(member))
        state(member, propertiesOf(object), observationOf(member, object, given));
    } else if (member['created'] === undefined) {
      const observed = partsOfObservations.get(member.id) ?? member;
      state(member, propertiesOf(member), observationOf(observed, member, given));
    }
  }
  return { iocs: collected.iocs(given.publishTime), mappings };
}

/** What a pattern holds; a pattern that names no value, and one in another language, stays visible as a mapping. */
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
    // A pattern that cannot be read is shown as it is; the item stands without it.
  }
  if (observables.length > 0) return { observables };
  return {
    observables,
    mapping: { framework: 'observable:stix-pattern', id: (pattern ?? name).slice(0, mappingMaxChars).toWellFormed() },
  };
}

function statementOf(indicator: StixSourceObject, given: Given): IndicatorStatement {
  const words = [...asTexts(indicator['labels']), ...asTexts(indicator['indicator_types'])];
  return {
    revoked: given.withdrawn || isRevoked(indicator),
    confidence: roundConfidence(readConfidence(indicator, given.reliability)),
    firstSeen: parseInstant(indicator['valid_from']),
    lastSeen: given.lastSightings.get(indicator.id),
    until: parseInstant(indicator['valid_until']),
    phishing: words.some((word) => /phish/i.test(word)),
  };
}

/** A certificate is worth watching for as long as it is valid. */
function observationOf(observed: StixSourceObject, object: JsonObject, given: Given): IndicatorStatement {
  return {
    revoked: given.withdrawn || isRevoked(observed),
    confidence: roundConfidence(readConfidence(observed, given.reliability) * observedWorth),
    firstSeen: parseInstant(observed['first_observed']),
    lastSeen: parseInstant(observed['last_observed']),
    until: parseInstant(object['validity_not_after']),
    phishing: false,
  };
}

/** STIX 2.0 keeps the observed objects inside. */
const embeddedObjects = (observed: StixSourceObject): JsonObject[] =>
  isObject(observed['objects']) ? Object.values(observed['objects']).filter(isObject) : [];

const depthMax = 8;

/** Every scalar property of an observed object, classified by its path. */
function propertiesOf(object: JsonObject): Observable[] {
  const type = asText(object['type']) ?? '';
  const found: Observable[] = [];
  const walk = (value: unknown, steps: string[]): void => {
    if (steps.length > depthMax) return;
    if (Array.isArray(value)) for (const part of value) walk(part, [...steps, '[*]']);
    else if (isObject(value)) for (const [name, part] of Object.entries(value)) walk(part, [...steps, name]);
    else if (steps.length > 0 && (typeof value === 'string' || typeof value === 'number')) {
      const text = asText(String(value));
      const observable = text === undefined ? undefined : classifyProperty(type, steps, text);
      if (observable) found.push(observable);
    }
  };
  walk(object, []);
  return found;
}
