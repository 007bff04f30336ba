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

const dayMs = 86_400_000;
const logStoreDays = 7;
/** Fewer days than for the log store, because another SIEM is queried window by window and may limit or charge for queries. */
const remoteDays = 1;
const oldestEventMs = 20_000;

/**
 * Estimates what a detection would have raised on event time, over the last seven days in the embedded log store or the last day in another
 * SIEM. Returns null if there are no events that the query reads. The built-in analyst gives the verdicts at no cost, so a model would raise
 * fewer hits. Throws the same errors as `simulateTimeRange`.
 */
export async function estimateNoise(deps: TrialDeps, subject: TestSubject): Promise<Estimate | null> {
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
  const to = result.windows.at(-1)?.to ?? from;
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
