import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../db/db.ts';
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

/** Returns false if the name is in use or the organization has `serversMax` servers. */
export async function insertMcpServer(tx: Tx, server: McpServerRow): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into mcp_servers (organization_id, id, name, url, sealed, tools, created_at, updated_at)
    select ${server.organization_id}::uuid, ${server.id}::uuid, ${server.name}, ${server.url}, ${server.sealed}::bytea, ${server.tools}::text[],
      ${server.created_at}::timestamptz, ${server.updated_at}::timestamptz
    where (select count(*) from mcp_servers where organization_id = ${server.organization_id}) < ${serversMax}
    on conflict do nothing`.execute(tx);
  return Number(numAffectedRows) > 0;
}

/** Stores the changeable columns. `updated_at` always increases. Returns undefined if the name is in use. */
export async function updateMcpServer(tx: Tx, server: McpServerRow, now: Date): Promise<McpServerRow | undefined> {
  return queryRow<McpServerRow>(tx)`
      update mcp_servers set name = ${server.name}, url = ${server.url}, sealed = ${server.sealed}, tools = ${server.tools}::text[],
        updated_at = greatest(${now}::timestamptz, updated_at + interval '1 millisecond')
      where organization_id = ${server.organization_id} and id = ${server.id} and not exists (
        select from mcp_servers o where o.organization_id = ${server.organization_id} and o.name = ${server.name} and o.id <> ${server.id})
      returning *`;
}

export async function deleteMcpServer(tx: Tx, orgId: OrgId, id: string): Promise<void> {
  await sql`delete from mcp_servers where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

export function findMcpServer(
  tx: Tx,
  orgId: OrgId,
  id: string,
  options = { lock: false },
): Promise<McpServerRow | undefined> {
  return queryRow<McpServerRow>(tx)`
    select * from mcp_servers where organization_id = ${orgId} and id = ${id} ${options.lock ? sql`for update` : sql``}`;
}

/** Returns up to `limit` + 1 servers, newest first. */
export function findMcpServers(tx: Tx, orgId: OrgId, { limit, after }: PageRequest): Promise<McpServerRow[]> {
  const older = after ? sql`and (created_at, id) < (${after.at}, ${after.id}::uuid)` : sql``;
  return queryRows<McpServerRow>(tx)`
    select * from mcp_servers where organization_id = ${orgId} ${older} order by created_at desc, id desc limit ${limit + 1}`;
}
