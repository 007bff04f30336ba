/** The values by which an item is compared. */
export type ComparedItem = {
  publisher: string;
  /** When the source published the item, in epoch milliseconds, if it says so. */
  publishedAt: number | undefined;
  /** Absent if the item has no running text. */
  sketch: Uint32Array | undefined;
  /** The number of the item's indicators that can distinguish one story from another. */
  identifying: number;
};

/** The values that two items have in common. */
export type SharedTraits = {
  /** The number of shared identifying indicators that few items have. */
  rareIndicators: number;
  /** The number of shared CVEs, malware and actors. */
  names: number;
  /** Whether both mention the same CVE and the same product. */
  vulnerability: boolean;
  similarity: number;
};

const daysMax = 14;
const dayMs = 86_400_000;
const rareMin = 5;
const rareShareMin = 0.6;
const similarityMin = 0.5;
// Applies to items that share a list of indicators.
const similarityWithIndicatorsMin = 0.3;
// Applies to items of one publisher, whose different stories may share a template (measured: at most 0.16 similar).
const samePublisherSimilarityMin = 0.8;

/**
 * Returns the confidence (0 to 1) that two items are about the same story, or undefined if they do not.
 * Symmetric. Depends only on the pair.
 */
export function scoreSameStory(a: ComparedItem, b: ComparedItem, shared: SharedTraits): number | undefined {
  if (daysApart(a, b) > daysMax) return undefined;
  const share = shared.rareIndicators / Math.max(1, Math.min(a.identifying, b.identifying));
  const sharesIndicators = shared.rareIndicators >= rareMin && share >= rareShareMin;
  if (!a.sketch || !b.sketch) return sharesIndicators ? Math.min(1, share) : undefined;
  const { similarity } = shared;
  if (foldCase(a.publisher) === foldCase(b.publisher)) {
    const isSpecific = sharesIndicators || shared.vulnerability || (shared.names > 0 && shared.rareIndicators > 0);
    return similarity >= samePublisherSimilarityMin && isSpecific ? similarity : undefined;
  }
  const isSpecific = shared.rareIndicators > 0 || shared.vulnerability || shared.names > 0;
  if (similarity >= similarityMin && isSpecific) return similarity;
  return similarity >= similarityWithIndicatorsMin && sharesIndicators ? similarity : undefined;
}

function daysApart(a: ComparedItem, b: ComparedItem): number {
  if (a.publishedAt === undefined || b.publishedAt === undefined) return 0;
  return Math.abs(a.publishedAt - b.publishedAt) / dayMs;
}

const foldCase = (text: string): string => text.normalize('NFC').trim().toLowerCase();
