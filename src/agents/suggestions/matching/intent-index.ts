import { listIntentSources, type IntentSource, type SourceTexts } from './intent-sources.ts';
import { isEveryday, listPairs, listTerms } from './intent-terms.ts';

/** `weights` has how much each term says for the source. */
type IndexedSource = { source: IntentSource; weights: ReadonlyMap<string, number> };

/** The shipped detections and templates by their terms. `weigh` returns how much a term says at most, 0 for everyday words of no source. */
export type IntentIndex = {
  sources: readonly IndexedSource[];
  weigh: (term: string) => number;
  isFrequent: (term: string) => boolean;
};

// The numbers were chosen on the intents `work` of quality/detections/intents.yaml.
const fieldWeights: Record<keyof SourceTexts, number> = {
  name: 1,
  description: 0.6,
  techniques: 0.5,
  logs: 0.7,
  rest: 0.25,
};
const fields = Object.keys(fieldWeights) as (keyof SourceTexts)[];
/** Everyday words say less than their rarity among the sources. */
const everydayShare = 0.4;
/** Of BM25: how soon more occurrences stop to count, and how much those in a long text count less. */
const saturation = 0.4;
const lengthShare = 0.5;
/** A term in every field counts at most this much more than one in the name. */
const fieldsMax = 1.5;

let index: IntentIndex | undefined;

/** Returns the index of everything shipped. Built once per process. */
export const getIntentIndex = (): IntentIndex => (index ??= buildIndex(listIntentSources()));

function buildIndex(sources: readonly IntentSource[]): IntentIndex {
  const counted = sources.map(({ texts }) => fields.map((field) => countTerms(texts[field])));
  const sourceCounts = countSources(counted.map((counts) => counts.flatMap(({ terms }) => [...terms.keys()])));
  const fieldStatistics = fields.map((_, n) => ({
    sourceCounts: countSources(counted.map((counts) => [...counts[n]!.terms.keys()])),
    averageLength: counted.reduce((sum, counts) => sum + counts[n]!.length, 0) / sources.length,
  }));
  // A term of no source is as rare as one of half a source.
  const rarity = (count: number | undefined): number => Math.log(1 + sources.length / (count ?? 0.5));
  const share = (term: string): number => (isEveryday(term) ? everydayShare : 1);
  const weightTerm = (counts: readonly TermCounts[], term: string): number => {
    const overall = rarity(sourceCounts.get(term));
    const parts = counts.map(({ terms, length }, n) => {
      const { sourceCounts: inField, averageLength } = fieldStatistics[n]!;
      const count = terms.get(term) ?? 0;
      const scale = saturation * (1 - lengthShare + (lengthShare * length) / averageLength);
      const weight = fieldWeights[fields[n]!] * Math.sqrt(rarity(inField.get(term)) * overall);
      return (weight * count) / (count + scale);
    });
    return (
      Math.min(
        parts.reduce((sum, part) => sum + part, 0),
        fieldsMax * overall,
      ) * share(term)
    );
  };
  return {
    sources: sources.map((source, n) => {
      const terms = new Set(counted[n]!.flatMap((counts) => [...counts.terms.keys()]));
      return { source, weights: new Map([...terms].map((term) => [term, weightTerm(counted[n]!, term)])) };
    }),
    weigh: (term) => (sourceCounts.has(term) || !isEveryday(term) ? rarity(sourceCounts.get(term)) * share(term) : 0),
    isFrequent: (term) => (sourceCounts.get(term) ?? 0) > sources.length / 2,
  };
}

type TermCounts = { terms: ReadonlyMap<string, number>; length: number };

function countTerms(text: string): TermCounts {
  const terms = listTerms(text);
  const all = [...terms, ...listPairs(terms)].map(({ term }) => term);
  return { terms: countSources(all.map((term) => [term])), length: all.length };
}

/** Returns in how many lists each term is. */
function countSources(lists: readonly Iterable<string>[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const list of lists) for (const term of new Set(list)) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}
