import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { decodeCursor, encodeCursor, type PageCursor } from '../../platform/lib/page-request.ts';
import { mapInSlices } from '../../platform/lib/concurrency/slices.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { filteredSnapshot, hasSearch, readFilters, toItemFilters, type FeedFilters } from '../items/feed-filters.ts';
import type { Condition, Sql } from '../items/snapshot/query.sql.ts';
import { isRelevant } from '../items/list-query/relevant-items.store.ts';
import { withSearchLimits } from '../items/search/search.store.ts';
import { readOrgState, type OrgState } from '../items/snapshot/org-state.store.ts';
import type { DatedSnapshot, Snapshot, SnapshotCache } from '../items/snapshot/snapshot.ts';
import { startOfHour, updateExpiry } from '../model/expiry.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { tlps, type Tlp } from '../model/vocabulary.ts';
import { keepAssigned, readNameFilters } from './assigned-values.ts';
import { applyDatedOverride } from '../items/snapshot/apply-overrides.ts';
import { listExportRows, type ExportRow, listOverrideHistory } from './exports.store.ts';
import type { ExportQuery } from './exports-query.ts';

export type ExportDeps = { db: Db; clock: Clock; snapshots: SnapshotCache };

/**
 * Filters by malware, tool or actor select the values of items: `unassigned` counts the active ones that were left out, because their items
 * do not assign them to the name, and `partialIds` are these items. `next` is the cursor of the next page, absent on the last one.
 */
export type ExportPage = {
  items: FeedItem[];
  unassigned: number;
  partialIds: ReadonlySet<string>;
  next: string | undefined;
};

/** Returns the snapshot and the hour that an export shows. Equal ones produce equal bytes. */
export async function readExportSnapshot(
  { snapshots, clock }: Pick<ExportDeps, 'snapshots' | 'clock'>,
  { orgId }: Caller,
): Promise<DatedSnapshot> {
  return { snapshot: await snapshots.get(orgId), hour: startOfHour(clock()) };
}

/**
 * Returns items as the organization sees them, newest first. A page may have fewer items than its limit: items with a stricter marking than
 * `tlpMax` and, if requested, items that are not relevant are left out after the page is read.
 */
export function readExportPage(
  { db }: Pick<ExportDeps, 'db'>,
  { orgId }: Caller,
  { snapshot, hour, query, tlpMax }: DatedSnapshot & { query: ExportQuery; tlpMax: Tlp },
): Promise<ExportPage> {
  const after = query.after === undefined ? undefined : readAfter(query.after);
  const filters = readFilters(query);
  return inOrg(db, orgId, async (tx) => {
    const orgState = await readOrgState(tx, snapshot);
    const isMember = filters.relevancyMode === 'relevant' ? isRelevant(orgState, filters.requirement) : undefined;
    const range = { snapshot, orgState, now: new Date(hour), limit: Number(query.limit), after, isMember };
    const found = await listFiltered(tx, filters, range);
    const ids = found.map(({ id }) => id);
    const overrides = await listOverrideHistory(tx, ids);
    const members = found.filter((row) => row.isMember);
    const seen = await mapInSlices(members, ({ id, doc }) => {
      const item = JSON.parse(doc) as FeedItem;
      updateExpiry(item, hour);
      return applyDatedOverride(item, overrides.get(id)?.at(-1));
    });
    const allowed = seen.filter(({ source }) => tlps.indexOf(source.tlp) <= tlps.indexOf(tlpMax));
    const nameFilters = readNameFilters(query);
    const assigned = await mapInSlices(allowed, (item) => keepAssigned(item, nameFilters));
    const partialIds = new Set(allowed.filter((item, index) => assigned[index]!.item !== item).map(({ id }) => id));
    const last = found.at(-1);
    const hasMore = last !== undefined && last.listed > found.length;
    const unassigned = assigned.reduce((sum, one) => sum + one.unassigned, 0);
    const items = assigned.map(({ item }) => item);
    return { items, unassigned, partialIds, next: hasMore ? encodeCursor({ at: last.at, id: last.id }) : undefined };
  });
}

type ExportRange = {
  snapshot: Snapshot;
  orgState: OrgState;
  now: Date;
  limit: number;
  after: PageCursor | undefined;
  isMember: ((id: Sql) => Condition) | undefined;
};

async function listFiltered(tx: Tx, filters: FeedFilters, range: ExportRange): Promise<ExportRow[]> {
  const { search } = filters;
  const snapshot = filteredSnapshot(filters, range.snapshot);
  const itemFilters = await toItemFilters(tx, filters, range);
  if (hasSearch(search))
    return withSearchLimits(tx, () => listExportRows(tx, snapshot, { ...range, filters: itemFilters, search }));
  const columns = { ...itemFilters, ...(search.rootsOnly ? { rootsOnly: true } : {}) };
  return listExportRows(tx, snapshot, { ...range, filters: columns, search: undefined });
}

function readAfter(text: string): PageCursor {
  const cursor = decodeCursor(text);
  const detail = 'Unknown `after` cursor. Follow the `Link` header of the previous page.';
  if (!cursor) throw fieldError('query/after', 'unknown_after', detail);
  return cursor;
}
