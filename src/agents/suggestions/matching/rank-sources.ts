import { type LibraryEntry, listTechniqueIds, loadLibrary } from '../../../detection/library/load-library.ts';
import { type ExtractedTechnique, extractTechniques } from '../../../feed/extraction/techniques/extract-techniques.ts';
import { findTechnique } from '../../../feed/reference-data/attack.ts';
import { logKinds } from '../log-kinds.ts';
import { type QueryTemplate, loadTemplates } from '../templates/query-templates.ts';
import { isEveryday, listPairs, listTerms, type Term } from './intent-terms.ts';

/** A shipped detection or a query template that an intent can mean. `techniques` begins with those that it detects best. */
type IntentSource = { name: string; techniques: readonly string[]; texts: SourceTexts } & (
  | { kind: 'shipped'; entry: LibraryEntry }
  | { kind: 'template'; template: QueryTemplate }
);

/** The texts of a source: its name, what it finds, what its techniques and logs are called, and the rest (prompt, query, samples). */
type SourceTexts = { name: string; description: string; techniques: string; logs: string; rest: string };

/** Returns every shipped detection and query template. */
const listIntentSources = (): IntentSource[] => [
  ...[...loadLibrary().values()].map(toShippedSource),
  ...loadTemplates().map(toTemplateSource),
];

function toShippedSource(entry: LibraryEntry): IntentSource {
  const { body, logSource, datasets, noise, folder, tests } = entry;
  const techniques = listTechniqueIds(entry);
  return {
    kind: 'shipped',
    entry,
    name: body.name,
    techniques,
    texts: {
      name: `${body.name} ${entry.id}`,
      description: `${body.description ?? ''} ${body.headline ?? ''}`,
      techniques: nameTechniques(techniques),
      logs: [folder, logSource.product, logSource.service, ...Object.keys(datasets), ...(body.tags ?? [])].join(' '),
      rest: [
        body.systemPrompt,
        noise,
        listLiterals(body.detectionQuery),
        JSON.stringify(tests.tests[0]?.events ?? []),
      ].join(' '),
    },
  };
}

function toTemplateSource(template: QueryTemplate): IntentSource {
  const { name, techniques, kind, benign, where, match } = template;
  return {
    kind: 'template',
    template,
    name,
    techniques,
    texts: {
      name: `${name} ${template.id}`,
      description: '',
      techniques: nameTechniques(techniques.slice(0, 2)),
      logs: [kind, ...Object.keys(logKinds[kind].parts)].join(' '),
      rest: [benign, JSON.stringify(where), JSON.stringify(match), nameTechniques(techniques.slice(2))].join(' '),
    },
  };
}

const nameTechniques = (ids: readonly string[]): string => ids.map((id) => findTechnique(id)?.name ?? '').join('. ');

/** Returns what a query compares with: the texts in its quotation marks. */
const listLiterals = (query: string): string => (query.match(/'[^']*'/g) ?? []).join(' ');

/** `weights` has how much each term says for the source. */
type IndexedSource = { source: IntentSource; weights: ReadonlyMap<string, number> };

/** The shipped detections and templates by their terms. `weigh` returns how much a term says at most, 0 for everyday words of no source. */
type IntentIndex = {
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
const getIntentIndex = (): IntentIndex => (index ??= buildIndex(listIntentSources()));

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
