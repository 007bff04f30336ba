import type { Tx } from '../../platform/db/db.ts';
import { batches, type RemovedTerm } from '../items/writing/write-items.store.ts';
import {
  addToTally,
  countTallied,
  emptyTally,
  type IndicatorTally,
  similarity,
  unpackSketch,
} from './comparison-traits.ts';
import {
  type ComparisonRow,
  type ItemLinkRow,
  listComparisonRows,
  listHoldersOfItems,
  listHoldersOfTerms,
  listItemNames,
  type PoolScope,
  rareHoldersMax,
  replaceLinks,
  type ValueHolders,
} from './deduplication.store.ts';

/**
 * Compares items with those that share a rare value or a similar text, and stores the pairs about the same story. Returns all items whose
 * group may change. If a value becomes too common, or rare again, all its holders are compared again, so that the pairs do not depend on the
 * order in which the items arrived. `unlinkableIds` are new items without any such value.
 */
export async function linkItems(
  tx: Tx,
  scope: PoolScope,
  ids: string[],
  { removedTerms, unlinkableIds }: { removedTerms: RemovedTerm[]; unlinkableIds: ReadonlySet<string> },
): Promise<Set<string>> {
  const newIds = new Set(ids);
  const queue = new Set([...ids, ...(await listHoldersOfRareTerms(tx, scope, removedTerms))]);
  const touched = new Set(queue);
  const comparedIds = ids.filter((id) => !unlinkableIds.has(id));
  const compared = await readHolders(tx, scope, comparedIds);
  for (const { holders } of compared)
    for (const id of holders.flatMap((value) => previousHolders(value, newIds))) queue.add(id);
  const others = await readHolders(tx, scope, [...queue.difference(newIds)]);
  for (const { ids: batch, holders } of [...compared, ...others]) {
    const links = await findLinks(tx, scope, batch, holders);
    const previouslyLinked = await replaceLinks(tx, scope.poolId, batch, links);
    for (const id of [...batch, ...previouslyLinked, ...links.flatMap(({ a, b }) => [a, b])]) touched.add(id);
  }
  return touched;
}

type ComparedBatch = { ids: string[]; holders: ValueHolders[] };

async function readHolders(tx: Tx, scope: PoolScope, ids: string[]): Promise<ComparedBatch[]> {
  const read: ComparedBatch[] = [];
  for (const batch of batches(ids)) read.push({ ids: batch, holders: await listHoldersOfItems(tx, scope, batch) });
  return read;
}

/** Returns the holders of removed terms that are rare now. */
async function listHoldersOfRareTerms(tx: Tx, scope: PoolScope, removedTerms: RemovedTerm[]): Promise<string[]> {
  const found: string[] = [];
  for (const batch of batches(removedTerms)) {
    const holders = await listHoldersOfTerms(tx, scope, batch);
    found.push(...holders.flatMap(({ ids }) => (ids.length <= rareHoldersMax ? ids : [])));
  }
  return found;
}

/** Returns the previous holders of a value that was rare for them and is now too common. */
function previousHolders({ ids }: ValueHolders, newIds: ReadonlySet<string>): string[] {
  if (ids.length <= rareHoldersMax) return [];
  const previous = ids.filter((id) => !newIds.has(id));
  return previous.length <= rareHoldersMax ? previous : [];
}

async function findLinks(tx: Tx, scope: PoolScope, ids: string[], holders: ValueHolders[]): Promise<ItemLinkRow[]> {
  const pairs = findPairs(holders, new Set(ids));
  if (pairs.length === 0) return [];
  const pairedIds = [...new Set(pairs.flatMap(({ a, b }) => [a, b]))];
  const rows = new Map((await listComparisonRows(tx, scope, pairedIds)).map((row) => [row.id, row]));
  const comparable = pairs.filter((pair) => isComparable(scope, rows.get(pair.a), rows.get(pair.b)));
  const comparedIds = [...new Set(comparable.flatMap(({ a, b }) => [a, b]))];
  const names = new Map((await listItemNames(tx, comparedIds)).map((row) => [row.id, new Set(row.names)]));
  return comparable.flatMap(({ a, b, rareIndicators }) => {
    const [itemA, itemB] = [toComparedItem(rows.get(a)!), toComparedItem(rows.get(b)!)];
    const weight = scoreSameStory(itemA, itemB, {
      rareIndicators,
      ...compareNames(names.get(a)!, names.get(b)!),
      similarity: itemA.sketch && itemB.sketch ? similarity(itemA.sketch, itemB.sketch) : 0,
    });
    return weight === undefined ? [] : [{ a, b, weight }];
  });
}

/** Counts the CVEs, malware and actors that two items have in common. `vulnerability`: they share a CVE and a product. */
function compareNames(a: Set<string>, b: Set<string>): { names: number; vulnerability: boolean } {
  const shared = [...a.intersection(b)];
  const has = (kind: string): boolean => shared.some((name) => name.startsWith(`${kind} `));
  const names = shared.filter((name) => !name.startsWith('product ')).length;
  return { names, vulnerability: has('cve') && has('product') };
}

/** Returns whether both items are live and at least one is in the pool. Pairs of a wider pool are linked there. */
function isComparable({ poolId }: PoolScope, a: ComparisonRow | undefined, b: ComparisonRow | undefined): boolean {
  if (!a || !b || a.status === 'retracted' || b.status === 'retracted') return false;
  return a.pool_id === poolId || b.pool_id === poolId;
}

const toComparedItem = (row: ComparisonRow): ComparedItem => ({
  publisher: row.publisher,
  publishedAt: row.publish_time?.getTime(),
  sketch: row.sketch === null ? undefined : unpackSketch(row.sketch),
  identifying: row.identifying,
});

const partnersPerItemMax = 200;

/** Two items that share a rare value. `rareIndicators` counts the things that their shared rare indicators refer to. */
type ItemPair = { a: string; b: string; rareIndicators: number };

/** The values that an item shares with others, by their IDs. */
type Partners = Map<string, IndicatorTally>;

/** Pairs the items with other holders of their rare values. Each item keeps the 200 partners that share the most rare indicators. */
export function findPairs(holders: ValueHolders[], ids: ReadonlySet<string>): ItemPair[] {
  const byItem = new Map<string, Partners>();
  for (const { kind, value, ids: holderIds } of holders) {
    if (holderIds.length > rareHoldersMax) continue;
    const rareIndicator = kind === 'indicator' ? value : undefined;
    for (const a of holderIds) {
      if (!ids.has(a)) continue;
      const partners = byItem.get(a) ?? new Map();
      byItem.set(a, partners);
      // If both items are in `ids`, only the smaller id adds the pair.
      for (const b of holderIds) if (b !== a && !(ids.has(b) && b < a)) addPartner(partners, b, rareIndicator);
    }
  }
  return [...byItem].flatMap(([a, partners]) =>
    [...partners]
      .map(([b, tally]): ItemPair => ({ a, b, rareIndicators: countTallied(tally) }))
      .toSorted((one, two) => two.rareIndicators - one.rareIndicators || (one.b < two.b ? -1 : 1))
      .slice(0, partnersPerItemMax),
  );
}

function addPartner(partners: Partners, id: string, rareIndicator: string | undefined): void {
  const tally = partners.get(id) ?? emptyTally();
  if (rareIndicator !== undefined) addToTally(tally, rareIndicator);
  partners.set(id, tally);
}

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
