import { z } from 'zod';
import { inOrg, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { fieldError } from '../../../platform/lib/errors.ts';
import { requireScopes } from '../../../platform/orgs/credentials.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { requireMatch } from '../../../platform/orgs/record-version.ts';
import { isMcpToolName } from '../../../platform/mcp/mcp.schema.ts';
import type { ToolGrantSettings } from '../../tools/tool-definition.ts';
import { findTool, tools } from '../../tools/tools.ts';
import { deleteGrant, listGrants, upsertGrant, type GrantRow } from './tool-grants.store.ts';
import { findAgent, lockAgent } from '../detection-views.store.ts';
import type { AgentView } from '../record/detection-row.ts';
import { resourceTypeOf } from '../detections.store.ts';
import { auditAgent, requireAuthored } from '../read-detections.ts';
import { ActorField } from '../../../platform/orgs/orgs.schema.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';
import { IdPath } from '../record/detection-input.schema.ts';

export const ToolPath = IdPath.extend({ tool: boundedString({ min: 1, max: 100 }) });

export const ToolList = z.object({
  tools: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      effect: z.enum(['read', 'send', 'propose']).describe('send: the tool sends data to another system.'),
      source: z.enum(['built-in', 'mcp']),
      alias: z.string().nullable().describe('An earlier name of the tool, which still works.'),
      needsGrant: z.boolean().describe('An administrator must grant the tool to each detection.'),
    }),
  ),
});
export type ToolList = z.infer<typeof ToolList>;

export const GrantToolInput = z.strictObject({
  url: boundedString({ max: 2_000 })
    .optional()
    .describe(
      'For http_get. Scheme and host are fixed. `{entity}` and other names in braces are replaced with values of the entity.',
    ),
  isTrusted: z
    .boolean()
    .default(false)
    .describe(
      'The results of the tool can prove something. Only for a system whose answers nobody outside can influence.',
    ),
  allowsFreeArguments: z
    .boolean()
    .default(false)
    .describe(
      'The model may send text of its own. Otherwise every argument is a value of the case, of an earlier result, or one that the schema of the tool lists.',
    ),
});
export type GrantToolInput = z.input<typeof GrantToolInput>;

export const ToolGrant = z.object({
  tool: z.string(),
  url: z.string().nullable(),
  isTrusted: z.boolean(),
  allowsFreeArguments: z.boolean(),
  allowedBy: z.string().nullable().describe('Id of the API key.'),
  actor: ActorField,
  allowedAt: z.string(),
});
export type ToolGrant = z.infer<typeof ToolGrant>;

export const ToolGrantList = z.object({ grants: z.array(ToolGrant) });
export type ToolGrantList = z.infer<typeof ToolGrantList>;

type GrantDeps = { db: Db; clock: Clock };
/** Lists the tools of the MCP servers that an organization may use. */
type McpToolLister = { list: (orgId: OrgId) => Promise<{ name: string; description: string }[]> };
export type ToolDeps = GrantDeps & { mcp?: McpToolLister };
/** `ifMatch` is the version that the caller saw. */
type GrantKey = { id: string; tool: string; ifMatch?: string | undefined };

/** Returns every tool that a detection can use: the built-in tools and those of the organization's MCP servers. */
export async function getTools({ mcp }: Pick<ToolDeps, 'mcp'>, caller: Caller): Promise<ToolList> {
  const builtInTools = Object.entries(tools).map(([name, { description, effect, alias = null }]) => ({
    name,
    description,
    effect,
    alias,
    source: 'built-in' as const,
    needsGrant: effect === 'send',
  }));
  const mcpTools = ((await mcp?.list(caller.orgId)) ?? []).map((tool) => ({
    ...tool,
    effect: 'send' as const,
    alias: null,
    source: 'mcp' as const,
    needsGrant: true,
  }));
  return { tools: [...builtInTools, ...mcpTools] };
}

export async function getGrants(deps: GrantDeps, caller: Caller, id: string): Promise<ToolGrantList> {
  const grants = await inOrg(deps.db, caller.orgId, async (tx) => {
    requireAuthored(await findAgent(tx, { orgId: caller.orgId, now: deps.clock() }, id), id);
    return listGrants(tx, caller.orgId, id);
  });
  return { grants: grants.map(toRecord) };
}

/**
 * Grants a detection or a response agent a tool that sends data. Throws 400 for a tool that needs no grant and for a URL whose host is not fixed, 403
 * if the caller may not read what the agent sends, and 412 if the grant is another version than `ifMatch`.
 */
export async function grantTool(
  deps: GrantDeps,
  caller: Caller,
  { id, tool, ifMatch }: GrantKey,
  input: GrantToolInput,
): Promise<ToolGrant> {
  requireScopes(caller, ['detections:read']);
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const { before, agent } = await lockGrant(tx, deps, caller, { id, tool, ifMatch });
    const { keyId, subject: actor = null } = caller;
    const grant: GrantRow = { tool, settings: toSettings(tool, input), keyId, actor, createdAt: deps.clock() };
    await upsertGrant(tx, { orgId: caller.orgId, detectionId: id }, grant);
    const after = await findGrant(tx, caller.orgId, { id, tool });
    await auditAgent(tx, caller, agent, {
      action: 'tool.allowed',
      before: toAudited(before),
      after: toAudited(after),
    });
    return after!;
  });
}

/** Revokes a grant. Does nothing if the tool was not granted. */
export async function revokeTool(deps: GrantDeps, caller: Caller, key: GrantKey): Promise<ToolGrantList> {
  const { id, tool } = key;
  await inOrg(deps.db, caller.orgId, async (tx) => {
    const { before, agent } = await lockGrant(tx, deps, caller, key);
    await deleteGrant(tx, { orgId: caller.orgId, detectionId: id }, tool);
    await auditAgent(tx, caller, agent, {
      action: 'tool.forbidden',
      before: toAudited(before) ?? { tool },
      after: null,
    });
  });
  return getGrants(deps, caller, id);
}

const findGrant = async (tx: Tx, orgId: OrgId, { id, tool }: GrantKey): Promise<ToolGrant | undefined> =>
  (await listGrants(tx, orgId, id)).map(toRecord).find((grant) => grant.tool === tool);

/** Returns a grant with its agent, which it locks. Throws 404 for an agent that the organization does not write, and 412 if it is another version than `ifMatch`. */
async function lockGrant(
  tx: Tx,
  { clock }: GrantDeps,
  { orgId }: Caller,
  { id, tool, ifMatch }: GrantKey,
): Promise<{ before: ToolGrant | undefined; agent: AgentView }> {
  const agent = requireAuthored(await lockAgent(tx, { orgId, now: clock() }, id), id);
  const grant = await findGrant(tx, orgId, { id, tool });
  const resource = { resourceType: resourceTypeOf(agent), resourceId: id, action: 'tool.', fields: { tool } };
  await requireMatch(tx, ifMatch, versionOfGrant(grant), resource);
  return { before: grant, agent };
}

/** The version of a grant is its time. */
export const versionOfGrant = (grant: ToolGrant | undefined) => ({ updatedAt: grant?.allowedAt ?? null });

const toAudited = (grant: ToolGrant | undefined) => grant && { ...grant, ...versionOfGrant(grant) };

function toSettings(
  name: string,
  { url, isTrusted = false, allowsFreeArguments = false }: GrantToolInput,
): ToolGrantSettings {
  const tool = findTool(name);
  if (tool ? tool.effect !== 'send' : !isMcpToolName(name))
    throw fieldError('path/tool', 'needs_no_grant', `${name} needs no grant. Only http_get and MCP tools do.`);
  if (!tool?.findUrlProblem) {
    if (url !== undefined) throw fieldError('/url', 'unused', 'url is allowed for http_get only.');
    return { isTrusted, allowsFreeArguments };
  }
  if (url === undefined)
    throw fieldError('/url', 'required', `url is required for ${name}: the URL that it may fetch.`);
  const problem = tool.findUrlProblem(url);
  if (problem) throw fieldError('/url', 'invalid_address', `url ${problem}.`);
  return { url, isTrusted, allowsFreeArguments };
}

function toRecord({ tool, settings, keyId, actor, createdAt }: GrantRow): ToolGrant {
  const { url = null, isTrusted, allowsFreeArguments } = settings;
  return {
    tool,
    url,
    isTrusted,
    allowsFreeArguments,
    allowedBy: keyId,
    actor,
    allowedAt: createdAt.toISOString(),
  };
}
