import { checkModelAlias } from '../detections/record/check-model-alias.ts';
import { buildDefinition } from '../detections/record/new-detection.ts';
import type { Deps } from '../../app/deps.ts';
import type { Definition } from '../detections/record/definition.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { SiemConnection } from '../siem/connector.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { createTrialRun } from '../runs/execution/trial-run.ts';
import { categories } from '../analysis/registry.ts';
import type { Resolution } from '../runs/judging/resolve-candidates.ts';
import { createTrialJudge } from '../runs/judging/trial-judge.ts';
import type { ActiveRun } from '../runs/execution/active-run.ts';
import { toQueryError } from './query-failure.ts';
import type { Preview, PreviewDetection } from './testing.schema.ts';
import { simulate, type SimulationResult, type TimeRange } from './simulate.ts';
import { windowsBefore, windowsWithin } from './simulation-windows.ts';

export const windowsMax = 200;
const candidatesMax = 100;
const timeMsMax = 60_000;

export type TrialDeps = Pick<
  Deps,
  'db' | 'clock' | 'connectionFor' | 'config' | 'engine' | 'log' | 'models' | 'feedTools' | 'mcp' | 'fetchAllow'
>;

/** Runs a detection that does not exist yet over a window of the past, on event time. Stores nothing. 422 for a query that fails. */
export async function previewDetection(
  deps: TrialDeps,
  caller: Caller,
  { from, to, ...input }: PreviewDetection,
): Promise<Preview> {
  const at = deps.clock();
  checkModelAlias(deps.models, input.modelAlias);
  const definition = buildDefinition(caller, input, at);
  const of = { orgId: caller.orgId, detectionId: uuidv7(at), definition };
  const connection = await openSiem(deps, caller.orgId, definition);
  const run = createTrialRun(of, { connection, clock: 'event', model: 'analyst', at });
  const simulated = await simulateTimeRange(deps, run, parseTimeRange(from, to), at);
  return previewOf(run, simulated);
}

/** The SIEM that a definition asks; 422 where there is none. */
export async function openSiem(
  { connectionFor }: Pick<TrialDeps, 'connectionFor'>,
  orgId: OrgId,
  definition: Definition,
): Promise<SiemConnection> {
  try {
    return await connectionFor(orgId, definition);
  } catch (error) {
    throw toQueryError(error);
  }
}

/** A stretch of time that a body names. */
export function parseTimeRange(from: string, to: string): TimeRange {
  const stretch = { from: new Date(from), to: new Date(to) };
  if (stretch.from >= stretch.to) throw fieldError('/to', 'out_of_range', 'to must be later than from.');
  return stretch;
}

/** Simulates a run over the slot windows of a stretch, after what lies before it; 400 for more windows than one request may take. */
export async function simulateTimeRange(
  deps: TrialDeps,
  run: ActiveRun,
  stretch: TimeRange,
  now: Date,
): Promise<SimulationResult> {
  // As scheduled runs cut them, so that what is found has the keys of their hits.
  const cut = { cron: run.definition.cronSchedule, delayMs: run.connection.delayMs };
  const windows = windowsWithin(stretch, cut, windowsMax + 1);
  if (windows.length > windowsMax)
    throw fieldError('/to', 'out_of_range', `At most ${windowsMax} windows of the schedule; ask for less time.`);
  const signal = AbortSignal.timeout(timeMsMax);
  const { connection } = run;
  const reachMs = categories[run.analysis.category].reachMs(run.analysis);
  try {
    const oldest = connection.firstEventAt
      ? await connection.firstEventAt(run.definition.detectionQuery, signal)
      : new Date(0);
    const reach = new Date(stretch.from.getTime() - reachMs);
    const since = oldest && oldest > reach ? oldest : reach;
    const past = oldest === null ? [] : windowsBefore(windows[0]!.from, since, cut, windowsMax);
    return await simulate({
      run,
      search: connection.search,
      past,
      windows,
      now,
      signal,
      judge: createTrialJudge(deps, run),
    });
  } catch (error) {
    throw toQueryError(error);
  }
}

function previewOf(run: ActiveRun, { windows, complete }: SimulationResult): Preview {
  const decisions = windows.flatMap((window) => window.decisions);
  return {
    windows: windows.map(({ from, to, rowsTotal, truncated, learning, candidates }) => ({
      from: from.toISOString(),
      to: to.toISOString(),
      rowsTotal,
      truncated,
      learning,
      candidates: candidates.length,
    })),
    rowsTotal: windows.reduce((sum, { rowsTotal }) => sum + rowsTotal, 0),
    candidates: decisions.slice(0, candidatesMax).map(toCandidate),
    candidatesTotal: decisions.length,
    hits: collectHitKeys(decisions).size,
    noData: windows.some(({ noData }) => noData),
    complete,
    model: run.model,
    costUsd: run.spent.costUsd,
    warnings: run.progress.warnings,
  };
}

/** The hits that decisions would have made, by their keys. */
export function collectHitKeys(decisions: Resolution[]): Set<string> {
  return new Set(decisions.flatMap((one) => (one.outcome === 'judged' && one.verified.triggered ? [one.hitKey] : [])));
}

function toCandidate(decision: Resolution): Preview['candidates'][number] {
  const { entity, entityType, severity, facts, rows } = decision.candidate;
  const verdict = decision.outcome === 'judged' ? decision.verified.verdict : null;
  return { entity, entityType, severity, facts, rows, outcome: decision.outcome, verdict };
}
