import { platforms as allPlatforms, type Platform } from '../model/platforms.ts';
import type { Classification, Iocs } from '../model/item.schema.ts';
import { findTactic, killChainOf, parentTechnique, type Technique } from '../reference-data/attack.ts';
import { roundConfidence } from '../model/source-record.ts';

export type Mapping = Classification['mappings'][number];

export type ClassificationBuilder = {
  /** `evidence` is asked for the passage once, where the technique is new. */
  technique: (technique: Technique, sure: number, evidence: () => string) => void;
  actor: (name: string, sure: number, aliases?: string[]) => void;
  malware: (name: string, sure: number, aliases?: string[]) => void;
  /** A tool stands with the malware and is told apart by a mapping. */
  tool: (name: string, sure: number, aliases?: string[]) => void;
  mapping: (framework: string, id: string, sure: number) => void;
  build: (platforms: Iterable<Platform>) => Pick<Built, 'classification' | 'attackPath'>;
};

type Built = { classification: Classification; attackPath: string[] };
type Named = Classification['malware'];

const idMaxChars = 1_000;

/** Collects what a structured source says about techniques, names and other frameworks; of what is said twice the surer counts. */
export function collectClassification(): ClassificationBuilder {
  const attack = new Map<string, { technique: Technique; sure: number; evidenceRef: string }>();
  const [malware, actors] = [new Map<string, Named[number]>(), new Map<string, Named[number]>()];
  const mappings = new Map<string, Mapping>();
  const mapping = (framework: string, id: string, sure: number): void => {
    const made = { framework, id: id.slice(0, idMaxChars).toWellFormed(), confidence: roundConfidence(sure) };
    const known = mappings.get(`${framework} ${made.id}`);
    if (!known || known.confidence < made.confidence) mappings.set(`${framework} ${made.id}`, made);
  };
  return {
    mapping,
    technique(technique, sure, evidence) {
      const known = attack.get(technique.id);
      if (known) known.sure = Math.max(known.sure, roundConfidence(sure));
      else attack.set(technique.id, { technique, sure: roundConfidence(sure), evidenceRef: evidence() });
      for (const name of technique.tactics) {
        const tactic = findTactic(name);
        if (tactic) mapping('mitre-attack-tactic', tactic.id, sure);
      }
    },
    actor: (name, sure, aliases = []) => addName(actors, name, sure, aliases),
    malware: (name, sure, aliases = []) => addName(malware, name, sure, aliases),
    tool(name, sure, aliases = []) {
      addName(malware, name, sure, aliases);
      mapping('observable:tool', name, sure);
    },
    build(platforms) {
      const found = new Set(platforms);
      const techniques = [...attack.values()].map(({ technique }) => technique);
      return {
        classification: {
          attack: [...attack.values()].map(attackEntry),
          killChain: killChainOf(techniques.flatMap(({ tactics }) => tactics)),
          malware: [...malware.values()],
          actor: [...actors.values()],
          platforms: allPlatforms.filter((platform) => found.has(platform)),
          mappings: [...mappings.values()],
        },
        attackPath: attackPathOf(techniques),
      };
    },
  };
}

function addName(found: Map<string, Named[number]>, name: string, sure: number, aliases: string[]): void {
  const clean = name.trim().slice(0, 500).toWellFormed();
  if (clean === '') return;
  const key = clean.toLowerCase();
  const known = found.get(key);
  const others = aliases.filter((alias) => alias.toLowerCase() !== key);
  found.set(key, {
    name: known?.name ?? clean,
    confidence: Math.max(known?.confidence ?? 0, roundConfidence(sure)),
    aliases: [...new Set([...(known?.aliases ?? []), ...others])],
  });
}

/** A technique as an item names it: the parent, and the whole id where it is a sub-technique. */
export function attackEntry({
  technique,
  sure,
  evidenceRef,
}: {
  technique: Technique;
  sure: number;
  evidenceRef: string;
}): Classification['attack'][number] {
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
export function attackPathOf(techniques: Technique[]): string[] {
  const steps = techniques.map((technique) => {
    const [first] = technique.tactics.flatMap((name) => findTactic(name) ?? []).toSorted((a, b) => a.rank - b.rank);
    return { rank: first?.rank ?? 99, text: `${first?.name ?? 'Other'}: ${technique.name} (${technique.id})` };
  });
  return steps.toSorted((a, b) => a.rank - b.rank).map(({ text }) => text);
}

/** Platforms that an indicator can only stand on. */
export function platformsOfIndicators(iocs: Iocs): Platform[] {
  const types = new Set([...iocs.registryKeys, ...iocs.mobileIds].map(({ type }) => type));
  return [
    ...(types.has('registry_key') ? (['windows'] as const) : []),
    ...(types.has('android_package') ? (['android'] as const) : []),
    ...(types.has('ios_bundle') ? (['ios'] as const) : []),
  ];
}
