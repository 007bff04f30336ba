import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../db/db.ts';
import { lockName } from '../db/lock-name.store.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { PageRequest } from '../lib/page-request.ts';
import type { Author } from '../http/caller.ts';
import type { View, ViewInput } from './views.schema.ts';

export type ViewRow = Omit<View, 'createdAt' | 'updatedAt'> & { createdAt: Date; updatedAt: Date };

const columns = sql`id, name, page, query, key_id as "keyId", actor, created_at as "createdAt", updated_at as "updatedAt"`;

/** Lists `limit` + 1 views, of one page if given, newest first. */
export function listViewRows(
  tx: Tx,
  orgId: OrgId,
  page: string | undefined,
  { limit, after }: PageRequest,
): Promise<ViewRow[]> {
  return queryRows<ViewRow>(tx)`
      select ${columns} from saved_views where organization_id = ${orgId} ${page === undefined ? sql`` : sql`and page = ${page}`}
        ${after ? sql`and (created_at, id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by created_at desc, id desc limit ${limit + 1}`;
}

export function findView(tx: Tx, orgId: OrgId, id: string): Promise<ViewRow | undefined> {
  return queryRow<ViewRow>(tx)`
    select ${columns} from saved_views where organization_id = ${orgId} and id = ${id} for update`;
}

export async function countViews(tx: Tx, orgId: OrgId): Promise<number> {
  const found = await queryRow<{ n: number }>(tx)`
    select count(*) as n from saved_views where organization_id = ${orgId}`;
  return found!.n;
}

/** Stores a view, new or changed. Returns undefined if another view of the page has the name. */
export function upsertView(
  tx: Tx,
  orgId: OrgId,
  { id, name, page, query }: ViewInput & { id: string },
  { author, now }: { author: Author; now: Date },
): Promise<ViewRow | undefined> {
  return queryRow<ViewRow>(tx)`
      insert into saved_views (organization_id, id, name, page, query, key_id, actor, created_at, updated_at)
      select ${orgId}::uuid, ${id}::uuid, ${name}, ${page}, ${query}, ${author.keyId}, ${author.subject ?? null},
        ${now}::timestamptz, ${now}::timestamptz
      where not exists (select from saved_views where organization_id = ${orgId} and page = ${page} and lower(name) = lower(${name}) and id <> ${id})
      on conflict (organization_id, id) do update set name = excluded.name, page = excluded.page, query = excluded.query,
        updated_at = greatest(excluded.updated_at, saved_views.updated_at + interval '1 millisecond')
      returning ${columns}`;
}

export async function deleteView(tx: Tx, orgId: OrgId, id: string): Promise<void> {
  await sql`delete from saved_views where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

/** Serializes changes of an organization's views until the transaction ends, so that names stay unique. */
export async function lockViews(tx: Tx, orgId: OrgId): Promise<void> {
  await lockName(tx, `views ${orgId}`);
}
