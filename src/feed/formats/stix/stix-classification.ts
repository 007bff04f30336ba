import { platforms, findPlatform } from '../../model/platforms.ts';
import type { Classification, Iocs } from '../../model/item.schema.ts';
import { targetRegion, targetSector, type Tlp, findTlp } from '../../model/vocabulary.ts';
import { countryName } from '../../model/target-forms.ts';
import {
  ownValue,
  asObjects,
  asScalarText,
  asText,
  asTexts,
  asObject,
  isObject,
} from '../../../platform/lib/json/json-values.ts';
import {
  createClassificationBuilder,
  inferPlatforms,
  type ClassificationBuilder,
  type ClassificationMapping,
} from '../../extraction/classification-builder.ts';
import type { NameDictionary } from '../../extraction/names/dictionary/name-dictionary.ts';
import { addProseNames } from '../../extraction/names/add-prose-names.ts';
import { findTaggedName } from '../../extraction/names/dictionary/resolve-name.ts';
import { findMispActor } from './stix-observables.ts';
import { findTactic, findTechnique } from '../../reference-data/attack.ts';
import { cvePattern, cwePattern, strictestTlp } from '../record-fields.ts';
import {
  readConfidence,
  listExternalReferences,
  readTextField,
  type StixSourceObject,
  listRefs,
  type StixBundle,
} from './stix-objects.ts';

type ClassificationContext = {
  reliability: number;
  names: NameDictionary | undefined;
  iocs: Iocs;
  mappings: ClassificationMapping[];
  targeted: ReadonlySet<string>;
  /** The title and description of a report. They are read for names if no object has one. */
  prose: string;
  /** Makes the object's name (or its external id) a supporting passage and returns its `evidenceRef`. */
  addEvidence: (object: StixSourceObject) => string;
};

/** Classifies the objects of an item that are not revoked by techniques, names, platforms and other frameworks. */
export function classifyObjects(
  objects: StixSourceObject[],
  context: ClassificationContext,
): { classification: Classification; attackPath: string[] } {
  const classification = createClassificationBuilder(context.names);
  for (const { framework, id, confidence } of context.mappings) classification.addMapping(framework, id, confidence);
  for (const object of objects) {
    const confidence = readConfidence(object, context.reliability);
    addReferences(classification, object, confidence);
    addTactics(classification, object, confidence);
    if (context.targeted.has(object.id)) addTargets(classification, object, confidence, context);
    addNames(classification, object, confidence, context);
    if (object.type === 'attack-pattern') addAttackPattern(classification, object, confidence, context);
  }
  if (!classification.hasNames() && context.prose) {
    const spans = addProseNames(classification, context.prose, context.names);
    if (spans.length > 0) context.addEvidence(objects[0]!);
  }
  return classification.build(findPlatforms(objects, context.iocs));
}

function addReferences(classification: ClassificationBuilder, object: StixSourceObject, confidence: number): void {
  for (const reference of listExternalReferences(object)) {
    const [framework, pattern] = ownValue(frameworks, reference.source) ?? [];
    const id = reference.id?.toUpperCase() ?? '';
    if (framework && pattern?.test(id)) classification.addMapping(framework, id, confidence);
  }
  if (object.type !== 'vulnerability') return;
  const cve = readTextField(object, 'name').trim().toUpperCase();
  if (cvePattern.test(cve)) classification.addMapping('cve', cve, confidence);
}

function addTactics(classification: ClassificationBuilder, object: StixSourceObject, confidence: number): void {
  for (const phase of listAttackPhases(object)) {
    const tactic = findTactic(phase);
    if (tactic) classification.addMapping('mitre-attack-tactic', tactic.id, confidence);
  }
}

function addTargets(
  classification: ClassificationBuilder,
  object: StixSourceObject,
  confidence: number,
  { addEvidence }: ClassificationContext,
): void {
  for (const { framework, id } of listTargets(object)) {
    addEvidence(object);
    classification.addMapping(framework, id, confidence);
  }
}

/** Adds the names of actors, malware and tools: MISP's actor objects, labels that are known names, and the object's own name. */
function addNames(
  classification: ClassificationBuilder,
  object: StixSourceObject,
  confidence: number,
  { names, addEvidence }: ClassificationContext,
): void {
  const actor = findMispActor(object);
  if (actor) {
    addEvidence(object);
    classification.addName('actor', actor, confidence);
  }
  for (const label of asTexts(object['labels'])) {
    const tagged = findTaggedName(label, names);
    if (tagged) classification.addName(tagged.kind, tagged.name, confidence);
  }
  const kind = ownValue(nameKinds, object.type);
  if (kind) classification.addName(kind, readObjectName(object), confidence, listAliases(object));
}

function addAttackPattern(
  classification: ClassificationBuilder,
  object: StixSourceObject,
  confidence: number,
  { addEvidence }: ClassificationContext,
): void {
  const id = findAttackId(object);
  const technique = id === undefined ? undefined : findTechnique(id);
  if (technique) classification.addTechnique(technique, confidence, () => addEvidence(object));
  // A deprecated technique, one of another matrix or a name without an id is not in the pinned table.
  else classification.addMapping('observable:attack-pattern', id ?? readObjectName(object), confidence);
}

/** Returns the sectors of an identity, or the country or else region of a location. */
function listTargets(object: StixSourceObject): { framework: string; id: string }[] {
  if (object.type === 'identity') {
    const isClass = object['identity_class'] === 'class';
    const sectors = asTexts(object['sectors']);
    const names = sectors.length > 0 || !isClass ? sectors : [readObjectName(object)];
    return names.map((id) => ({ framework: targetSector, id }));
  }
  if (object.type !== 'location') return [];
  const country = readTextField(object, 'country');
  const id =
    countryName(country.toUpperCase()) ?? (country || readTextField(object, 'region') || readObjectName(object));
  return [{ framework: targetRegion, id }];
}

const nameKinds: Record<string, 'malware' | 'tool' | 'actor'> = {
  malware: 'malware',
  tool: 'tool',
  'intrusion-set': 'actor',
  'threat-actor': 'actor',
};

const listAliases = (object: StixSourceObject): string[] => [
  ...asTexts(object['aliases']),
  ...asTexts(object['x_mitre_aliases']),
];

const d3fendPattern = /^D3-[A-Z]+$/;
/** The frameworks by the source of an external reference, with the form of their ids. */
const frameworks: Record<string, [framework: string, pattern: RegExp]> = {
  cve: ['cve', cvePattern],
  capec: ['capec', /^CAPEC-\d+$/],
  cwe: ['cwe', cwePattern],
  'mitre-d3fend': ['d3fend', d3fendPattern],
  d3fend: ['d3fend', d3fendPattern],
};

const findAttackId = (object: StixSourceObject): string | undefined =>
  listExternalReferences(object).find(
    ({ source, id }) => source.startsWith('mitre-') && id && /^T\d{4}(?:\.\d{3})?$/i.test(id),
  )?.id ?? /\bT\d{4}(?:\.\d{3})?\b/.exec(readTextField(object, 'name'))?.[0];

export const readObjectName = (object: StixSourceObject): string =>
  (asText(object['name']) ?? object.id).trim().slice(0, 500).toWellFormed();

function listAttackPhases(object: StixSourceObject): string[] {
  return asObjects(object['kill_chain_phases'])
    .filter((phase) => asScalarText(phase['kill_chain_name']).startsWith('mitre-attack'))
    .map((phase) => asText(phase['phase_name']) ?? '');
}

/**
 * Returns the platforms that malware, tools or the report state and those that an indicator implies. If there are none, returns the
 * platforms that all techniques of the item share.
 */
function findPlatforms(objects: StixSourceObject[], iocs: Iocs): Classification['platforms'] {
  const stated = objects.filter(({ type }) => type !== 'attack-pattern').flatMap(readPlatforms);
  const found = new Set([...stated, ...inferPlatforms(iocs)]);
  if (found.size > 0) return platforms.filter((platform) => found.has(platform));
  const perTechnique = objects
    .filter(({ type }) => type === 'attack-pattern')
    .map(readPlatforms)
    .filter((list) => list.length > 0);
  return perTechnique.length === 0
    ? []
    : platforms.filter((platform) => perTechnique.every((list) => list.includes(platform)));
}

const readPlatforms = (object: StixSourceObject): (typeof platforms)[number][] =>
  asTexts(object['x_mitre_platforms'])
    .map(findPlatform)
    .filter((platform) => platform !== undefined);

/** The marking definitions of STIX 2.0 and 2.1 for TLP 1.0 and of the OASIS extension for TLP 2.0. */
const tlpById: Record<string, Tlp> = {
  '613f2e26-407d-48c7-9eca-b8e91df99dc9': 'CLEAR',
  '34098fce-860f-48ae-8e50-ebd3cc5e41da': 'GREEN',
  'f88d31f6-486f-44da-b317-01333bde0b82': 'AMBER',
  '5e57c739-391a-4eb3-b6be-7d15ca92d5ed': 'RED',
  '94868c89-83c2-464b-929b-a1a8aa3c8487': 'CLEAR',
  'bab4a63c-aed9-4cf5-a766-dfca5abac2bb': 'GREEN',
  '55d920b0-5e8b-4f79-9ee9-91f868d9b421': 'AMBER',
  '939a9414-2ddd-4d32-a0cd-375ea402b003': 'AMBER+STRICT',
  'e828b379-4e03-4974-9ac4-e53a884c97c1': 'RED',
};

/** Returns the strictest TLP of the objects from marking references, granular markings and labels. */
export const findObjectTlp = (objects: StixSourceObject[], bundle: StixBundle): Tlp | undefined =>
  strictestTlp(objects.flatMap((object) => listTlpMarkings(object, bundle)));

function listTlpMarkings(object: StixSourceObject, bundle: StixBundle): Tlp[] {
  const refs = [
    ...listRefs(object, 'object_marking_refs'),
    ...asObjects(object['granular_markings']).flatMap((marking) => asText(marking['marking_ref']) ?? []),
  ];
  const labels = asTexts(object['labels']).filter((label) => /^tlp:/i.test(label.trim()));
  return [...refs.map((ref) => resolveTlp(ref, bundle)), ...labels.map(findTlp)].filter((tlp) => tlp !== undefined);
}

function resolveTlp(ref: string, bundle: StixBundle): Tlp | undefined {
  const known = ownValue(tlpById, ref.replace(/^marking-definition--/, '').toLowerCase());
  const marking = bundle.objects.get(ref);
  if (known || !marking) return known;
  const extensions = Object.values(asObject(marking['extensions'])).filter(isObject);
  const words = [
    asObject(marking['definition'])['tlp'],
    ...extensions.map((extension) => extension['tlp_2_0']),
    marking['name'],
  ];
  return words.map((word) => (typeof word === 'string' ? findTlp(word) : undefined)).find((tlp) => tlp !== undefined);
}
