import { inOrg, type Db } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { Secretbox } from '../lib/secretbox.ts';
import type { StoredServer } from './mcp-tools.ts';
import { listServers, serversMax, type McpServerRow } from './mcp.store.ts';

type Ref = { organization_id: string; id: string };

const contextOf = ({ organization_id, id }: Ref): string => `mcp-server/${organization_id}/${id}`;

export const sealHeaders = (secrets: Secretbox, ref: Ref, headers: Record<string, string>): Buffer =>
  secrets.seal(JSON.stringify(headers), contextOf(ref));

export const openHeaders = (secrets: Secretbox, row: McpServerRow): Record<string, string> =>
  JSON.parse(secrets.open(row.sealed, contextOf(row))) as Record<string, string>;

/** A stored server as the tools connect to it. */
export function readyServer(
  row: McpServerRow,
  headers: Record<string, string>,
  allow: readonly string[],
): StoredServer {
  const { name, url, tools } = row;
  const server = { url, headers, ...(tools ? { tools } : {}) };
  return { name, version: `${row.id} ${row.updated_at.toISOString()}`, server, allow };
}

/** The servers that an organization added, for the tools of its detections. */
export function storedMcpServers({
  db,
  secrets,
  fetchAllow,
}: {
  db: Db;
  secrets: Secretbox;
  fetchAllow: readonly string[];
}) {
  return async (orgId: OrgId): Promise<StoredServer[]> => {
    const all = { limit: serversMax, after: null };
    const found = await inOrg(db, orgId, (tx) => listServers(tx, orgId, all));
    return found.map((row) => readyServer(row, openHeaders(secrets, row), fetchAllow));
  };
}
