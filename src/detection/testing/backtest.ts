import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { findPromptText, findDefinition } from '../detections/history/history.store.ts';
import { checkModelAlias } from '../detections/record/build-detection.ts';
import type { Definition } from '../detections/record/detection-record.ts';
import { listReviewedHits, type ReviewedHit } from '../hits/hit-status.store.ts';
import type { DetectionKey } from '../scheduling/timeline.ts';
import { countSuppressed } from '../runs/run-model/run-progress.ts';
import type { ActiveRun } from '../runs/run-model/active-run.ts';
import { proposeTuning } from './propose-tuning.ts';
import {
  collectHitKeys,
  countRows,
  openTrialRun,
  parseTimeRange,
  simulateTimeRange,
  type TrialDeps,
} from './simulate-time-range.ts';
import type { SimulatedWindow, SimulationResult } from './simulate.ts';
import type { Backtest, BacktestProgress, BacktestRequest } from './testing.schema.ts';

type BacktestVersion = Backtest['versions'][number];
type BacktestInput = BacktestRequest & {
  detectionId: string;
  stopped: AbortSignal;
  report?: (progress: BacktestProgress) => void;
};

/**
 * Returns what a detection would have raised over a past time range, on event time, compared with the reviews of the hits that it did raise.
 * Stores nothing, and ends early once `stopped` aborts. With `promptVersion` or `modelAlias`, also returns the results of that version. Reports
 * its progress after each window.
 */
export async function backtestDetection(
  deps: TrialDeps & { db: Db },
  caller: Caller,
  { detectionId, stopped, report, ...input }: BacktestInput,
): Promise<Backtest> {
  const range = parseTimeRange(input.from, input.to);
  checkModelAlias(deps.models, input.modelAlias);
  const now = deps.clock();
  const key = { orgId: caller.orgId, detectionId };
  const { definitions, reviewed } = await inOrg(deps.db, caller.orgId, async (tx) => ({
    definitions: await loadDefinitions(tx, key, input),
    reviewed: await listReviewedHits(tx, key, range),
  }));
  const versions: BacktestVersion[] = [];
  let activeResult: SimulationResult | undefined;
  let warnings: Backtest['warnings'] = [];
  const progress: BacktestProgress = { phase: 'examining', windowsDone: 0, windowsTotal: 0 };
  for (const [index, definition] of definitions.entries()) {
    if (stopped.aborted) break;
    const run = await openTrialRun(deps, { ...key, definition }, now);
    const onWindow = (done: number, total: number): void => {
      progress.windowsDone = index * total + done;
      progress.windowsTotal = definitions.length * total;
      report?.(progress);
    };
    const result = await simulateTimeRange(deps, run, { range, now, stopped, onWindow });
    if (index === 0) warnings = run.progress.warnings;
    activeResult ??= result;
    versions.push(summarizeVersion(run, result, reviewed));
  }
  const result = activeResult ?? { windows: [], suppressed: countSuppressed({}, []), complete: false };
  const [active] = definitions;
  report?.({ ...progress, phase: 'tuning' });
  const proposal =
    active && (await proposeTuning(deps, { ...key, definition: active }, { result, range, reviewed, now, stopped }));
  return {
    from: range.from.toISOString(),
    to: (result.windows.at(-1)?.to ?? range.from).toISOString(),
    windows: result.windows.length,
    rowsTotal: countRows(result),
    complete: result.complete,
    versions,
    warnings,
    proposal: proposal ?? null,
  };
}

/** Returns the active definition, followed by the requested version if there is one. */
async function loadDefinitions(
  tx: Tx,
  key: DetectionKey,
  { promptVersion, modelAlias }: BacktestRequest,
): Promise<Definition[]> {
  const active = await findDefinition(tx, key.orgId, key.detectionId);
  if (!active) throw appError('not_found', `Detection ${key.detectionId} not found.`);
  if (promptVersion === undefined) return modelAlias === undefined ? [active] : [active, { ...active, modelAlias }];
  const prompt = await findPromptText(tx, { ...key, version: promptVersion });
  if (!prompt) throw fieldError('/promptVersion', 'unknown_prompt', `Prompt version ${promptVersion} does not exist.`);
  return [active, { ...active, ...prompt, promptVersion, modelAlias: modelAlias ?? active.modelAlias }];
}

function summarizeVersion(
  { definition, model, spent }: ActiveRun,
  { windows, suppressed }: SimulationResult,
  reviewed: ReviewedHit[],
): BacktestVersion {
  const resolutions = windows.flatMap((window) => window.resolutions);
  const hitKeys = collectHitKeys(resolutions);
  const reviewedAgain = reviewed.filter(({ key }) => hitKeys.has(key));
  const truePositives = reviewed.filter(({ status }) => status === 'true_positive').length;
  const truePositivesAgain = reviewedAgain.filter(({ status }) => status === 'true_positive').length;
  return {
    promptVersion: definition.promptVersion,
    modelAlias: definition.modelAlias,
    model,
    hits: hitKeys.size,
    occurrences: resolutions.filter(({ outcome }) => outcome === 'occurrence').length,
    hitsPerDay: countHitsPerDay(windows),
    candidates: resolutions.length,
    suppressed,
    costUsd: spent.costUsd,
    reviewed: reviewedAgain.length,
    precision: toShare(truePositivesAgain, reviewedAgain.length),
    recall: toShare(truePositivesAgain, truePositives),
  };
}

/** Counts the new hits of each UTC day that has a window. */
function countHitsPerDay(windows: SimulatedWindow[]): { day: string; hits: number }[] {
  const windowsByDay = Map.groupBy(windows, ({ from }) => from.toISOString().slice(0, 10));
  const seen = new Set<string>();
  return [...windowsByDay].map(([day, dayWindows]) => {
    const hitKeys = collectHitKeys(dayWindows.flatMap(({ resolutions }) => resolutions));
    const hits = hitKeys.difference(seen).size;
    for (const key of hitKeys) seen.add(key);
    return { day, hits };
  });
}

/** Rounds to three decimals. */
const toShare = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.round((1000 * part) / whole) / 1000;
