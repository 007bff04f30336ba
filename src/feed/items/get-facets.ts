import { z } from 'zod';
import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { toCountOutputs, CountOutputs } from '../model/item.schema.ts';
import { platforms } from '../model/platforms.ts';
import { itemStatuses, severities } from '../model/vocabulary.ts';
import { filteredSnapshot, readFilters, type FilterQuery, filterFields } from './feed-filters.ts';
import type { ItemCountRow } from './items.store.ts';
import type { CountPublicWords } from './search/correct-search.ts';
import { matchesColumns, readSourceCounts, type ColumnFilter } from './search/search-facets.ts';
import { readOrgState } from './snapshot/org-state.store.ts';
import type { SnapshotCache } from './snapshot/snapshot.ts';

export const FacetsQuery = z.object(filterFields);

export const FeedFacets = z
  .object({
    total: z.int().describe('Items that match all filters.'),
    severity: z.record(z.enum(severities), z.int()),
    status: z.record(z.enum(itemStatuses), z.int()),
    platform: z.record(z.enum(platforms), z.int()),
    source: z
      .array(
        z.object({
          name: z.string().describe('A publisher or source name.'),
          type: z.enum(['source', 'publisher']).describe('`source` if a source and a publisher share the name.'),
          items: z.int(),
        }),
      )
      .describe('The most frequent first, at most 200. With `duplicates=hide`, those of the roots.'),
    outputs: CountOutputs,
  })
  .meta({ id: 'FeedFacets' });

export type FeedFacets = z.infer<typeof FeedFacets>;

const sourcesMax = 200;

export type FacetsDeps = { db: Db; clock: Clock; snapshots: SnapshotCache; countPublicWords: CountPublicWords };

/**
 * Counts the items by the filters of the list. Each facet counts what the other filters match, so that it shows what choosing another value
 * would list.
 */
export async function getFacets(
  { db, clock, snapshots, countPublicWords }: FacetsDeps,
  { orgId }: Caller,
  query: FilterQuery,
): Promise<FeedFacets> {
  const current = await snapshots.get(orgId);
  const filters = readFilters(query);
  const { bySource, ofAllSources } = await inOrg(db, orgId, async (tx) => {
    const orgState = await readOrgState(tx, current);
    const snapshot = filteredSnapshot(filters, current);
    return readSourceCounts(tx, filters, { snapshot, orgState, countPublicWords, now: clock() });
  });
  const { rows } = bySource;
  const matching = (list: ItemCountRow[], without?: ColumnFilter): ItemCountRow[] =>
    list.filter((row) => matchesColumns(filters, row, without));
  const breakdown = <K extends string>(
    keys: readonly K[],
    facet: ColumnFilter,
    hasKey: (row: ItemCountRow, key: K) => boolean,
  ) => {
    const found = matching(rows, facet);
    return Object.fromEntries(keys.map((key) => [key, total(found.filter((row) => hasKey(row, key)))])) as Record<
      K,
      number
    >;
  };
  return {
    total: total(matching(rows)),
    severity: breakdown(severities.toReversed(), 'severity', (row, key) => row.severity === key),
    status: breakdown(itemStatuses, 'status', (row, key) => row.status === key),
    platform: breakdown(platforms, 'platform', (row, key) => row.platforms.split(',').includes(key)),
    source: countSources(matching(ofAllSources.rows)),
    ...toCountOutputs(bySource.isEstimated),
  };
}

const total = (list: ItemCountRow[]): number => list.reduce((sum, { n }) => sum + n, 0);

function countSources(rows: ItemCountRow[]): FeedFacets['source'] {
  const counts = new Map<string, number>();
  const sources = new Set(rows.map(({ source_name: name }) => name));
  for (const { publisher, source_name: name, n } of rows)
    for (const label of new Set([publisher, name])) counts.set(label, (counts.get(label) ?? 0) + n);
  return [...counts]
    .map(([name, items]) => ({ name, type: sources.has(name) ? ('source' as const) : ('publisher' as const), items }))
    .toSorted((a, b) => b.items - a.items || a.name.localeCompare(b.name))
    .slice(0, sourcesMax);
}
