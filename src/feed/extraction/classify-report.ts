import { findTactic, listKillChainStages, type Technique } from '../reference-data/attack.ts';
import { platforms } from '../model/platforms.ts';
import type { Classification, Iocs } from '../model/item.schema.ts';
import { inferPlatforms } from './classification-builder.ts';
import type { ExtractedIndicator, OtherObservable } from './indicators/extract-indicators.ts';
import type { ExtractedName } from './names/extracted-name.ts';
import { detectPlatforms, findProductPlatforms } from './products/product-platforms.ts';

/** What is known of a report, with spans in its stored text. */
export type ReportFacts = {
  indicators: ExtractedIndicator[];
  others: OtherObservable[];
  techniques: { technique: Technique; confidence: number }[];
  names: ExtractedName[];
  products: { vendor: string; value: string }[];
};

/** Returns the classification of a report. `attack` has its techniques with their evidence, `iocs` its indicators. */
export function classifyReport(
  storedText: string,
  { techniques, names, others, products }: ReportFacts,
  { attack, iocs }: { attack: Classification['attack']; iocs: Iocs },
): Classification {
  return {
    attack,
    killChain: listKillChainStages(techniques.flatMap(({ technique }) => technique.tactics)),
    ...classifyNames(names),
    platforms: listPlatforms(storedText, iocs, products),
    mappings: listMappings(techniques, names, others),
  };
}

function classifyNames(names: ExtractedName[]): Pick<Classification, 'malware' | 'actor'> {
  const clear = names.filter(({ ambiguous }) => !ambiguous);
  return {
    malware: toNamedEntries(clear.filter(({ kind }) => kind !== 'actor')),
    actor: toNamedEntries(clear.filter(({ kind }) => kind === 'actor')),
  };
}

const toNamedEntries = (names: ExtractedName[]): Classification['malware'] =>
  names.map(({ name, confidence, aliases, printed }) => {
    const spellings = printed.filter((spelling) => spelling.toLowerCase() !== name.toLowerCase());
    return { name, confidence, aliases: [...new Set([...spellings, ...aliases])] };
  });

function listPlatforms(text: string, iocs: Iocs, products: ReportFacts['products']): Classification['platforms'] {
  const isActive = ({ status }: { status: string }): boolean => status === 'active';
  const found = new Set([
    ...detectPlatforms(text),
    ...products.flatMap(({ vendor, value }) => findProductPlatforms(vendor, value)),
    ...inferPlatforms({
      registryKeys: iocs.registryKeys.filter(isActive),
      mobileIds: iocs.mobileIds.filter(isActive),
    }),
  ]);
  return platforms.filter((platform) => found.has(platform));
}

function listMappings(
  techniques: ReportFacts['techniques'],
  names: ExtractedName[],
  others: OtherObservable[],
): Classification['mappings'] {
  const tactics = new Map<string, number>();
  for (const { technique, confidence } of techniques)
    for (const name of technique.tactics) {
      const id = findTactic(name)?.id;
      if (id) tactics.set(id, Math.max(confidence, tactics.get(id) ?? 0));
    }
  return [
    ...[...tactics].map(([id, confidence]) => ({ framework: 'mitre-attack-tactic', id, confidence })),
    ...others
      .filter(({ framework }) => framework !== 'attack')
      .map(({ framework, id, confidence }) => ({ framework, id: id.slice(0, 500).toWellFormed(), confidence })),
    ...names
      .filter(({ kind }) => kind === 'tool')
      .map(({ name, confidence }) => ({ framework: 'observable:tool', id: name, confidence })),
    ...names
      .filter(({ ambiguous }) => ambiguous)
      .map(({ name, confidence }) => ({ framework: 'observable:ambiguous-actor', id: name, confidence })),
  ];
}
