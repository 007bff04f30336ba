import { platforms, findPlatform } from '../../model/platforms.ts';
import type { Classification, Iocs } from '../../model/item.schema.ts';
import { ownValue } from '../../../platform/lib/own-value.ts';
import {
  createClassificationBuilder,
  inferPlatforms,
  type ClassificationMapping,
} from '../../extraction/classification-builder.ts';
import { isObject, asScalarText, asText, asTexts } from '../../../platform/lib/json/json-values.ts';
import { findTactic, findTechnique, type Technique } from '../../reference-data/attack.ts';
import { readConfidence, listExternalReferences, readTextField, type StixSourceObject } from './stix-objects.ts';

type Given = {
  reliability: number;
  iocs: Iocs;
  mappings: ClassificationMapping[];
  /** Makes the object's name (or the id in it) a passage; answers its `evidenceRef`. */
  prove: (object: StixSourceObject) => string;
};

/** What the objects of an item say about techniques, names, platforms and other frameworks. `objects` are head and members, the revoked left out. */
export function classifyObjects(
  objects: StixSourceObject[],
  given: Given,
): { classification: Classification; attackPath: string[] } {
  const found = createClassificationBuilder();
  for (const { framework, id, confidence } of given.mappings) found.addMapping(framework, id, confidence);
  for (const object of objects) {
    const sure = readConfidence(object, given.reliability);
    for (const { source, id } of listExternalReferences(object)) {
      const framework = frameworkOf(source, id);
      if (framework && id) found.addMapping(framework, id.toUpperCase(), sure);
    }
    if (object.type === 'vulnerability' && /^CVE-\d{4}-\d{4,}$/i.test(readTextField(object, 'name').trim()))
      found.addMapping('cve', readTextField(object, 'name').trim().toUpperCase(), sure);
    for (const phase of phasesOf(object)) {
      const tactic = findTactic(phase);
      if (tactic) found.addMapping('mitre-attack-tactic', tactic.id, sure);
    }
    const kind = ownValue(named, object.type);
    if (kind) found.addName(kind, readObjectName(object), sure, aliasesOf(object));
    if (object.type !== 'attack-pattern') continue;
    const technique = techniqueOf(object);
    if (technique) found.addTechnique(technique, sure, () => given.prove(object));
    // Deprecated, of another matrix, or a name without an id: not in the pinned table, but still said.
    else found.addMapping('observable:attack-pattern', attackIdOf(object) ?? readObjectName(object), sure);
  }
  return found.build(platformsOf(objects, given.iocs));
}

const named: Record<string, 'malware' | 'tool' | 'actor'> = {
  malware: 'malware',
  tool: 'tool',
  'intrusion-set': 'actor',
  'threat-actor': 'actor',
};

const aliasesOf = (object: StixSourceObject): string[] => [
  ...asTexts(object['aliases']),
  ...asTexts(object['x_mitre_aliases']),
];

const frameworks: Record<string, [string, RegExp]> = {
  cve: ['cve', /^CVE-\d{4}-\d{4,}$/i],
  capec: ['capec', /^CAPEC-\d+$/i],
  cwe: ['cwe', /^CWE-\d+$/i],
  'mitre-d3fend': ['d3fend', /^D3-[A-Z]+$/i],
  d3fend: ['d3fend', /^D3-[A-Z]+$/i],
};

function frameworkOf(source: string, id: string | undefined): string | undefined {
  const [framework, pattern] = ownValue(frameworks, source) ?? [];
  return framework && id && pattern?.test(id) ? framework : undefined;
}

const attackIdOf = (object: StixSourceObject): string | undefined =>
  listExternalReferences(object).find(
    ({ source, id }) => source.startsWith('mitre-') && id && /^T\d{4}(?:\.\d{3})?$/i.test(id),
  )?.id ?? /\bT\d{4}(?:\.\d{3})?\b/.exec(readTextField(object, 'name'))?.[0];

function techniqueOf(object: StixSourceObject): Technique | undefined {
  const id = attackIdOf(object);
  return id === undefined ? undefined : findTechnique(id);
}

export const readObjectName = (object: StixSourceObject): string =>
  (asText(object['name']) ?? object.id).trim().slice(0, 500).toWellFormed();

function phasesOf(object: StixSourceObject): string[] {
  const phases = Array.isArray(object['kill_chain_phases']) ? object['kill_chain_phases'].filter(isObject) : [];
  return phases
    .filter((phase) => asScalarText(phase['kill_chain_name']).startsWith('mitre-attack'))
    .map((phase) => asText(phase['phase_name']) ?? '');
}

/**
 * Platforms that the objects name (malware, tools, the report itself) or that an indicator can only stand on; where none does,
 * those on which every technique of the item works.
 */
function platformsOf(objects: StixSourceObject[], iocs: Iocs): Classification['platforms'] {
  const stated = objects.filter(({ type }) => type !== 'attack-pattern').flatMap(statedPlatforms);
  const found = new Set([...stated, ...inferPlatforms(iocs)]);
  if (found.size > 0) return platforms.filter((platform) => found.has(platform));
  const perTechnique = objects
    .filter(({ type }) => type === 'attack-pattern')
    .map(statedPlatforms)
    .filter((list) => list.length > 0);
  return perTechnique.length === 0
    ? []
    : platforms.filter((platform) => perTechnique.every((list) => list.includes(platform)));
}

const statedPlatforms = (object: StixSourceObject): (typeof platforms)[number][] =>
  asTexts(object['x_mitre_platforms'])
    .map(findPlatform)
    .filter((platform) => platform !== undefined);
