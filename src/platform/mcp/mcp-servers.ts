import { inOrg, type Db, type Tx } from '../db/db.ts';
import { appError, fieldError } from '../lib/errors.ts';
import { uuidv7 } from '../lib/ids.ts';
import { toPage, readPageRequest, type PageQuery } from '../lib/page-request.ts';
import { validateOutboundUrl } from '../lib/outbound-http/addresses.ts';
import { auditRecord } from '../orgs/audit.store.ts';
import type { Caller } from '../http/caller.ts';
import { requireMatch } from '../orgs/record-version.ts';
import { type Secretbox, openJson, sealJson, type SealedColumn, type SealedRecord } from '../lib/secretbox.ts';
import type {
  CreateMcpServer,
  McpServerCheck,
  McpServerList,
  McpServerRecord,
  McpSettings,
  UpdateMcpServer,
} from './mcp.schema.ts';
import { listMcpServerTools, type StoredMcpServer } from './mcp-tools.ts';
import {
  deleteMcpServer,
  findMcpServer,
  insertMcpServer,
  findMcpServers,
  serversMax,
  updateMcpServer,
  type McpServerRow,
} from './mcp.store.ts';
import type { OrgId } from '../lib/org-id.ts';

export type McpServerDeps = {
  db: Db;
  secrets: Secretbox;
  config: { fetchAllow: readonly string[]; mcpServers: McpSettings };
};

/** Adds a server. Tocsin connects to it when a detection first uses one of its tools. 400 for an invalid URL, 409 for a name in use. */
export async function createMcpServer(
  deps: McpServerDeps,
  caller: Caller,
  input: CreateMcpServer,
): Promise<McpServerRecord> {
  const now = new Date();
  const { name, tools, headers } = input;
  requireUnreservedName(deps, name);
  const record = { organization_id: caller.orgId, id: uuidv7(now) };
  const row: McpServerRow = {
    ...record,
    name,
    url: validateUrl(input.url, deps.config.fetchAllow),
    sealed: sealHeaders(deps.secrets, record, headers),
    tools,
    created_at: now,
    updated_at: now,
  };
  return inOrg(deps.db, caller.orgId, async (tx) => {
    if (!(await insertMcpServer(tx, row)))
      throw appError(
        'conflict',
        `A server named ${name} already exists, or the limit of ${serversMax} servers is reached.`,
      );
    const after = toRecord(deps, row);
    await auditRecord(tx, caller, 'mcp_server.created', { before: null, after });
    return after;
  });
}

export async function listMcpServers(deps: McpServerDeps, caller: Caller, query: PageQuery): Promise<McpServerList> {
  const request = readPageRequest(query);
  const rows = await inOrg(deps.db, caller.orgId, (tx) => findMcpServers(tx, caller.orgId, request));
  const { page, nextCursor } = toPage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
  return { servers: page.map((row) => toRecord(deps, row)), nextCursor };
}

export async function getMcpServer(deps: McpServerDeps, caller: Caller, id: string): Promise<McpServerRecord> {
  return toRecord(deps, await inOrg(deps.db, caller.orgId, (tx) => getServerRow(tx, caller, id)));
}

/** Changes the given fields. A URL with another origin requires the headers again, so that stored ones are never sent elsewhere. */
export async function changeMcpServer(
  deps: McpServerDeps,
  caller: Caller,
  id: string,
  { ifMatch, ...input }: UpdateMcpServer & { ifMatch?: string | undefined },
): Promise<McpServerRecord> {
  if (input.name !== undefined) requireUnreservedName(deps, input.name);
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await getServerRow(tx, caller, id, { lock: true });
    await requireMatch(tx, ifMatch, toRecord(deps, before), { resourceType: 'mcp_server', resourceId: id });
    const url = input.url === undefined ? before.url : validateUrl(input.url, deps.config.fetchAllow);
    const hasSecrets = Object.keys(openHeaders(deps.secrets, before)).length > 0;
    if (input.headers === undefined && hasSecrets && new URL(url).origin !== new URL(before.url).origin)
      throw fieldError('/headers', 'required', 'headers are required again when url changes to another origin.');
    const next: McpServerRow = {
      ...before,
      url,
      name: input.name ?? before.name,
      sealed: input.headers === undefined ? before.sealed : sealHeaders(deps.secrets, before, input.headers),
      tools: input.tools === undefined ? before.tools : input.tools,
    };
    const after = await updateMcpServer(tx, next, new Date());
    if (!after) throw appError('conflict', `A server named ${next.name} already exists.`);
    const [oldRecord, newRecord] = [toRecord(deps, before), toRecord(deps, after)];
    await auditRecord(tx, caller, 'mcp_server.updated', { before: oldRecord, after: newRecord });
    return newRecord;
  });
}

export async function removeMcpServer(deps: McpServerDeps, caller: Caller, id: string): Promise<McpServerRecord> {
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = toRecord(deps, await getServerRow(tx, caller, id, { lock: true }));
    await deleteMcpServer(tx, caller.orgId, id);
    await auditRecord(tx, caller, 'mcp_server.deleted', { before, after: null });
    return before;
  });
}

/** Connects and lists the tools. 422 with the reason if that fails. */
export async function checkMcpServer(deps: McpServerDeps, caller: Caller, id: string): Promise<McpServerCheck> {
  const row = await inOrg(deps.db, caller.orgId, (tx) => getServerRow(tx, caller, id));
  const headers = openHeaders(deps.secrets, row);
  const startedAt = performance.now();
  try {
    const tools = await listMcpServerTools(toStoredServer(row, headers, deps.config.fetchAllow));
    return { ok: true, tools, ms: Math.round(performance.now() - startedAt) };
  } catch (error) {
    // A server's error message may repeat the headers it received.
    const secrets = Object.values(headers).filter((value) => value.length > 3);
    const reason = secrets.reduce((text, value) => text.replaceAll(value, '…'), (error as Error).message).slice(0, 500);
    throw appError('check_failed', reason, { errors: [{ pointer: '/id', code: 'unreachable', detail: reason }] });
  }
}

function requireUnreservedName({ config }: Pick<McpServerDeps, 'config'>, name: string): void {
  if (Object.hasOwn(config.mcpServers, name))
    throw appError('conflict', `A server named ${name} exists in the service settings. Choose another name.`);
}

const validateUrl = (text: string, allow: readonly string[]): string =>
  validateOutboundUrl(text, allow, ' Use headers instead.').url.href;

async function getServerRow(tx: Tx, caller: Caller, id: string, options = { lock: false }): Promise<McpServerRow> {
  const row = await findMcpServer(tx, caller.orgId, id, options);
  if (!row) throw appError('not_found', `MCP server ${id} not found.`);
  return row;
}

function toRecord({ secrets }: Pick<McpServerDeps, 'secrets'>, row: McpServerRow): McpServerRecord {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    headerNames: Object.keys(openHeaders(secrets, row)),
    tools: row.tools,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

const kind = 'mcp-server';
export const mcpHeadersColumn: SealedColumn = { table: 'mcp_servers', column: 'sealed', kind };

const sealHeaders = (secrets: Secretbox, server: SealedRecord, headers: Record<string, string>): Buffer =>
  sealJson(secrets, kind, server, headers);

const openHeaders = (secrets: Secretbox, row: McpServerRow): Record<string, string> =>
  openJson(secrets, kind, row, row.sealed);

function toStoredServer(row: McpServerRow, headers: Record<string, string>, allow: readonly string[]): StoredMcpServer {
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
