import { platforms, findPlatform } from '../../model/platforms.ts';
import type { Classification, Iocs } from '../../model/item.schema.ts';
import { ownValue } from '../../../platform/lib/own-value.ts';
import { collectClassification, platformsOfIndicators, type Mapping } from '../../extraction/classification.ts';
import { isObject, asScalarText, asText, asTexts } from '../../../platform/lib/json/json-values.ts';
import { findTactic, findTechnique, type Technique } from '../../reference-data/attack.ts';
import { confidenceOf, referencesOf, textField, type StixObject } from './stix-objects.ts';

type Given = {
  reliability: number;
  iocs: Iocs;
  mappings: Mapping[];
  /** Makes the object's name (or the id in it) a passage; answers its `evidenceRef`. */
  prove: (object: StixObject) => string;
};

/** What the objects of an item say about techniques, names, platforms and other frameworks. `objects` are head and members, the revoked left out. */
export function classify(
  objects: StixObject[],
  given: Given,
): { classification: Classification; attackPath: string[] } {
  const found = collectClassification();
  for (const { framework, id, confidence } of given.mappings) found.mapping(framework, id, confidence);
  for (const object of objects) {
    const sure = confidenceOf(object, given.reliability);
    for (const { source, id } of referencesOf(object)) {
      const framework = frameworkOf(source, id);
      if (framework && id) found.mapping(framework, id.toUpperCase(), sure);
    }
    if (object.type === 'vulnerability' && /^CVE-\d{4}-\d{4,}$/i.test(textField(object, 'name').trim()))
      found.mapping('cve', textField(object, 'name').trim().toUpperCase(), sure);
    for (const phase of phasesOf(object)) {
      const tactic = findTactic(phase);
      if (tactic) found.mapping('mitre-attack-tactic', tactic.id, sure);
    }
    const kind = ownValue(named, object.type);
    if (kind) found[kind](nameOf(object), sure, aliasesOf(object));
    if (object.type !== 'attack-pattern') continue;
    const technique = techniqueOf(object);
    if (technique) found.technique(technique, sure, () => given.prove(object));
    // Deprecated, of another matrix, or a name without an id: not in the pinned table, but still said.
    else found.mapping('observable:attack-pattern', attackIdOf(object) ?? nameOf(object), sure);
  }
  return found.build(platformsOf(objects, given.iocs));
}

const named: Record<string, 'malware' | 'tool' | 'actor'> = {
  malware: 'malware',
  tool: 'tool',
  'intrusion-set': 'actor',
  'threat-actor': 'actor',
};

const aliasesOf = (object: StixObject): string[] => [
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

const attackIdOf = (object: StixObject): string | undefined =>
  referencesOf(object).find(({ source, id }) => source.startsWith('mitre-') && id && /^T\d{4}(?:\.\d{3})?$/i.test(id))
    ?.id ?? /\bT\d{4}(?:\.\d{3})?\b/.exec(textField(object, 'name'))?.[0];

function techniqueOf(object: StixObject): Technique | undefined {
  const id = attackIdOf(object);
  return id === undefined ? undefined : findTechnique(id);
}

export const nameOf = (object: StixObject): string =>
  (asText(object['name']) ?? object.id).trim().slice(0, 500).toWellFormed();

function phasesOf(object: StixObject): string[] {
  const phases = Array.isArray(object['kill_chain_phases']) ? object['kill_chain_phases'].filter(isObject) : [];
  return phases
    .filter((phase) => asScalarText(phase['kill_chain_name']).startsWith('mitre-attack'))
    .map((phase) => asText(phase['phase_name']) ?? '');
}

/**
 * Platforms that the objects name (malware, tools, the report itself) or that an indicator can only stand on; where none does,
 * those on which every technique of the item works.
 */
function platformsOf(objects: StixObject[], iocs: Iocs): Classification['platforms'] {
  const stated = objects.filter(({ type }) => type !== 'attack-pattern').flatMap(statedPlatforms);
  const found = new Set([...stated, ...platformsOfIndicators(iocs)]);
  if (found.size > 0) return platforms.filter((platform) => found.has(platform));
  const perTechnique = objects
    .filter(({ type }) => type === 'attack-pattern')
    .map(statedPlatforms)
    .filter((list) => list.length > 0);
  return perTechnique.length === 0
    ? []
    : platforms.filter((platform) => perTechnique.every((list) => list.includes(platform)));
}

const statedPlatforms = (object: StixObject): (typeof platforms)[number][] =>
  asTexts(object['x_mitre_platforms'])
    .map(findPlatform)
    .filter((platform) => platform !== undefined);
