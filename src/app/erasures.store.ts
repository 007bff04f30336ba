import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../platform/db/db.ts';
import type { OrgId } from '../platform/lib/org-id.ts';
import type { PageCursor } from '../platform/lib/page-request.ts';
import type { OrgRow } from '../platform/orgs/orgs.store.ts';

export type ErasureRow = {
  id: OrgId;
  name: string;
  requested_at: Date;
  requested_by: string | null;
  suspended_at: Date | null;
  suspended_by: string | null;
  finished_at: Date | null;
  failures: number;
  error: string | null;
  row_counts: Record<string, number>;
  files: number;
  bytes: number;
  audit_sequence: number | null;
  audit_hash: Buffer | null;
};

/** Records that an organization is to be deleted, with the state of its audit log. Does nothing if that is recorded. */
export async function insertErasureAcrossOrgs(tx: Tx, org: OrgRow, requestedBy: string): Promise<void> {
  await sql`
    insert into organization_erasures (id, name, requested_at, requested_by, suspended_at, suspended_by, bytes, audit_sequence, audit_hash)
    select ${org.id}, ${org.name}, now(), ${requestedBy}, ${org.suspended_at}, ${org.suspended_by}, (select coalesce(sum(bytes), 0) from segments where organization_id = ${org.id}), c.sequence, c.hash
    from (select) one left join audit_chains c on c.organization_id = ${org.id}
    on conflict (id) do nothing`.execute(tx);
}

/** Counts what an organization shares with others: its sources that are not private, and items outside of its own pool. */
export async function countSharedAcrossOrgs(tx: Tx, orgId: OrgId): Promise<number> {
  const row = await queryRow<{ n: number }>(tx)`
    select (select count(*) from feed_sources where organization_id = ${orgId} and visibility = 'shared')
      + (select count(*) from items i join feed_pools p on p.id = i.pool_id where i.organization_id = ${orgId} and p.kind <> 'private') as n`;
  return row!.n;
}

export function findErasureAcrossOrgs(tx: Tx, id: string): Promise<ErasureRow | undefined> {
  return queryRow<ErasureRow>(tx)`select * from organization_erasures where id = ${id}`;
}

/** Returns up to `limit` + 1 erasures, newest first. */
export function listErasuresAcrossOrgs(tx: Tx, limit: number, after: PageCursor | null): Promise<ErasureRow[]> {
  return queryRows<ErasureRow>(tx)`
    select * from organization_erasures
    ${after ? sql`where (date_trunc('milliseconds', requested_at), id) < (${after.at}, ${after.id}::uuid)` : sql``}
    order by date_trunc('milliseconds', requested_at) desc, id desc limit ${limit + 1}`;
}

/** Returns the organizations whose erasure has not finished, oldest first. */
export function listUnfinishedAcrossOrgs(tx: Tx): Promise<Pick<ErasureRow, 'id'>[]> {
  return queryRows<Pick<ErasureRow, 'id'>>(tx)`
    select id from organization_erasures where finished_at is null order by requested_at limit 100`;
}

/** The tables with rows of organizations, each after those that it references, and whether a row names its organization or its pool. */
export type TenantTable = { name: string; owner: 'organization_id' | 'pool_id' };

const ownRows = (orgId: OrgId, { owner }: TenantTable) =>
  owner === 'organization_id'
    ? sql`organization_id = ${orgId}`
    : sql`pool_id in (select id from feed_pools where organization_id = ${orgId})`;

/** Deletes up to `limit` rows of an organization from a table and adds their number to the record of the erasure. Returns the number. */
export async function deleteRowsAcrossOrgs(tx: Tx, orgId: OrgId, table: TenantTable, limit: number): Promise<number> {
  const name = sql.table(table.name);
  const { numAffectedRows } = await sql`
    delete from ${name} where (tableoid, ctid) in (
      select tableoid, ctid from ${name} where ${ownRows(orgId, table)} limit ${limit})`.execute(tx);
  const deleted = Number(numAffectedRows ?? 0);
  if (deleted > 0)
    await sql`
      update organization_erasures set row_counts = row_counts || jsonb_build_object(${table.name}::text, coalesce((row_counts ->> ${table.name})::bigint, 0) + ${deleted}::bigint)
      where id = ${orgId}`.execute(tx);
  return deleted;
}

/** Returns the first table that has a row of the organization, to which no transaction can add another until `tx` ends. */
export async function findRemainderAcrossOrgs(
  tx: Tx,
  orgId: OrgId,
  tables: TenantTable[],
): Promise<string | undefined> {
  await sql`select from organizations where id = ${orgId} for update`.execute(tx);
  for (const table of tables)
    if (await queryRow(tx)`select 1 from ${sql.table(table.name)} where ${ownRows(orgId, table)} limit 1`)
      return table.name;
  return undefined;
}

/** Notes files that are about to be deleted, each once, and counts all that were noted. */
export async function noteErasedFilesAcrossOrgs(tx: Tx, orgId: OrgId, paths: readonly string[]): Promise<void> {
  await sql`
    insert into organization_erasure_files (erasure_id, path) select ${orgId}, path from unnest(${paths}::text[]) path
    on conflict do nothing`.execute(tx);
  await sql`
    update organization_erasures set files = (select count(*) from organization_erasure_files where erasure_id = ${orgId})
      where id = ${orgId}`.execute(tx);
}

/** Counts a failed attempt. Does nothing if another process has finished the erasure. */
export async function recordFailureAcrossOrgs(tx: Tx, orgId: OrgId, message: string): Promise<void> {
  await sql`
    update organization_erasures set failures = failures + 1, error = ${message}
      where id = ${orgId} and finished_at is null`.execute(tx);
}

/** Deletes the organization itself and ends its erasure. */
export async function finishErasureAcrossOrgs(tx: Tx, orgId: OrgId): Promise<void> {
  await sql`
    update feed_pools set assigned_to = array_remove(assigned_to, ${orgId})
      where ${orgId} = any (assigned_to)`.execute(tx);
  await sql`delete from organizations where id = ${orgId}`.execute(tx);
  await sql`delete from organization_erasure_files where erasure_id = ${orgId}`.execute(tx);
  await sql`update organization_erasures set finished_at = now(), error = null where id = ${orgId}`.execute(tx);
}
