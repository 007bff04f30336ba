import { inOrg, type Tx } from '../../../platform/db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import { templateProblem } from '../../tools/http-get.ts';
import { isMcpName, listTools } from '../../tools/registry.ts';
import { deleteGrant, listGrants, upsertGrant, type Grant } from './tool-grants.store.ts';
import type { AllowTool, ToolGrant, ToolGrantList, ToolList } from './tool-grants.schema.ts';
import { detectionOr404 } from '../update-detection.ts';
import { findAgent } from '../detection-views.store.ts';

type GrantDeps = Pick<Deps, 'db' | 'clock'>;
type Pair = { id: string; tool: string };

/** Every tool that a detection may name: those of the service, and those of the MCP servers that the organization may use. */
export async function getTools({ mcp }: Pick<Deps, 'mcp'>, caller: Caller): Promise<ToolList> {
  const own = listTools().map((tool) => ({ ...tool, source: 'built-in' as const, needsGrant: tool.effect === 'send' }));
  const others = (await mcp?.list(caller.orgId)) ?? [];
  const connected = others.map((tool) => ({
    ...tool,
    effect: 'send' as const,
    source: 'mcp' as const,
    needsGrant: true,
  }));
  return { tools: [...own, ...connected] };
}

export async function getGrants(deps: GrantDeps, caller: Caller, id: string): Promise<ToolGrantList> {
  const grants = await inOrg(deps.db, caller.orgId, async (tx) => {
    await mustExist(tx, deps, caller, id);
    return listGrants(tx, caller.orgId, id);
  });
  return { grants: grants.map(toRecord) };
}

/** Allows a detection a tool that sends something. 400 for a tool that needs no leave, and for an address that is not fixed. */
export async function allowTool(
  deps: GrantDeps,
  caller: Caller,
  { id, tool }: Pair,
  input: AllowTool,
): Promise<ToolGrant> {
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await mustExist(tx, deps, caller, id);
    const grant: Grant = { tool, settings: settingsOf(tool, input), keyId: caller.keyId, createdAt: deps.clock() };
    await upsertGrant(tx, { orgId: caller.orgId, detectionId: id }, grant);
    await insertAudit(tx, caller, {
      action: 'tool.allowed',
      resourceType: 'detection',
      resourceId: id,
      before: null,
      after: toRecord(grant),
    });
    return toRecord(grant);
  });
}

/** Takes a tool back; what is not allowed stays so. */
export async function forbidTool(deps: GrantDeps, caller: Caller, { id, tool }: Pair): Promise<ToolGrantList> {
  await inOrg(deps.db, caller.orgId, async (tx) => {
    await mustExist(tx, deps, caller, id);
    await deleteGrant(tx, { orgId: caller.orgId, detectionId: id }, tool);
    await insertAudit(tx, caller, {
      action: 'tool.forbidden',
      resourceType: 'detection',
      resourceId: id,
      before: { tool },
      after: null,
    });
  });
  return getGrants(deps, caller, id);
}

function settingsOf(tool: string, { url }: AllowTool): Record<string, unknown> {
  if (tool !== 'http_get') {
    if (!isMcpName(tool)) throw fieldError('path/tool', 'needs_no_grant', `${tool} is no tool that has to be allowed.`);
    if (url !== undefined) throw fieldError('/url', 'unused', 'url is for http_get only.');
    return {};
  }
  if (url === undefined) throw fieldError('/url', 'required', 'http_get needs the address that it may fetch.');
  const problem = templateProblem(url);
  if (problem) throw fieldError('/url', 'invalid_address', `url ${problem}.`);
  return { url };
}

async function mustExist(tx: Tx, { clock }: GrantDeps, { orgId }: Caller, id: string): Promise<void> {
  const agent = await findAgent(tx, { orgId, now: clock() }, id);
  if (!agent) throw appError('not_found', `Detection ${id} not found.`);
  detectionOr404(agent, id);
}

function toRecord({ tool, settings, keyId, createdAt }: Grant): ToolGrant {
  const url = settings['url'];
  return { tool, url: typeof url === 'string' ? url : null, allowedBy: keyId, allowedAt: createdAt.toISOString() };
}
