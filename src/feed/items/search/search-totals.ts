import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import { withCtes, type Sql, type StateCondition } from '../list-query/query.sql.ts';
import { changedIds } from '../list-query/snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { isOneOf, matchesText } from './search-conditions.sql.ts';
import { countText, isTextOnly } from './search-scan.ts';
import { matchingRows, rootsOf, searchCtes, type SearchOptions } from './search-ctes.sql.ts';

type CountedTotal = { snapshot: Snapshot; overridesSeq: number | undefined; total: number };

/** The numbers of matches of recent searches. Bounded by memory, because a search may be thousands of characters long. */
export type SearchTotals = LRUCache<string, CountedTotal>;

/** Shorter than previous states of items are kept: they tell whether an item that changed since matched before. */
const keepMs = 30 * 60_000;

export const createSearchTotals = (bytesMax = 4 * 1024 * 1024): SearchTotals =>
  new LRUCache({ maxSize: bytesMax, sizeCalculation: (_total, key) => 2 * key.length + 500, ttl: keepMs });

const changedMax = 1_000;

/**
 * Returns the exact number of matches of a search in a snapshot. Counting the matches of a frequent word takes almost a second in a feed of a
 * million items, so the number is kept and corrected by the items that changed since. `orgKey` identifies the organization.
 * Fewer matches than `keptMin` are counted each time.
 */
export async function countMatches(
  tx: Tx,
  { totals, orgKey, keptMin }: { totals: SearchTotals; orgKey: string; keptMin: number },
  snapshot: Snapshot,
  options: SearchOptions,
): Promise<number> {
  const key = toKey(orgKey, snapshot, options);
  const known = key === undefined ? undefined : totals.get(key);
  const corrected = known && (await correctTotal(tx, known, { snapshot, options }));
  const total = corrected ?? (await countAll(tx, snapshot, options));
  if (key !== undefined && total >= keptMin && (!known || isAtLeast(snapshot, known.snapshot)))
    totals.set(key, { snapshot, overridesSeq: options.filters.overridesSeq, total });
  return total;
}

/** Undefined if the number of matches also depends on what items do not tell: relevance and overrides by time. */
function toKey(orgKey: string, { poolIds }: Snapshot, { filters, search, onlyIds }: SearchOptions): string | undefined {
  const { isRanked: _order, applied: _text, ...conditions } = search;
  const { overridesSeq, ...columnFilters } = filters;
  if (onlyIds !== undefined || search.updatedSince !== undefined) return undefined;
  return JSON.stringify([orgKey, poolIds, overridesSeq !== undefined, columnFilters, conditions]);
}

const isAtLeast = ({ seqs }: Snapshot, earlier: Snapshot): boolean =>
  seqs.every((seq, index) => seq >= earlier.seqs[index]!);

type Counted = { snapshot: Snapshot; options: SearchOptions };

async function correctTotal(tx: Tx, known: CountedTotal, now: Counted): Promise<number | undefined> {
  if (known.snapshot.tag === now.snapshot.tag) return known.total;
  if (!isAtLeast(now.snapshot, known.snapshot)) return undefined;
  const { filters } = now.options;
  const before: Counted = {
    snapshot: known.snapshot,
    options: { ...now.options, filters: withOverridesSeq(filters, known.overridesSeq) },
  };
  const changed = await listChangedIds(tx, before);
  if (changed.length > changedMax) return undefined;
  if (changed.length === 0) return known.total;
  const affected = await listAffectedIds(tx, changed, [before, now]);
  return known.total - (await countAmong(tx, before, affected)) + (await countAmong(tx, now, affected));
}

const withOverridesSeq = ({ overridesSeq: _now, ...filters }: SearchOptions['filters'], seq: number | undefined) => ({
  ...filters,
  ...(seq === undefined ? {} : { overridesSeq: seq }),
});

/** Returns the ids of the items and overrides that changed since, at most `changedMax + 1`. */
async function listChangedIds(tx: Tx, { snapshot, options }: Counted): Promise<string[]> {
  const { overridesSeq } = options.filters;
  const overridden = sql`
    select item_id from feed_overrides where organization_id = tocsin_org() and seq > ${overridesSeq ?? 0}
    union all
    select item_id from feed_override_states where organization_id = tocsin_org() and seq_until > ${overridesSeq ?? 0}`;
  const changed = sql`${changedIds(snapshot)} ${overridesSeq === undefined ? sql`` : sql`union all ${overridden}`}`;
  const rows = await queryRows<{ id: string }>(tx)`
    select distinct id from (${changed}) changed (id) limit ${changedMax + 1}`;
  return rows.map(({ id }) => id);
}

/** The listed rows whose match may have changed, and all items that may match for them. */
type AffectedIds = { rows: string[]; members: string[] };

async function listAffectedIds(tx: Tx, changed: string[], states: Counted[]): Promise<AffectedIds> {
  if (!states.every(({ options }) => options.search.rootsOnly)) return { rows: changed, members: changed };
  const ids = async (query: Sql): Promise<string[]> =>
    (await queryRows<{ id: string }>(tx)`${query}`).map(({ id }) => id);
  const wanted = isOneOf(sql`select unnest(${changed}::uuid[])`);
  const roots: string[] = [];
  for (const { snapshot, options } of states)
    roots.push(...(await ids(rootsOf(matchingRows(snapshot, [wanted]), options.filters.overridesSeq))));
  const rows = [...new Set([...changed, ...roots])];
  const members = await ids(sql`
    select id from items where duplicate_of = any(${rows}::uuid[])
    union select item_id from feed_overrides where organization_id = tocsin_org() and duplicate_of = any(${rows}::uuid[])`);
  return { rows, members: [...new Set([...rows, ...members])] };
}

function countAmong(tx: Tx, { snapshot, options }: Counted, { rows, members }: AffectedIds): Promise<number> {
  const { fullText } = options.search;
  const isAmong = (ids: string[]): StateCondition => isOneOf(sql`select unnest(${ids}::uuid[])`);
  const bounds = {
    ...(fullText ? { text: matchesText(snapshot, fullText) } : {}),
    members: isAmong(members),
    rows: isAmong(rows),
  };
  return countFound(tx, snapshot, options, bounds);
}

const countAll = (tx: Tx, snapshot: Snapshot, options: SearchOptions): Promise<number> =>
  isTextOnly(options) ? countText(tx, snapshot, options.search.fullText!) : countFound(tx, snapshot, options);

async function countFound(tx: Tx, snapshot: Snapshot, options: SearchOptions, bounds = {}): Promise<number> {
  const query = withCtes(searchCtes(snapshot, options, bounds), sql`select count(*) as n from found`);
  return (await queryRow<{ n: number }>(tx)`${query}`)!.n;
}
