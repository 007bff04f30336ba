/** What two items are compared by. Days are whole days of the source's clock. */
export type Facts = {
  publisher: string;
  /** When the source published it, epoch milliseconds; undefined where it says nothing. */
  publishedAt: number | undefined;
  /** Absent where the item has no running text. */
  sketch: Uint32Array | undefined;
  /** How many indicators it has that can tell one story from another. */
  identifying: number;
};

/** What two items have in common. */
export type Shared = {
  /** Identifying indicators that few items hold. */
  rareIndicators: number;
  /** CVEs, malware and actors, each once. */
  names: number;
  /** Whether both name a CVE and a product of it. */
  flaw: boolean;
  similarity: number;
};

const daysMax = 14;
const dayMs = 86_400_000;
const rareLeast = 5;
const rareShareLeast = 0.6;
const alike = 0.5;
// Two tellings of one list of indicators.
const somewhatAlike = 0.3;
// Below it a series in one template begins (measured: at most 0.16 between different stories of one publisher).
const sameText = 0.8;

/**
 * Whether two items tell the same story (spec/feed.md, "duplicateOf", stage 2), and how sure that is (0 to 1); undefined where not.
 * Symmetric, and a function of the pair alone.
 */
export function sameStory(a: Facts, b: Facts, shared: Shared): number | undefined {
  if (daysApart(a, b) > daysMax) return undefined;
  const share = shared.rareIndicators / Math.max(1, Math.min(a.identifying, b.identifying));
  const sharesIndicators = shared.rareIndicators >= rareLeast && share >= rareShareLeast;
  if (!a.sketch || !b.sketch) return sharesIndicators ? Math.min(1, share) : undefined;
  const { similarity } = shared;
  if (fold(a.publisher) === fold(b.publisher)) {
    const isSpecific = sharesIndicators || shared.flaw || (shared.names > 0 && shared.rareIndicators > 0);
    return similarity >= sameText && isSpecific ? similarity : undefined;
  }
  const isSpecific = shared.rareIndicators > 0 || shared.flaw || shared.names > 0;
  if (similarity >= alike && isSpecific) return similarity;
  return similarity >= somewhatAlike && sharesIndicators ? similarity : undefined;
}

function daysApart(a: Facts, b: Facts): number {
  if (a.publishedAt === undefined || b.publishedAt === undefined) return 0;
  return Math.abs(a.publishedAt - b.publishedAt) / dayMs;
}

const fold = (text: string): string => text.normalize('NFC').trim().toLowerCase();
