import type { Tx } from '../../platform/db/db.ts';
import { pairsOf } from './pairs.ts';
import { sameStory, type Facts } from './same-story.ts';
import { similarity, unpackSketch } from './sketch.ts';
import {
  listFacts,
  listHolders,
  listHoldersOf,
  listSharedNames,
  rareMax,
  replaceLinks,
  type FactsRow,
  type Holders,
  type LinkRow,
  type Universe,
} from './deduplication.store.ts';

const batchMax = 500;

/** Values that items lost: what they tell may be rare again. */
export type Gone = { kind: string; value: string }[];

/**
 * Compares items with what shares a rare value or a piece of text with them, and keeps the pairs that tell one story. Answers every item
 * whose group may be another now. A value that has become too common, or rare again, has all its holders compared anew: which pairs
 * there are depends on the items alone, not on the order in which they came.
 */
export async function linkItems(tx: Tx, universe: Universe, ids: string[], gone: Gone): Promise<Set<string>> {
  const seeds = new Set(ids);
  const queue = new Set([...ids, ...(await rareAgain(tx, universe, gone))]);
  const touched = new Set(queue);
  for (const batch of batches(ids)) {
    const holders = await listHolders(tx, universe, batch);
    for (const id of holders.flatMap((held) => tooCommonNow(held, seeds))) queue.add(id);
  }
  for (const batch of batches([...queue])) {
    const links = await findLinks(tx, universe, batch);
    const before = await replaceLinks(tx, universe.poolId, batch, links);
    for (const id of [...batch, ...before, ...links.flatMap(({ a, b }) => [a, b])]) touched.add(id);
  }
  return touched;
}

export const batches = <T>(list: T[]): T[][] =>
  Array.from({ length: Math.ceil(list.length / batchMax) }, (_, index) =>
    list.slice(index * batchMax, (index + 1) * batchMax),
  );

async function rareAgain(tx: Tx, universe: Universe, gone: Gone): Promise<string[]> {
  const found: string[] = [];
  for (const batch of batches(gone)) {
    const holders = await listHoldersOf(tx, universe, batch);
    found.push(...holders.flatMap(({ ids }) => (ids.length <= rareMax ? ids : [])));
  }
  return found;
}

/** The holders before, where a value was rare for them and no longer is. */
function tooCommonNow({ ids }: Holders, seeds: ReadonlySet<string>): string[] {
  if (ids.length <= rareMax) return [];
  const before = ids.filter((id) => !seeds.has(id));
  return before.length <= rareMax ? before : [];
}

async function findLinks(tx: Tx, universe: Universe, ids: string[]): Promise<LinkRow[]> {
  const pairs = pairsOf(await listHolders(tx, universe, ids), new Set(ids));
  if (pairs.length === 0) return [];
  const partners = [...new Set(pairs.flatMap(({ a, b }) => [a, b]))];
  const facts = new Map((await listFacts(tx, universe, partners)).map((row) => [row.id, row]));
  const live = pairs.filter((pair) => mayBelong(universe, facts.get(pair.a), facts.get(pair.b)));
  const names = new Map((await listSharedNames(tx, live)).map((row) => [`${row.a} ${row.b}`, row]));
  return live.flatMap(({ a, b, rareIndicators }) => {
    const [one, two] = [factsOf(facts.get(a)!), factsOf(facts.get(b)!)];
    const shared = names.get(`${a} ${b}`);
    const weight = sameStory(one, two, {
      rareIndicators,
      names: shared?.names ?? 0,
      flaw: shared?.flaw ?? false,
      similarity: one.sketch && two.sketch ? similarity(one.sketch, two.sketch) : 0,
    });
    return weight === undefined ? [] : [{ a, b, weight }];
  });
}

/** Two items of a wider audience are put in order there. */
function mayBelong({ poolId }: Universe, a: FactsRow | undefined, b: FactsRow | undefined): boolean {
  if (!a || !b || a.status === 'retracted' || b.status === 'retracted') return false;
  return a.pool_id === poolId || b.pool_id === poolId;
}

const factsOf = (row: FactsRow): Facts => ({
  publisher: row.publisher,
  publishedAt: row.publish_time?.getTime(),
  sketch: row.sketch === null ? undefined : unpackSketch(row.sketch),
  identifying: row.identifying,
});
