import { extractTechniques, type ExtractedTechnique } from '../../../feed/extraction/techniques/extract-techniques.ts';
import { getIntentIndex } from './intent-index.ts';
import type { IntentSource } from './intent-sources.ts';
import { isEveryday, listPairs, listTerms, type Term } from './intent-terms.ts';

/** A source with how well it fits an intent. `fit` is comparable between intents; `score` within one. `matched` are words of the intent. */
export type RankedSource = {
  source: IntentSource;
  score: number;
  fit: number;
  technique: string | null;
  /** The intent states a technique of the source by its ID. */
  isStated: boolean;
  matched: string[];
};

export type Ranking = {
  ranked: RankedSource[];
  /** Words of the intent that nothing shipped contains. */ unknown: string[];
};

// The numbers were chosen on the intents `work` of quality/detections/intents.yaml.
const techniqueWeight = 3;
const idWeight = 15;
const pairShare = 0.7;
/** Everyday words matter less for what an intent is about than for how well a text fits it. */
const everydayTopicShare = 0.25;
const matchedWeightMin = 0.8;

/**
 * Ranks everything shipped by how well it fits an intent, best first: the terms that they share, rare ones first (BM25 over the fields of a
 * source), and the ATT&CK techniques that the intent states or describes.
 */
export function rankSources(intent: string): Ranking {
  const { sources, weigh, isFrequent } = getIntentIndex();
  const terms = listTerms(intent);
  const pairs = listPairs(terms).filter((_, n) => !isFrequent(terms[n]!.term) && !isFrequent(terms[n + 1]!.term));
  const distinct = [...new Map([...pairs, ...terms].map((one) => [one.term, one])).values()];
  const topic = new Set(terms.map(({ term }) => term));
  const topicWeight = [...topic].reduce(
    (sum, term) => sum + weigh(term) * (isEveryday(term) ? everydayTopicShare : 1),
    0,
  );
  const techniques = extractTechniques(intent.replaceAll(/\bt(?=\d{4}\b)/g, 'T'), { isAttack: true });
  const ranked = sources.map(({ source, weights }): RankedSource => {
    const weightOf = ({ term }: Term): number => (weights.get(term) ?? 0) * (topic.has(term) ? 1 : pairShare);
    const technique = findBestTechnique(source, techniques);
    const score = distinct.reduce((sum, term) => sum + weightOf(term), technique?.weight ?? 0);
    const matched = terms.filter((term) => weightOf(term) >= matchedWeightMin).map(({ text }) => text);
    return {
      source,
      score,
      fit: score * Math.sqrt(score / Math.max(topicWeight, 1)),
      technique: technique?.id ?? null,
      isStated: technique?.isStated ?? false,
      matched: [...new Set([...(technique ? [technique.id] : []), ...matched])],
    };
  });
  const known = (term: string): boolean => sources.some(({ weights }) => weights.has(term));
  const unknown = terms.filter(({ term }) => !isEveryday(term) && !known(term)).map(({ text }) => text);
  return { ranked: ranked.toSorted((a, b) => b.score - a.score), unknown: [...new Set(unknown)] };
}

/** Returns the technique of an intent that says most for a source. The first techniques of a source are those that it is about. */
function findBestTechnique(
  { techniques }: IntentSource,
  extracted: readonly ExtractedTechnique[],
): { id: string; weight: number; isStated: boolean } | undefined {
  return extracted
    .map(({ technique: { id }, confidence, by }) => {
      const at = techniques.indexOf(id);
      const isParent = techniques.some((own) => own.startsWith(`${id}.`));
      const share = at === -1 ? (isParent ? 0.5 : 0) : 1 / (1 + at / 4);
      const isStated = by === 'id' && at !== -1;
      return { id, weight: share * confidence * (by === 'id' ? idWeight : techniqueWeight), isStated };
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight)[0];
}
