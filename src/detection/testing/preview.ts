import { splitIntoBatches } from '../../platform/lib/concurrency/batches.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { mapInSlices } from '../../platform/lib/concurrency/slices.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { checkModelAlias, buildDefinition } from '../detections/record/build-detection.ts';
import { findContinuousObstacle } from '../detections/check-detection.ts';
import type { ActiveRun } from '../runs/run-model/active-run.ts';
import type { RunVerdict } from '../runs/run-model/run-progress.ts';
import type { JudgedResolution, Resolution } from '../runs/judging/resolutions/resolve-candidates.ts';
import {
  collectHitKeys,
  countRows,
  openTrialRun,
  parseTimeRange,
  simulateTimeRange,
  type TrialDeps,
} from './simulate-time-range.ts';
import type { SimulationResult } from './simulate.ts';
import type { Preview, PreviewDetection } from './testing.schema.ts';

const candidatesMax = 100;
// The response is serialized without a pause.
const rowCharsMax = 1_000_000;

/**
 * Runs a detection that is not stored yet over a past time range, on event time. Stores nothing. Throws a 422 for a query that fails, and has
 * the warnings of a scheduled run.
 */
export async function previewDetection(
  deps: TrialDeps,
  caller: Caller,
  { from, to, ...input }: PreviewDetection,
  stopped: AbortSignal,
): Promise<Preview> {
  const now = deps.clock();
  checkModelAlias(deps.models, input.modelAlias);
  const definition = buildDefinition(caller, input, now);
  const run = await openTrialRun(deps, { orgId: caller.orgId, detectionId: uuidv7(now), definition }, now);
  const result = await simulateTimeRange(deps, run, { range: parseTimeRange(from, to), now, stopped });
  return toPreview(run, result, await findObstacle(run, stopped));
}

/** Returns why the events of a detection cannot be matched when they arrive, or null if they can. The query has run. */
async function findObstacle({ connection, definition }: ActiveRun, signal: AbortSignal): Promise<string | null> {
  const { detectionCategory: category, detectionQuery, cronSchedule, tuning = null } = definition;
  const isLocal = connection.id === undefined;
  const check = isLocal ? await connection.check(detectionQuery, signal) : undefined;
  const { crossEventPart } = check ?? {};
  return findContinuousObstacle({ category, isScheduled: cronSchedule !== null, isLocal, tuning, crossEventPart });
}

/** Returns the first candidates whose rows the response can contain. */
async function listShown(resolutions: Resolution[]): Promise<Resolution[]> {
  const weighed = await mapInSlices(resolutions.slice(0, candidatesMax), (resolution) => ({
    resolution,
    chars: JSON.stringify(resolution.candidate.rows).length,
  }));
  const [shown = []] = splitIntoBatches(weighed, candidatesMax, { max: rowCharsMax, of: ({ chars }) => chars });
  return shown.map(({ resolution }) => resolution);
}

async function toPreview(run: ActiveRun, result: SimulationResult, obstacle: string | null): Promise<Preview> {
  const { windows, complete } = result;
  const resolutions = windows.flatMap((window) => window.resolutions);
  return {
    windows: windows.map(({ from, to, rowsTotal, truncated, learning, candidates }) => ({
      from: from.toISOString(),
      to: to.toISOString(),
      rowsTotal,
      truncated,
      learning,
      candidates: candidates.length,
    })),
    rowsTotal: countRows(result),
    candidates: (await listShown(resolutions)).map(toPreviewCandidate),
    candidatesTotal: resolutions.length,
    suppressed: result.suppressed,
    hits: collectHitKeys(resolutions).size,
    continuous: { possible: obstacle === null, reason: obstacle },
    noData: windows.some(({ noData }) => noData),
    complete,
    model: run.model,
    costUsd: run.spent.costUsd,
    warnings: run.progress.warnings,
  };
}

function toPreviewCandidate(resolution: Resolution): Preview['candidates'][number] {
  const { entity, entityType, severity, facts, rows } = resolution.candidate;
  const verdict = resolution.outcome === 'judged' ? toPreviewVerdict(resolution) : null;
  return { entity, entityType, severity, facts, rows, outcome: resolution.outcome, verdict };
}

const toPreviewVerdict = ({ verdict, fallback }: JudgedResolution): RunVerdict =>
  fallback ? { ...verdict, unjudgedReason: fallback.reason } : verdict;
