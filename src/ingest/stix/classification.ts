import { platforms, findPlatform } from '../../feed/platforms.ts';
import type { Classification, Iocs } from '../../feed/schema.ts';
import type { Mapping } from '../extract/classification.ts';
import { isObject, scalarText, textOf, textsOf } from '../extract/json.ts';
import { findTactic, findTechnique, killChainOf, parentTechnique, type Technique } from '../knowledge/attack.ts';
import { ownValue } from '../../lib/own-value.ts';
import { confidence } from '../record.ts';
import { confidenceOf, referencesOf, textField, type StixObject } from './objects.ts';

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
  const sure = (object: StixObject): number => confidence(confidenceOf(object, given.reliability));
  const mappings: Mapping[] = [...given.mappings];
  const attack = new Map<string, Classification['attack'][number]>();
  const techniques = new Map<string, Technique>();
  for (const object of objects) {
    for (const { source, id } of referencesOf(object)) {
      const framework = frameworkOf(source, id);
      if (framework && id) mappings.push({ framework, id: id.toUpperCase(), confidence: sure(object) });
    }
    if (object.type === 'vulnerability' && /^CVE-\d{4}-\d{4,}$/i.test(textField(object, 'name').trim()))
      mappings.push({ framework: 'cve', id: textField(object, 'name').trim().toUpperCase(), confidence: sure(object) });
    if (object.type === 'tool')
      mappings.push({ framework: 'observable:tool', id: nameOf(object), confidence: sure(object) });
    for (const phase of phasesOf(object)) {
      const tactic = findTactic(phase);
      if (tactic) mappings.push({ framework: 'mitre-attack-tactic', id: tactic.id, confidence: sure(object) });
    }
    if (object.type !== 'attack-pattern') continue;
    const technique = techniqueOf(object);
    if (!technique) {
      // Mobile, ICS, deprecated or a name without an id: not in the pinned table, but still said.
      mappings.push({
        framework: 'observable:attack-pattern',
        id: attackIdOf(object) ?? nameOf(object),
        confidence: sure(object),
      });
      continue;
    }
    techniques.set(technique.id, technique);
    if (!attack.has(technique.id)) attack.set(technique.id, attackEntry(technique, sure(object), given.prove(object)));
  }
  const found = [...techniques.values()];
  return {
    classification: {
      attack: [...attack.values()],
      killChain: killChainOf(found.flatMap(({ tactics }) => tactics)),
      malware: namesOf(objects, ['malware', 'tool'], sure),
      actor: namesOf(objects, ['intrusion-set', 'threat-actor'], sure),
      platforms: platformsOf(objects, given.iocs),
      mappings: distinct(mappings),
    },
    attackPath: attackPathOf(found),
  };
}

function attackEntry(technique: Technique, sure: number, evidenceRef: string): Classification['attack'][number] {
  const parent = parentTechnique(technique.id);
  return {
    technique: parent,
    ...(parent === technique.id ? {} : { subTechnique: technique.id }),
    techniqueName: technique.name,
    confidence: sure,
    evidenceRef,
  };
}

/** One step for each technique, in the order of the tactics. */
function attackPathOf(techniques: Technique[]): string[] {
  const steps = techniques.map((technique) => {
    const tactics = technique.tactics.map(findTactic).filter((tactic) => tactic !== undefined);
    const [first] = tactics.toSorted((a, b) => a.rank - b.rank);
    return { rank: first?.rank ?? 99, text: `${first?.name ?? 'Other'}: ${technique.name} (${technique.id})` };
  });
  return steps.toSorted((a, b) => a.rank - b.rank).map(({ text }) => text);
}

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
  (textOf(object['name']) ?? object.id).trim().slice(0, 500).toWellFormed();

function phasesOf(object: StixObject): string[] {
  const phases = Array.isArray(object['kill_chain_phases']) ? object['kill_chain_phases'].filter(isObject) : [];
  return phases
    .filter((phase) => scalarText(phase['kill_chain_name']).startsWith('mitre-attack'))
    .map((phase) => textOf(phase['phase_name']) ?? '');
}

function namesOf(
  objects: StixObject[],
  types: string[],
  sure: (object: StixObject) => number,
): Classification['malware'] {
  const found = new Map<string, Classification['malware'][number]>();
  for (const object of objects.filter(({ type }) => types.includes(type))) {
    const name = nameOf(object);
    const aliases = [...textsOf(object['aliases']), ...textsOf(object['x_mitre_aliases'])];
    const known = found.get(name.toLowerCase());
    const all = new Set([
      ...(known?.aliases ?? []),
      ...aliases.filter((alias) => alias.toLowerCase() !== name.toLowerCase()),
    ]);
    found.set(name.toLowerCase(), {
      name: known?.name ?? name,
      confidence: Math.max(known?.confidence ?? 0, sure(object)),
      aliases: [...all],
    });
  }
  return [...found.values()];
}

/**
 * Platforms that the objects name (malware, tools, the report itself) or that an indicator can only stand on; where none does,
 * those on which every technique of the item works.
 */
function platformsOf(objects: StixObject[], iocs: Iocs): Classification['platforms'] {
  const named = objects.filter(({ type }) => type !== 'attack-pattern').flatMap(statedPlatforms);
  const types = new Set([...iocs.registryKeys, ...iocs.mobileIds].map(({ type }) => type));
  const shown = [
    types.has('registry_key') && 'windows',
    types.has('android_package') && 'android',
    types.has('ios_bundle') && 'ios',
  ];
  const found = new Set<string | false>([...named, ...shown.filter(Boolean)]);
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
  textsOf(object['x_mitre_platforms'])
    .map(findPlatform)
    .filter((platform) => platform !== undefined);

function distinct(mappings: Mapping[]): Mapping[] {
  const found = new Map<string, Mapping>();
  for (const mapping of mappings) {
    const key = `${mapping.framework} ${mapping.id}`;
    const known = found.get(key);
    if (!known || known.confidence < mapping.confidence) found.set(key, mapping);
  }
  return [...found.values()];
}
