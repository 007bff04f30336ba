import type { Estimate } from '../detections/record/detection.schema.ts';
import {
  toQueryError,
  collectHitKeys,
  countRows,
  findOldestEvent,
  openTrialRun,
  simulateTimeRange,
  type TrialDeps,
} from './simulate-time-range.ts';
import type { TestSubject } from './run-test-case.ts';
import type { SimulationResult } from './simulate.ts';

const dayMs = 86_400_000;
const logStoreDays = 7;
/** Fewer days than for the log store, because another SIEM is queried window by window and may limit or charge for queries. */
const remoteDays = 1;
const oldestEventMs = 20_000;

/** A detection on its recent past: from where to where, and what it would have found. */
type RecentPast = { from: Date; to: Date; result: SimulationResult };

/**
 * Runs a detection on event time over the last seven days in the embedded log store or the last day in another SIEM. Returns null if there are no
 * events that the query reads. The built-in analyst gives the verdicts at no cost. Throws the same errors as `simulateTimeRange`.
 */
export async function simulateRecentPast(deps: TrialDeps, subject: TestSubject): Promise<RecentPast | null> {
  const now = deps.clock();
  const definition = { ...subject.definition, modelAlias: 'analyst' };
  const run = await openTrialRun(deps, { ...subject, definition }, now);
  const signal = AbortSignal.timeout(oldestEventMs);
  const oldestEvent = await findOldestEvent(run.connection, definition.detectionQuery, signal).catch(
    (error: unknown) => {
      throw toQueryError(error);
    },
  );
  if (oldestEvent === null || oldestEvent >= now) return null;
  const daysMax = run.connection.id === undefined ? logStoreDays : remoteDays;
  const from = new Date(Math.max(oldestEvent.getTime(), now.getTime() - daysMax * dayMs));
  const result = await simulateTimeRange(deps, run, { range: { from, to: now }, now });
  return { from, to: result.windows.at(-1)?.to ?? from, result };
}

/**
 * Estimates what a detection would have raised on its recent past, or returns null without one. A model would raise fewer hits than the built-in analyst.
 */
export async function estimateNoise(deps: TrialDeps, subject: TestSubject): Promise<Estimate | null> {
  const past = await simulateRecentPast(deps, subject);
  if (!past) return null;
  const { from, to, result } = past;
  const resolutions = result.windows.flatMap((window) => window.resolutions);
  const hits = collectHitKeys(resolutions).size;
  const days = Math.max((to.getTime() - from.getTime()) / dayMs, 1);
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    windows: result.windows.length,
    rowsTotal: countRows(result),
    candidates: resolutions.length,
    hits,
    hitsPerDay: Math.round((10 * hits) / days) / 10,
    complete: result.complete,
  };
}
