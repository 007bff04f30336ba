import type { NameDictionary } from './names/dictionary/name-dictionary.ts';
import { plainName, resolveName } from './names/dictionary/resolve-name.ts';
import { platforms as allPlatforms, type Platform } from '../model/platforms.ts';
import type { Classification, Iocs } from '../model/item.schema.ts';
import { findTactic, listKillChainStages, getParentTechniqueId, type Technique } from '../reference-data/attack.ts';
import { roundConfidence } from '../model/source-record.ts';
import { typeEntries } from '../model/values/indicator-types.ts';

export type ClassificationMapping = Classification['mappings'][number];

/** Collects the classification of one item. For repeated values, the highest confidence counts. */
export type ClassificationBuilder = {
  /** Calls `evidence` for the passage reference only if the technique is new. */
  addTechnique: (technique: Technique, confidence: number, evidence: () => string) => void;
  /** Adds an actor or a malware name under its canonical name, and keeps the source's spelling as its first alias. Tools are listed with the malware and marked by a mapping. Returns the name in the item. */
  addName: (kind: 'actor' | 'malware' | 'tool', name: string, confidence: number, aliases?: string[]) => string;
  addMapping: (framework: string, id: string, confidence: number) => void;
  /** Returns whether the item has malware, a tool or an actor so far. */
  hasNames: () => boolean;
  build: (platforms: Iterable<Platform>) => { classification: Classification; attackPath: string[] };
};

type NameEntry = Classification['malware'][number];
type TechniqueEvidence = { technique: Technique; confidence: number; evidenceRef: string };

const idMaxChars = 1_000;
const nameMaxChars = 500;
const aliasesMax = 200;

/** `dictionary` has the names and aliases of actors, malware and tools. Defaults to the shipped ones. */
export function createClassificationBuilder(dictionary?: NameDictionary): ClassificationBuilder {
  const attack = new Map<string, TechniqueEvidence>();
  const [malware, actors] = [new Map<string, NameEntry>(), new Map<string, NameEntry>()];
  const mappings = new Map<string, ClassificationMapping>();
  const addMapping: ClassificationBuilder['addMapping'] = (framework, id, confidence) => {
    const mapping = { framework, id: id.slice(0, idMaxChars).toWellFormed(), confidence: roundConfidence(confidence) };
    const known = mappings.get(`${framework} ${mapping.id}`);
    if (!known || known.confidence < mapping.confidence) mappings.set(`${framework} ${mapping.id}`, mapping);
  };
  return {
    addMapping,
    hasNames: () => malware.size > 0 || actors.size > 0,
    addTechnique(technique, confidence, evidence) {
      const known = attack.get(technique.id);
      const rounded = roundConfidence(confidence);
      if (known) known.confidence = Math.max(known.confidence, rounded);
      else attack.set(technique.id, { technique, confidence: rounded, evidenceRef: evidence() });
      for (const name of technique.tactics) {
        const tactic = findTactic(name);
        if (tactic) addMapping('mitre-attack-tactic', tactic.id, confidence);
      }
    },
    addName(kind, name, confidence, aliases = []) {
      const entity = resolveName(kind, name, { aliases, dictionary });
      const resolved = {
        name: entity?.name ?? plainName(name),
        aliases: [name.trim(), ...aliases, ...(entity?.aliases ?? [])],
      };
      const listed = mergeName(kind === 'actor' ? actors : malware, resolved, confidence);
      // One name is one entity, whatever a source calls it.
      if ((entity?.kind ?? kind) === 'tool') addMapping('observable:tool', resolved.name, confidence);
      return listed;
    },
    build(platforms) {
      const names = new Set(platforms);
      const techniques = [...attack.values()].map(({ technique }) => technique);
      return {
        classification: {
          attack: [...attack.values()].map(toAttackEntry),
          killChain: listKillChainStages(techniques.flatMap(({ tactics }) => tactics)),
          malware: [...malware.values()],
          actor: [...actors.values()],
          platforms: allPlatforms.filter((platform) => names.has(platform)),
          mappings: [...mappings.values()],
        },
        attackPath: buildAttackPath(techniques),
      };
    },
  };
}

function mergeName(
  entries: Map<string, NameEntry>,
  { name, aliases }: { name: string; aliases: string[] },
  confidence: number,
): string {
  const clean = name.trim().slice(0, nameMaxChars).toWellFormed();
  if (clean === '') return '';
  const key = clean.toLowerCase();
  const known = entries.get(key);
  const others = aliases
    .map((alias) => alias.slice(0, nameMaxChars).toWellFormed())
    .filter((alias) => alias.toLowerCase() !== key);
  entries.set(key, {
    name: known?.name ?? clean,
    confidence: Math.max(known?.confidence ?? 0, roundConfidence(confidence)),
    aliases: [...new Set([...(known?.aliases ?? []), ...others])].slice(0, aliasesMax),
  });
  return known?.name ?? clean;
}

/** Converts a technique to its item form: the parent technique, plus `subTechnique` if the id is a sub-technique. */
export function toAttackEntry(found: TechniqueEvidence): Classification['attack'][number] {
  const { technique, confidence, evidenceRef } = found;
  const parent = getParentTechniqueId(technique.id);
  const subTechnique = parent === technique.id ? {} : { subTechnique: technique.id };
  return { technique: parent, ...subTechnique, techniqueName: technique.name, confidence, evidenceRef };
}

/** Returns one step per technique, in tactic order. */
export function buildAttackPath(techniques: Technique[]): string[] {
  const steps = techniques.map((technique) => {
    const [first] = technique.tactics.flatMap((name) => findTactic(name) ?? []).toSorted((a, b) => a.rank - b.rank);
    return { rank: first?.rank ?? 99, text: `${first?.name ?? 'Other'}: ${technique.name} (${technique.id})` };
  });
  return steps.toSorted((a, b) => a.rank - b.rank).map(({ text }) => text);
}

/** Returns the platforms that the indicator types imply, such as Windows for a registry key. */
export function inferPlatforms(iocs: Partial<Iocs>): Platform[] {
  const types = new Set(Object.values(iocs).flatMap((indicators) => indicators.map(({ type }) => type)));
  return typeEntries.flatMap(([type, { platform }]) => (platform !== null && types.has(type) ? [platform] : []));
}
