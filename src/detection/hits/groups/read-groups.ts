import { inOrg, type Db } from '../../../platform/db/db.ts';
import { appError } from '../../../platform/lib/errors.ts';
import { readPageRequest, toPage } from '../../../platform/lib/page-request.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import type { HitGroup, HitGroupFilter, HitGroupList } from './groups.schema.ts';
import { findGroup, listGroups, type HitGroupRow } from './read-groups.store.ts';

/** Returns a page of the groups of hits, newest first. */
export async function getHitGroups(
  { db }: { db: Db },
  { orgId }: Caller,
  filter: HitGroupFilter,
): Promise<HitGroupList> {
  const request = readPageRequest(filter);
  const { detection, status } = filter;
  const toDate = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text));
  const query = { detection, status, from: toDate(filter.from), to: toDate(filter.to) };
  const rows = await inOrg(db, orgId, (tx) => listGroups(tx, orgId, query, request));
  const { page, nextCursor } = toPage(rows, request.limit, (row) => ({ at: row.createdAt, id: row.id }));
  return { groups: page.map(toHitGroup), nextCursor };
}

export async function getHitGroup({ db }: { db: Db }, { orgId }: Caller, id: string): Promise<HitGroup> {
  const row = await inOrg(db, orgId, (tx) => findGroup(tx, orgId, id));
  if (!row) throw appError('not_found', `Hit group ${id} not found.`);
  return toHitGroup(row);
}

const typeLabels: Record<string, string> = { ip: 'IP addresses', access_key: 'access keys', url: 'URLs' };
const pluralOf = (type: string): string =>
  typeLabels[type] ?? (/[^aeiou]y$/.test(type) ? `${type.slice(0, -1)}ies` : `${type}s`);

export function toHitGroup(row: HitGroupRow): HitGroup {
  const types = new Set(row.entities.map(({ entityType }) => entityType));
  const [type] = types;
  const noun = types.size === 1 && type !== undefined ? pluralOf(type) : 'entities';
  return {
    ...row,
    headline: `${row.detectionName}: ${row.hits} ${noun}`,
    windowFrom: row.windowFrom.toISOString(),
    windowTo: row.windowTo.toISOString(),
    lastSeenAt: row.lastSeenAt.toISOString(),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
