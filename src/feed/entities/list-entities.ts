import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { invalidCursor, readPageRequest } from '../../platform/lib/page-request.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { getShippedNames } from '../extraction/names/dictionary/name-dictionary.ts';
import { findAttackId } from '../extraction/names/dictionary/attack-id.ts';
import { resolveName } from '../extraction/names/dictionary/resolve-name.ts';
import { filteredSnapshot, isFiltered, readFilters, toItemFilters, type FeedFilters } from '../items/feed-filters.ts';
import { relevantItems } from '../items/list-query/relevant-items.store.ts';
import type { SearchOptions } from '../items/search/search-query.sql.ts';
import { readOrgState } from '../items/snapshot/org-state.store.ts';
import type { Snapshot, SnapshotCache } from '../items/snapshot/snapshot.ts';
import { toTermValue } from '../model/terms.ts';
import {
  entityTypes,
  type EntitiesQuery,
  type EntityType,
  type FeedEntities,
  type FeedEntity,
} from './entities.schema.ts';
import { listEntityRows, listMatchingEntityRows, termKind, type EntityRow } from './entities.store.ts';

export type EntitiesDeps = { db: Db; clock: Clock; snapshots: SnapshotCache };

/** Returns a page of the entities that the organization sees, or those of the items that match filters: by type, then by name. */
export async function listEntities(
  { db, clock, snapshots }: EntitiesDeps,
  { orgId }: Caller,
  { type, q, limit: limitText, cursor, ...filterQuery }: EntitiesQuery,
): Promise<FeedEntities> {
  const { limit } = readPageRequest({ limit: limitText });
  const start = cursor === undefined ? undefined : readCursor(cursor);
  const types = entityTypes.filter((one) => type === undefined || one === type);
  const remaining = start ? types.slice(types.indexOf(start.type)) : types;
  const filters = readFilters(filterQuery);
  const snapshot = await snapshots.get(orgId);
  const found = await inOrg(db, orgId, async (tx) => {
    const options = await toSearchOptions(tx, filters, { snapshot, now: clock() });
    const rows: { type: EntityType; row: EntityRow }[] = [];
    for (const one of remaining) {
      if (rows.length > limit) break;
      const after = start?.type === one ? start.value : '';
      const search = readSearch(one, q);
      const wanted = { type: one, after, ...search, limit: limit + 1 - rows.length };
      const page = options
        ? await listMatchingEntityRows(tx, wanted, { snapshot: filteredSnapshot(filters, snapshot), options })
        : await listEntityRows(tx, wanted);
      rows.push(...page.map((row) => ({ type: one, row })));
    }
    return rows;
  });
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const nextCursor = found.length > limit && last ? encodeCursor(last.type, last.row.value) : null;
  return { entities: page.map((one) => toEntity(one.type, one.row)), nextCursor };
}

/** Returns the search for the items that match filters, or undefined without filters. */
async function toSearchOptions(
  tx: Tx,
  filters: FeedFilters,
  context: { snapshot: Snapshot; now: Date },
): Promise<SearchOptions | undefined> {
  const orgState = await readOrgState(tx, context.snapshot);
  const onlyIds = filters.relevancyMode === 'relevant' ? relevantItems(orgState, filters.requirement) : undefined;
  if (!onlyIds && !isFiltered(filters)) return undefined;
  return { filters: await toItemFilters(tx, filters, { ...context, orgState }), search: filters.search, onlyIds };
}

function toAttackId(type: EntityType, name: string): { attackId?: string } {
  const attackId = type === 'vulnerability' ? undefined : findAttackId(type, name);
  return attackId ? { attackId } : {};
}

export const toEntity = (type: EntityType, { name, items, firstSeen, lastSeen }: EntityRow): FeedEntity => ({
  type,
  name,
  ...toAttackId(type, name),
  items,
  firstSeen: firstSeen.toISOString(),
  lastSeen: lastSeen.toISOString(),
});

/** Searches the beginning of names and of their aliases. */
function readSearch(type: EntityType, q: string | undefined): { prefix: string; exact: string[] } {
  const text = q?.trim();
  if (!text) return { prefix: '', exact: [] };
  const prefix = toTermValue(termKind(type), text);
  return { prefix, exact: [...new Set([findCanonicalValue(type, text) ?? [], listByAlias(type, prefix)].flat())] };
}

const aliasMinChars = 3;
const byAliasMax = 500;

/** Returns the values of the entities in the list of names that have an alias with this beginning. */
function listByAlias(type: EntityType, prefix: string): string[] {
  if (type === 'vulnerability' || prefix.length < aliasMinChars) return [];
  const values = new Set<string>();
  for (const [key, { entities }] of getShippedNames()) {
    if (values.size >= byAliasMax) break;
    if (!key.startsWith(prefix)) continue;
    for (const { kind, name } of entities) if (kind === type) values.add(toTermValue(termKind(type), name));
  }
  return [...values];
}

/** Returns the value of the entity that the list of names has under an alias. */
export function findCanonicalValue(type: EntityType, name: string): string | undefined {
  if (type === 'vulnerability') return undefined;
  const entity = resolveName(type, name);
  return entity && toTermValue(termKind(type), entity.name);
}

const encodeCursor = (type: EntityType, value: string): string => Buffer.from(`${type} ${value}`).toString('base64url');

function readCursor(text: string): { type: EntityType; value: string } {
  const [type = '', ...rest] = Buffer.from(text, 'base64url').toString().split(' ');
  const value = rest.join(' ');
  const known = entityTypes.find((one) => one === type);
  if (!known || value === '' || value.includes('\0')) throw invalidCursor();
  return { type: known, value };
}
