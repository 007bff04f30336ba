import { inOrg, type Db } from '../../../../platform/db/db.ts';
import type { Clock } from '../../../../platform/lib/time/clock.ts';
import type { OrgId } from '../../../../platform/lib/org-id.ts';
import { fetchBytes } from '../../../../platform/lib/outbound-http/fetch.ts';
import type { QuotaState } from '../../../../platform/orgs/limits/limits.schema.ts';
import { readQuotaState } from '../../../../platform/orgs/limits/limits.store.ts';
import type { Enrich } from '../../../../platform/enrichment/enrich.ts';
import { isMcpToolName } from '../../../../platform/mcp/mcp.schema.ts';
import type { McpTools } from '../../../../platform/mcp/mcp-tools.ts';
import type { Candidate } from '../../../analysis/candidate.ts';
import { renderRow } from '../../../analysis/rows/render-row.ts';
import type { Definition } from '../../../detections/record/detection-record.ts';
import { readAgentSettings } from '../../../detections/agent-settings/agent-settings.store.ts';
import { listGrants } from '../../../detections/tool-grants/tool-grants.store.ts';
import { loadAttachedSkills } from '../../../skills/skill-files.ts';
import type { HiddenData } from '../../../siem/hidden-data.ts';
import { bindForeignTool, bindProposed, bindTool, findToolName } from '../../../tools/tools.ts';
import type { BoundTool, FeedTools, ToolGrantSettings, ToolSources } from '../../../tools/tool-definition.ts';
import type { ActiveRun } from '../../run-model/active-run.ts';
import { addWarning } from '../../run-model/run-progress.ts';
import { readProfile, readRelatedHits } from './judging-sources.store.ts';

/** `fetchAllow` lists private hosts that `http_get` may reach. */
export type BindToolsDeps = {
  db: Db;
  clock: Clock;
  feedTools?: (orgId: OrgId) => FeedTools;
  mcp?: McpTools;
  fetchAllow?: readonly string[];
  enrich?: Enrich;
};

const httpBytesMax = 64 * 1024;
const warningToolsMax = 10;

/**
 * Returns the tools that a detection specifies, or those with the given names, bound to one entity. Tools that send anything, and all tools of MCP servers,
 * need the grant of an administrator. Tools that are not granted or not available become a warning of the run. No tool returns what the organization keeps
 * from models.
 */
export async function bindTools(
  deps: BindToolsDeps,
  run: ActiveRun,
  candidate: Candidate,
  toolNames: readonly string[] = listToolNames(run.definition),
): Promise<BoundTool[]> {
  if (toolNames.length === 0) return [];
  // A tool may be listed by its name and by its alias.
  const names = [
    ...new Map(toolNames.toReversed().map((name) => [findToolName(name) ?? name, name])).values(),
  ].toReversed();
  const { grants, hidden, quota } = await inOrg(deps.db, run.orgId, async (tx) => ({
    grants: new Map((await listGrants(tx, run.orgId, run.detectionId)).map(({ tool, settings }) => [tool, settings])),
    hidden: (await readAgentSettings(tx, run.orgId)).hidden,
    quota: await readQuotaState(tx, run.orgId, { name: 'observationBytesPerDay', now: deps.clock() }),
  }));
  const sources = createToolSources(deps, run, candidate, hidden);
  const bound: BoundTool[] = [];
  const notGranted: string[] = [];
  const unavailable: string[] = [];
  for (const name of names) {
    const grant = grants.get(name);
    // A person approves each call that a response agent would make. Without a grant, the MCP server of a detection is not even contacted.
    if (isMcpToolName(name) && !grant) {
      const proposed = run.propose && (await deps.mcp?.find(run.orgId, name));
      if (proposed) bound.push(bindProposed(proposed, sources.propose));
      else (run.propose ? unavailable : notGranted).push(name);
      continue;
    }
    const tool = isMcpToolName(name)
      ? await findForeignTool(deps, run, { name, grant: grant!, candidate, hidden })
      : bindTool(name, { ...sources, grant });
    if (!tool || (tool.effect === 'propose' && !run.propose)) unavailable.push(name);
    else if (tool.effect === 'send' && !grant) notGranted.push(name);
    else bound.push(tool);
  }
  const format = (tools: string[]): string => tools.slice(0, warningToolsMax).join(', ');
  if (notGranted.length > 0)
    addWarning(
      run.progress,
      'tool_not_allowed',
      `An administrator must grant these tools to the detection: ${format(notGranted)}.`,
    );
  if (unavailable.length > 0)
    addWarning(
      run.progress,
      'tool_unavailable',
      `No responding server provides these tools, or a detection cannot have them: ${format(unavailable)}.`,
    );
  return quota?.level === 'reached' ? bound.map((tool) => refuseBeyond(tool, quota)) : bound;
}

/** Returns a tool that stores nothing more until the quota is free again. The skills and rows of the case are not stored anew. */
function refuseBeyond(tool: BoundTool, { limit, resetsAt }: QuotaState): BoundTool {
  if (tool.source === 'case') return tool;
  const reason = `The results of tools that this organization may store on a day (${limit} bytes) are used up until ${resetsAt}.`;
  return { ...tool, run: () => Promise.reject(new Error(reason)) };
}

/** Returns the tools of a detection: none if it answers at once, and else with the tool that reads its skills. */
const listToolNames = (definition: Definition): string[] => {
  if (definition.planningMode === 'never') return [];
  return listSkills(definition).length === 0 ? definition.toolNames : [...definition.toolNames, 'read_skill'];
};

/** Returns the skills that the model of a detection may read. */
export const listSkills = ({ planningMode, skills = [] }: Pick<Definition, 'planningMode' | 'skills'>): string[] =>
  planningMode === 'never' ? [] : skills;

type ForeignTool = { name: string; grant: ToolGrantSettings; candidate: Candidate; hidden: HiddenData };

async function findForeignTool(
  { mcp }: BindToolsDeps,
  { orgId }: ActiveRun,
  { name, grant, candidate, hidden }: ForeignTool,
): Promise<BoundTool | undefined> {
  const tool = await mcp?.find(orgId, name);
  return tool && bindForeignTool(tool, { ...candidate, grant, hidden });
}

function createToolSources(
  deps: BindToolsDeps,
  run: ActiveRun,
  { entity, rows, facts }: Candidate,
  hidden: HiddenData,
): Omit<ToolSources, 'grant' | 'known'> {
  const feed = deps.feedTools?.(run.orgId);
  const noFeed = () => Promise.resolve({});
  const now = deps.clock();
  const windowTo = new Date(String(facts['windowTo'] ?? now.toISOString()));
  const windowFrom = new Date(String(facts['windowFrom'] ?? windowTo.toISOString()));
  const subject = { run, windowFrom, entity };
  return {
    entity,
    rows,
    facts,
    hidden,
    logs: {
      connection: run.connection,
      windowTo,
      now,
      render: (row, window) => renderRow(row, window, run.analysis),
    },
    profile: (of, limit) => inOrg(deps.db, run.orgId, (tx) => readProfile(tx, subject, of, limit)),
    relatedHits: (values, since, limit) =>
      inOrg(deps.db, run.orgId, (tx) => readRelatedHits(tx, subject, { values, since }, limit)),
    skills: async () =>
      (await loadAttachedSkills(deps.db, run.orgId, run.definition.skills ?? [])).map(({ name, version, content }) => ({
        ...content,
        name,
        version,
      })),
    searchFeed: feed?.searchFeed ?? noFeed,
    lookupIndicator: feed?.lookupIndicator ?? noFeed,
    lookupTechnique: feed?.lookupTechnique ?? (() => undefined),
    lookUpValues: async (values, signal) => (await deps.enrich?.lookUp(run.orgId, values, signal)) ?? [],
    fetchText: (url, signal) => fetchText(deps, url, signal),
    propose: run.propose ?? (() => Promise.reject(new Error('Only response agents can propose calls.'))),
  };
}

async function fetchText(deps: BindToolsDeps, url: string, signal: AbortSignal): Promise<string> {
  const allow = deps.fetchAllow ?? [];
  // Redirects are refused: an administrator granted this URL only.
  const response = await fetchBytes({ url, allow, signal, bytesMax: httpBytesMax, timeoutMs: 15_000, redirectsMax: 0 });
  return response.kind === 'fetched' ? response.bytes.toString('utf8') : '';
}
