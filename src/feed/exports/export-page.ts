import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { decodeCursor, encodeCursor, type PageCursor } from '../../platform/lib/page-request.ts';
import { mapInSlices } from '../../platform/lib/concurrency/slices.ts';
import type { Caller } from '../../platform/http/caller.ts';
import {
  filteredSnapshot,
  hasSearch,
  readFilters,
  toItemFilters,
  type FeedFilters,
  readFields,
} from '../items/feed-filters.ts';
import type { Condition, Sql } from '../items/snapshot/query.sql.ts';
import { isRelevant } from '../items/list-query/relevant-items.store.ts';
import { withSearchLimits } from '../items/search/search.store.ts';
import { readOrgState, type OrgState } from '../items/snapshot/org-state.store.ts';
import type { DatedSnapshot, Snapshot, SnapshotCache } from '../items/snapshot/snapshot.ts';
import { startOfHour, updateExpiry } from '../model/expiry.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { tlps, type Tlp } from '../model/vocabulary.ts';
import { applyDatedOverride } from '../items/snapshot/apply-overrides.ts';
import { listExportRows, type ExportRow, listOverrideHistory } from './exports.store.ts';
import type { ExportQuery, EventQuery } from './exports-query.ts';
import { readSearch } from '../items/search-terms/search-query.ts';
import { toTermValue } from '../model/terms.ts';
import { createNameReader, type NameList, type ValueNames } from '../model/value-names.ts';
import { listObservables, type ObservableIndicator } from '../model/values/observables.ts';
import { toStixItem, type ItemVersion } from './stix/stix-item.ts';

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

/** The names of one of the filters `malware`, `tool` and `actor`, as terms. */
type NameFilter = { kind: 'malware' | 'tool' | 'actor'; list: NameList; values: ReadonlySet<string> };

const listByKind: Record<string, NameList> = { malware: 'malware', tool: 'malware', actor: 'actor' };

/** Returns the filters of a query that select values by name, besides the items that have the name. */
export const readNameFilters = (query: EventQuery): NameFilter[] =>
  readSearch(readFields(query)).rootTerms.flatMap(({ kind, values }) => {
    const list = listByKind[kind];
    return list ? [{ kind: kind as NameFilter['kind'], list, values: new Set(values) }] : [];
  });

/**
 * Returns an item with the values that it assigns to the names of every filter, and the number of active values that it assigns to none of them
 * or to nothing. Returns the same item if it keeps all of its values.
 */
export function keepAssigned(item: FeedItem, filters: NameFilter[]): { item: FeedItem; unassigned: number } {
  if (filters.length === 0) return { item, unassigned: 0 };
  const readNames = createNameReader(item);
  const matchers = filters.map((filter) => ({ list: filter.list, names: listMatchingNames(item, filter) }));
  const isAssigned = (value: ObservableIndicator & ValueNames): boolean =>
    matchers.every(({ list, names }) => readNames(value, list).some((name) => names.has(name)));
  const observables = listObservables(item);
  const left = [...Object.values(item.iocs).flat(), ...observables].filter((value) => !isAssigned(value));
  if (left.length === 0) return { item, unassigned: 0 };
  const iocs = Object.fromEntries(
    Object.entries(item.iocs).map(([bucket, indicators]) => [bucket, indicators.filter(isAssigned)]),
  ) as FeedItem['iocs'];
  const dropped = new Set(left.map(({ type, value }) => `observable:${type} ${value}`));
  const mappings = item.classification.mappings.filter(({ framework, id }) => !dropped.has(`${framework} ${id}`));
  return {
    item: { ...item, iocs, classification: { ...item.classification, mappings } },
    unassigned: left.filter(({ status }) => status === 'active').length,
  };
}

/** Returns the names of an item and of its values that a filter means, by one of their aliases. */
function listMatchingNames(item: FeedItem, { kind, list, values }: NameFilter): Set<string> {
  const isMeant = (form: string): boolean => values.has(toTermValue(kind, form));
  const own = new Set(Object.values(item.iocs).flatMap((indicators) => indicators.flatMap((one) => one[list] ?? [])));
  return new Set([
    ...[...own].filter(isMeant),
    ...item.classification[list].flatMap(({ name, aliases }) => ([name, ...aliases].some(isMeant) ? [name] : [])),
  ]);
}

type StixItem = ReturnType<typeof toStixItem>;

/**
 * Returns the STIX objects of an item without the indicators that it does not assign to the names of the filters. The other objects are those of
 * the whole item, because other bytes would need another `modified`. Of an item that came as STIX, all indicators are left out.
 */
export function keepAssignedObjects(version: ItemVersion, filters: NameFilter[]): StixItem {
  const { objects, unsupported } = toStixItem(version);
  if (version.originals) {
    const left = new Set(
      objects.filter(({ type }) => type === 'indicator' || type === 'observed-data').map(({ id }) => id),
    );
    const refersToLeft = (object: StixItem['objects'][number]): boolean =>
      ['source_ref', 'target_ref', 'sighting_of_ref'].some((name) => left.has(object[name] as string));
    return { objects: objects.filter((object) => !left.has(object.id) && !refersToLeft(object)), unsupported };
  }
  const { item } = keepAssigned(version.item, filters);
  const kept = new Set(toStixItem({ ...version, item }).objects.map(({ id }) => id));
  return { objects: objects.filter(({ id }) => kept.has(id)), unsupported };
}
