import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { findPlatform, platforms } from '../model/platforms.ts';
import { itemStatuses, severities } from '../model/vocabulary.ts';
import type { FacetsQuery, FeedFacets } from './facets.schema.ts';
import { readItemCounts, type ItemCountRow } from './items.store.ts';
import { readMatchCounts } from './search/search-facets.store.ts';
import { readSearch } from './search/search-query.ts';
import { readOrgState } from './snapshot/org-state.store.ts';
import type { SnapshotCache } from './snapshot/snapshot.ts';

const sourcesMax = 200;

type Facet = 'severity' | 'status' | 'platform' | 'source';
export type FacetsDeps = { db: Db; snapshots: SnapshotCache };

/**
 * Counts the items by the filters of the list. Each facet counts what the other filters match, so that it shows what choosing another value
 * would list. With `q`, they count the items that match it.
 */
export async function getFacets(
  { db, snapshots }: FacetsDeps,
  { orgId }: Caller,
  query: FacetsQuery,
): Promise<FeedFacets> {
  const snapshot = await snapshots.get(orgId);
  const counts = await inOrg(db, orgId, async (tx) => {
    const { overridesSeq } = await readOrgState(tx, snapshot);
    const { fullText } = readSearch({ q: query.q });
    return fullText
      ? readMatchCounts(tx, snapshot, { query: fullText, overridesSeq })
      : { rows: await readItemCounts(tx, snapshot, overridesSeq), isEstimated: false };
  });
  const rows = counts.rows.map((row) => ({ ...row, platformList: row.platforms.split(',') }));
  const source = query.source === undefined ? undefined : fold(query.source);
  const platform = query.platform === undefined ? undefined : (findPlatform(query.platform) ?? query.platform);
  type Row = (typeof rows)[number];
  const filters: Record<Facet, (row: Row) => boolean> = {
    severity: (row) => query.severity === undefined || row.severity === query.severity,
    status: (row) => query.status === undefined || row.status === query.status,
    platform: (row) => platform === undefined || row.platformList.includes(platform),
    source: (row) => source === undefined || fold(row.publisher) === source || fold(row.source_name) === source,
  };
  const matching = (without?: Facet): Row[] =>
    rows.filter((row) => Object.entries(filters).every(([facet, matches]) => facet === without || matches(row)));
  const total = (list: ItemCountRow[]): number => list.reduce((sum, { n }) => sum + n, 0);
  const breakdown = <K extends string>(keys: readonly K[], facet: Facet, hasKey: (row: Row, key: K) => boolean) => {
    const found = matching(facet);
    return Object.fromEntries(keys.map((key) => [key, total(found.filter((row) => hasKey(row, key)))])) as Record<
      K,
      number
    >;
  };
  return {
    total: total(matching()),
    isEstimated: counts.isEstimated,
    severity: breakdown(severities.toReversed(), 'severity', (row, key) => row.severity === key),
    status: breakdown(itemStatuses, 'status', (row, key) => row.status === key),
    platform: breakdown(platforms, 'platform', (row, key) => row.platformList.includes(key)),
    source: countSources(matching('source')),
  };
}

/** Folds case like the filter `source`. */
const fold = (text: string): string => text.normalize('NFC').toLowerCase();

function countSources(rows: ItemCountRow[]): FeedFacets['source'] {
  const counts = new Map<string, number>();
  for (const { publisher, source_name: name, n } of rows)
    for (const label of new Set([publisher, name])) counts.set(label, (counts.get(label) ?? 0) + n);
  return [...counts]
    .map(([name, items]) => ({ name, items }))
    .toSorted((a, b) => b.items - a.items || a.name.localeCompare(b.name))
    .slice(0, sourcesMax);
}
