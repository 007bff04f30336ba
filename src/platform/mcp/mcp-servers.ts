import { inOrg, type Tx } from '../db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { appError, fieldError } from '../lib/errors.ts';
import { uuidv7 } from '../lib/ids.ts';
import { pageOf, pageRequest, type PageQuery } from '../lib/page-request.ts';
import { createAllowance } from '../lib/outbound-http/public-address.ts';
import { insertAudit } from '../orgs/audit.store.ts';
import type { Caller } from '../orgs/caller.ts';
import { askMcpServer } from './mcp-tools.ts';
import type { CreateMcpServer, McpServerCheck, McpServerList, McpServerRecord, UpdateMcpServer } from './mcp.schema.ts';
import { openHeaders, readyServer, sealHeaders } from './stored-servers.ts';
import {
  deleteServer,
  findServer,
  insertServer,
  listServers,
  serversMax,
  updateServer,
  type McpServerRow,
} from './mcp.store.ts';

type ServerDeps = Pick<Deps, 'db' | 'config' | 'secrets'>;

/** Adds a server; it is asked for its tools when a detection names one. 400 for a private address, 409 for a name that is taken. */
export async function createServer(deps: ServerDeps, caller: Caller, input: CreateMcpServer): Promise<McpServerRecord> {
  const now = new Date();
  const { name, tools, headers } = input;
  checkName(deps, name);
  const ref = { organization_id: caller.orgId, id: uuidv7(now) };
  const made: McpServerRow = {
    ...ref,
    name,
    url: readUrl(input.url, deps.config.fetchAllow),
    sealed: sealHeaders(deps.secrets, ref, headers),
    tools,
    created_at: now,
    updated_at: now,
  };
  return inOrg(deps.db, caller.orgId, async (tx) => {
    if (!(await insertServer(tx, made)))
      throw appError('conflict', `There is a server named ${name}, or there are ${serversMax} of them already.`);
    return audited(tx, deps, caller, { action: 'mcp_server.created', before: null, after: made });
  });
}

export async function getServers(deps: ServerDeps, caller: Caller, query: PageQuery): Promise<McpServerList> {
  const request = pageRequest(query);
  const found = await inOrg(deps.db, caller.orgId, (tx) => listServers(tx, caller.orgId, request));
  const { page, nextCursor } = pageOf(found, request.limit, (one) => ({ at: one.created_at, id: one.id }));
  return { servers: page.map((one) => toRecord(deps, one)), nextCursor };
}

export async function getServer(deps: ServerDeps, caller: Caller, id: string): Promise<McpServerRecord> {
  return toRecord(deps, await inOrg(deps.db, caller.orgId, (tx) => serverOr404(tx, caller, id)));
}

/** Changes what the body names. With another address the headers have to be given again: nobody sends stored ones elsewhere. */
export async function changeServer(
  deps: ServerDeps,
  caller: Caller,
  id: string,
  input: UpdateMcpServer,
): Promise<McpServerRecord> {
  if (input.name !== undefined) checkName(deps, input.name);
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await serverOr404(tx, caller, id, true);
    const url = input.url === undefined ? before.url : readUrl(input.url, deps.config.fetchAllow);
    const hasSecrets = Object.keys(openHeaders(deps.secrets, before)).length > 0;
    if (input.headers === undefined && hasSecrets && new URL(url).origin !== new URL(before.url).origin)
      throw fieldError('/headers', 'required', 'With another address the headers have to be given again.');
    const next: McpServerRow = {
      ...before,
      url,
      name: input.name ?? before.name,
      sealed: input.headers === undefined ? before.sealed : sealHeaders(deps.secrets, before, input.headers),
      tools: input.tools === undefined ? before.tools : input.tools,
    };
    const after = await updateServer(tx, next, new Date());
    if (!after) throw appError('conflict', `There is a server named ${next.name}.`);
    return audited(tx, deps, caller, { action: 'mcp_server.updated', before, after });
  });
}

export async function removeServer(deps: ServerDeps, caller: Caller, id: string): Promise<McpServerRecord> {
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await serverOr404(tx, caller, id, true);
    await deleteServer(tx, caller.orgId, id);
    return audited(tx, deps, caller, { action: 'mcp_server.deleted', before, after: null });
  });
}

/** Connects and lists the tools. 422 with what went wrong. */
export async function checkServer(deps: ServerDeps, caller: Caller, id: string): Promise<McpServerCheck> {
  const found = await inOrg(deps.db, caller.orgId, (tx) => serverOr404(tx, caller, id));
  const headers = openHeaders(deps.secrets, found);
  const begun = performance.now();
  try {
    const tools = await askMcpServer(readyServer(found, headers, deps.config.fetchAllow));
    return { ok: true, tools, ms: Math.round(performance.now() - begun) };
  } catch (error) {
    // What a server says may hold what it was sent.
    const secrets = Object.values(headers).filter((value) => value.length > 3);
    const told = secrets.reduce((text, value) => text.replaceAll(value, '…'), (error as Error).message).slice(0, 500);
    throw appError('check_failed', told, { errors: [{ pointer: '/id', code: 'unreachable', detail: told }] });
  }
}

function checkName({ config }: Pick<Deps, 'config'>, name: string): void {
  if (Object.hasOwn(config.mcpServers, name))
    throw appError('conflict', `A server named ${name} stands in the settings of the service.`);
}

function readUrl(text: string, allow: readonly string[]): string {
  const url = new URL(text);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (url.username || url.password)
    throw fieldError('/url', 'invalid_url', 'url must not hold a user name or password: use headers.');
  if (url.protocol === 'http:' && !createAllowance(allow)(host, host))
    throw fieldError(
      '/url',
      'https_needed',
      'url must begin with https:// (http only where TOCSIN_FETCH_ALLOW names the host).',
    );
  return url.href;
}

async function serverOr404(tx: Tx, caller: Caller, id: string, lock = false): Promise<McpServerRow> {
  const found = await findServer(tx, caller.orgId, id, lock);
  if (!found) throw appError('not_found', `MCP server ${id} not found.`);
  return found;
}

async function audited(
  tx: Tx,
  deps: ServerDeps,
  caller: Caller,
  change: { action: string; before: McpServerRow | null; after: McpServerRow | null },
): Promise<McpServerRecord> {
  const [before, after] = [change.before, change.after].map((one) => one && toRecord(deps, one));
  const shown = (after ?? before)!;
  await insertAudit(tx, caller, {
    action: change.action,
    resourceType: 'mcp_server',
    resourceId: shown.id,
    before,
    after,
  });
  return shown;
}

function toRecord({ secrets }: Pick<Deps, 'secrets'>, row: McpServerRow): McpServerRecord {
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
