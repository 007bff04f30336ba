import { sql } from 'kysely';
import type { Candidate } from '../../analysis/candidate.ts';
import { renderRow } from '../../analysis/rows/render.ts';
import { inOrg, rows, type Tx } from '../../../platform/db/db.ts';
import { listGrants } from '../../detections/tool-grants/tool-grants.store.ts';
import { fetchBytes } from '../../../platform/lib/outbound-http/fetch.ts';
import { bindTool, isMcpName } from '../../tools/registry.ts';
import type { ToolSources } from '../../tools/tool-sources.ts';
import type { ReadyTool } from '../../tools/tool.ts';
import { warn, type Run, type RunDeps } from '../run-types.ts';

const hourMs = 3_600_000;
const siemLimits = { rowsMax: 100, groupsMax: 100, timeoutMs: 20_000 };
const httpBytesMax = 64 * 1024;

type Grants = Map<string, Record<string, unknown>>;

/**
 * The tools of a detection for one entity: those that it names, and of those that send anything only what an administrator
 * allowed it. What is named and cannot be given stands in the run's warnings.
 */
export async function bindTools(deps: RunDeps, run: Run, candidate: Candidate): Promise<ReadyTool[]> {
  const names = [...new Set(run.definition.toolNames)];
  if (names.length === 0) return [];
  const grants: Grants = new Map(
    (await inOrg(deps.db, run.orgId, (tx) => listGrants(tx, run.orgId, run.detectionId))).map((one) => [
      one.tool,
      one.settings,
    ]),
  );
  const sources = sourcesOf(deps, run, { candidate, grants });
  const ready: ReadyTool[] = [];
  const forbidden: string[] = [];
  const missing: string[] = [];
  for (const name of names) {
    const isMcp = isMcpName(name);
    // A server is not even asked for a tool that nobody allowed.
    const tool = isMcp ? grants.has(name) && (await deps.mcp?.find(run.orgId, name)) : bindTool(name, sources);
    if (!grants.has(name) && (isMcp || (tool && tool.effect === 'send'))) forbidden.push(name);
    else if (!tool) missing.push(name);
    else ready.push(tool);
  }
  const list = (of: string[]): string => of.slice(0, 10).join(', ');
  if (forbidden.length > 0)
    warn(run.progress, 'tool_not_allowed', `No administrator allowed this detection: ${list(forbidden)}.`);
  if (missing.length > 0) warn(run.progress, 'tool_unavailable', `No server that answers has: ${list(missing)}.`);
  return ready;
}

function sourcesOf(
  deps: RunDeps,
  run: Run,
  { candidate, grants }: { candidate: Candidate; grants: Grants },
): ToolSources {
  const template = grants.get('http_get')?.['url'];
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
    httpGet: typeof template === 'string' ? { template, get: (url, signal) => getText(deps, url, signal) } : undefined,
  };
}

async function readHistory(tx: Tx, run: Run, { candidate, limit }: { candidate: Candidate; limit: number }) {
  const { entity, entityType } = candidate;
  const { orgId, detectionId, generation } = run.scope;
  const windows = await rows(
    tx,
    sql<{ window: Date; number: number | null; value: string | null }>`
      select window_from as "window", number, value from memory
      where organization_id = ${orgId} and detection_id = ${detectionId} and generation = ${generation} and entity = ${entity}
      order by window_from desc limit ${limit}`,
  );
  const hits = await rows(
    tx,
    sql<Record<string, unknown>>`
      select headline, severity, status, occurrences, first_seen_at as "firstSeenAt", last_seen_at as "lastSeenAt" from hits
      where organization_id = ${orgId} and detection_id = ${detectionId} and entity = ${entity} and entity_type = ${entityType}
      order by last_seen_at desc limit 20`,
  );
  return { remembered: windows, hits };
}

type Search = { candidate: Candidate; query: string; hours: number };

async function searchSiem(deps: RunDeps, run: Run, { candidate, query, hours }: Search, signal: AbortSignal) {
  const to = new Date(String(candidate.facts['windowTo'] ?? deps.clock().toISOString()));
  const from = new Date(to.getTime() - hours * hourMs);
  const window = { from, to, clock: 'event' as const, ingestedBefore: deps.clock() };
  const found = await run.connection.search(query, window, siemLimits, signal);
  const rendering = { from, to, aggregate: found.aggregate };
  const shown = found.rows.slice(0, siemLimits.rowsMax).map((row) => renderRow(row, rendering, run.analysis));
  return { rows: shown, total: found.total, truncated: found.truncated };
}

async function getText(deps: RunDeps, url: string, signal: AbortSignal): Promise<string> {
  const allow = deps.fetchAllow ?? [];
  // No redirects: the address that an administrator allowed is the only one that is asked.
  const got = await fetchBytes({ url, allow, signal, bytesMax: httpBytesMax, timeoutMs: 15_000, redirectsMax: 0 });
  return got.kind === 'fetched' ? got.bytes.toString('utf8') : '';
}
