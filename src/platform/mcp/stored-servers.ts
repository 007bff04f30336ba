import { inOrg, type Db } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import { openJson, sealJson, type SealedColumn, type SealedRecord } from '../lib/secrets/sealed-json.ts';
import type { Secretbox } from '../lib/secrets/secretbox.ts';
import type { StoredMcpServer } from './mcp-tools.ts';
import { findMcpServers, serversMax, type McpServerRow } from './mcp.store.ts';

const kind = 'mcp-server';
export const mcpHeadersColumn: SealedColumn = { table: 'mcp_servers', column: 'sealed', kind };

export const sealHeaders = (secrets: Secretbox, server: SealedRecord, headers: Record<string, string>): Buffer =>
  sealJson(secrets, kind, server, headers);

export const openHeaders = (secrets: Secretbox, row: McpServerRow): Record<string, string> =>
  openJson(secrets, kind, row, row.sealed);

export function toStoredServer(
  row: McpServerRow,
  headers: Record<string, string>,
  allow: readonly string[],
): StoredMcpServer {
  const { name, url, tools } = row;
  const server = { url, headers, ...(tools ? { tools } : {}) };
  return { name, version: `${row.id} ${row.updated_at.toISOString()}`, server, allow };
}

type ReaderDeps = { db: Db; secrets: Secretbox; fetchAllow: readonly string[] };

/** Returns a function that reads the servers an organization added. */
export function createStoredServerReader({ db, secrets, fetchAllow }: ReaderDeps) {
  return async (orgId: OrgId): Promise<StoredMcpServer[]> => {
    const rows = await inOrg(db, orgId, (tx) => findMcpServers(tx, orgId, { limit: serversMax, after: null }));
    return rows.map((row) => toStoredServer(row, openHeaders(secrets, row), fetchAllow));
  };
}
