import { inOrg, queryRows, type Db, type Tx } from '../../../../platform/db/db.ts';
import type { Clock } from '../../../../platform/lib/time/clock.ts';
import type { OrgId } from '../../../../platform/lib/org-id.ts';
import { fetchBytes } from '../../../../platform/lib/outbound-http/fetch.ts';
import { isMcpToolName } from '../../../../platform/mcp/mcp-settings.ts';
import type { McpTools } from '../../../../platform/mcp/mcp-tools.ts';
import type { ModelTool } from '../../../../platform/models/model-tool.ts';
import type { Candidate } from '../../../analysis/candidate.ts';
import { renderRow } from '../../../analysis/rows/render-row.ts';
import { listGrants } from '../../../detections/tool-grants/tool-grants.store.ts';
import { bindTool } from '../../../tools/tools.ts';
import type { FeedTools, ToolSources } from '../../../tools/tool-definition.ts';
import { holdsFreeText } from '../../../verdicts/planted-text/free-text.ts';
import type { ActiveRun } from '../../run-model/active-run.ts';
import { addWarning } from '../../run-model/run-progress.ts';

/** `fetchAllow` lists private hosts that `http_get` may reach. */
export type BindToolsDeps = {
  db: Db;
  clock: Clock;
  feedTools?: (orgId: OrgId) => FeedTools;
  mcp?: McpTools;
  fetchAllow?: readonly string[];
};

const hourMs = 3_600_000;
const siemLimits = { rowsMax: 100, groupsMax: 100, timeoutMs: 20_000 };
const httpBytesMax = 64 * 1024;
const warningToolsMax = 10;

/**
 * Returns the tools that a detection specifies, or those with the given names, bound to one entity. Tools that send anything, and all tools of MCP servers,
 * need the grant of an administrator. Tools that are not granted or not available become a warning of the run.
 */
export async function bindTools(
  deps: BindToolsDeps,
  run: ActiveRun,
  candidate: Candidate,
  toolNames: readonly string[] = run.definition.toolNames,
): Promise<ModelTool[]> {
  const names = [...new Set(toolNames)];
  if (names.length === 0) return [];
  const grantRows = await inOrg(deps.db, run.orgId, (tx) => listGrants(tx, run.orgId, run.detectionId));
  const grants = new Map(grantRows.map(({ tool, settings }) => [tool, settings['url'] as string | undefined]));
  const sources = createToolSources(deps, run, candidate);
  const bound: ModelTool[] = [];
  const notGranted: string[] = [];
  const unavailable: string[] = [];
  for (const name of names) {
    const isGranted = grants.has(name);
    const isMcp = isMcpToolName(name);
    // Without a grant the MCP server is not contacted.
    if (isMcp && !isGranted) {
      notGranted.push(name);
      continue;
    }
    const tool = isMcp
      ? await deps.mcp?.find(run.orgId, name)
      : bindTool(name, { ...sources, grantedUrl: grants.get(name) });
    if (!tool) unavailable.push(name);
    else if (tool.effect === 'send' && !isGranted) notGranted.push(name);
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
    addWarning(run.progress, 'tool_unavailable', `No responding server provides these tools: ${format(unavailable)}.`);
  return bound;
}

function createToolSources(deps: BindToolsDeps, run: ActiveRun, candidate: Candidate): Omit<ToolSources, 'grantedUrl'> {
  const feed = deps.feedTools?.(run.orgId);
  const noFeed = () => Promise.resolve({ found: [] });
  return {
    entity: candidate.entity,
    rows: candidate.rows,
    history: (limit) => inOrg(deps.db, run.orgId, (tx) => readHistory(tx, run, { candidate, limit })),
    searchSiem: (query, hours, signal) => searchSiem(deps, run, { candidate, query, hours }, signal),
    searchFeed: feed?.searchFeed ?? noFeed,
    lookupIndicator: feed?.lookupIndicator ?? noFeed,
    lookupTechnique: feed?.lookupTechnique ?? (() => undefined),
    fetchText: (url, signal) => fetchText(deps, url, signal),
  };
}

async function readHistory(tx: Tx, run: ActiveRun, { candidate, limit }: { candidate: Candidate; limit: number }) {
  const { entity, entityType } = candidate;
  const { orgId, detectionId, generation } = run.scope;
  const windows = await queryRows<{ window: Date; number: number | null; value: string | null }>(tx)`
      select window_from as "window", number, value from memory
      where organization_id = ${orgId} and detection_id = ${detectionId} and generation = ${generation} and entity in (${entity}, ${entity.toLowerCase()})
      order by window_from desc limit ${limit}`;
  type EarlierHit = { severity: string; status: string; occurrences: number; firstSeenAt: Date; lastSeenAt: Date };
  const hits = await queryRows<EarlierHit>(tx)`
      select severity, status, occurrences, first_seen_at as "firstSeenAt", last_seen_at as "lastSeenAt" from hits
      where organization_id = ${orgId} and detection_id = ${detectionId} and entity = ${entity} and entity_type = ${entityType}
      order by last_seen_at desc limit 20`;
  // Values come from rows. Free text in one of them could plead for a later verdict.
  const remembered = windows.map(({ value, ...row }) => ({
    ...row,
    value: value !== null && holdsFreeText(value) ? '(free text)' : value,
  }));
  return { remembered, hits };
}

type SiemSearch = { candidate: Candidate; query: string; hours: number };

async function searchSiem(
  deps: BindToolsDeps,
  run: ActiveRun,
  { candidate, query, hours }: SiemSearch,
  signal: AbortSignal,
) {
  const to = new Date(String(candidate.facts['windowTo'] ?? deps.clock().toISOString()));
  const from = new Date(to.getTime() - hours * hourMs);
  const window = { from, to, clock: 'event' as const, ingestedBefore: deps.clock() };
  const result = await run.connection.search(query, window, siemLimits, signal);
  const rendering = { from, to, aggregate: result.aggregate };
  const rows = result.rows.slice(0, siemLimits.rowsMax).map((row) => renderRow(row, rendering, run.analysis));
  return { rows, total: result.total, truncated: result.truncated };
}

async function fetchText(deps: BindToolsDeps, url: string, signal: AbortSignal): Promise<string> {
  const allow = deps.fetchAllow ?? [];
  // Redirects are refused: an administrator granted this URL only.
  const response = await fetchBytes({ url, allow, signal, bytesMax: httpBytesMax, timeoutMs: 15_000, redirectsMax: 0 });
  return response.kind === 'fetched' ? response.bytes.toString('utf8') : '';
}
