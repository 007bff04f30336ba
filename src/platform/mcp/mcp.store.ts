import { sql } from 'kysely';
import { row, rows, type Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { PageRequest } from '../lib/page-request.ts';

export type McpServerRow = {
  organization_id: OrgId;
  id: string;
  name: string;
  url: string;
  sealed: Buffer;
  tools: string[] | null;
  created_at: Date;
  updated_at: Date;
};

export const serversMax = 50;

/** False: the name is taken, or there are `serversMax` already. */
export async function insertServer(tx: Tx, made: McpServerRow): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into mcp_servers (organization_id, id, name, url, sealed, tools, created_at, updated_at)
    select ${made.organization_id}::uuid, ${made.id}::uuid, ${made.name}, ${made.url}, ${made.sealed}::bytea, ${made.tools}::text[],
      ${made.created_at}::timestamptz, ${made.updated_at}::timestamptz
    where (select count(*) from mcp_servers where organization_id = ${made.organization_id}) < ${serversMax}
    on conflict do nothing`.execute(tx);
  return Number(numAffectedRows) > 0;
}

/** Stores all columns that a change may touch; `updated_at` moves strictly forward. False: the name is taken. */
export async function updateServer(tx: Tx, next: McpServerRow, now: Date): Promise<McpServerRow | undefined> {
  return row(
    tx,
    sql<McpServerRow>`
      update mcp_servers set name = ${next.name}, url = ${next.url}, sealed = ${next.sealed}, tools = ${next.tools}::text[],
        updated_at = greatest(${now}::timestamptz, updated_at + interval '1 millisecond')
      where organization_id = ${next.organization_id} and id = ${next.id} and not exists (
        select from mcp_servers o where o.organization_id = ${next.organization_id} and o.name = ${next.name} and o.id <> ${next.id})
      returning *`,
  );
}

export async function deleteServer(tx: Tx, orgId: OrgId, id: string): Promise<void> {
  await sql`delete from mcp_servers where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

export function findServer(tx: Tx, orgId: OrgId, id: string, lock = false): Promise<McpServerRow | undefined> {
  return row(
    tx,
    sql<McpServerRow>`select * from mcp_servers where organization_id = ${orgId} and id = ${id} ${lock ? sql`for update` : sql``}`,
  );
}

/** Newest first, `limit` + 1 of them. */
export function listServers(tx: Tx, orgId: OrgId, { limit, after }: PageRequest): Promise<McpServerRow[]> {
  const older = after ? sql`and (created_at, id) < (${after.at}, ${after.id}::uuid)` : sql``;
  return rows(
    tx,
    sql<McpServerRow>`select * from mcp_servers where organization_id = ${orgId} ${older} order by created_at desc, id desc limit ${limit + 1}`,
  );
}
