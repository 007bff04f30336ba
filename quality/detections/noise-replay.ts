import { runAtOnce } from '../../src/platform/lib/concurrency/slices.ts';
import type { SampleEngine } from '../../src/demo/sample-engine.ts';
import type { QueryRow } from '../../src/detection/siem/connector.ts';
import type { AnalysisDefinition } from '../../src/detection/analysis/analysis-definition.ts';
import { analyzeWindow, prepareWindow } from '../../src/detection/analysis/analyze-window.ts';
import type { Candidate } from '../../src/detection/analysis/candidate.ts';
import { createRunningMemory } from './running-memory.ts';
import type { NaiveDetection } from './noise-detections.ts';

export const hourMs = 3_600_000;

/** The rows of a detection in each window, in order. */
type WindowRows = { from: Date; to: Date; rows: QueryRow[] }[];
type ReplayedWindow = { from: Date; candidates: Candidate[] };

/** Runs the queries of detections over each of `hours` hours before `end`. Loads every hour once for all of them. */
export async function readHours<D extends { query: string }>(
  engine: SampleEngine,
  detections: readonly D[],
  { end, hours }: { end: number; hours: number },
): Promise<Map<D, WindowRows>> {
  const result = new Map<D, WindowRows>(detections.map((detection) => [detection, []]));
  for (let from = end - hours * hourMs; from < end; from += hourMs) {
    const window = { from: new Date(from), to: new Date(from + hourMs) };
    await engine.setWindow(window.from, window.to);
    for (const [{ query }, list] of result) list.push({ ...window, rows: await engine.run(query) });
  }
  return result;
}

type ReplayedDetection = Pick<AnalysisDefinition, 'category' | 'query' | 'entityField' | 'cadence' | 'slotMs'>;

/** Analyzes hours as an hourly schedule would. The first `historyHours` only fill memory. */
export function replayHours(detection: NaiveDetection, hours: WindowRows, historyHours: number): ReplayedWindow[] {
  return replayWindows({ ...detection, cadence: '0 * * * *', slotMs: hourMs }, hours, historyHours);
}

/** Analyzes consecutive windows as a schedule would. The first `historyWindows` only fill memory. */
export function replayWindows(
  { category, query, entityField, cadence, slotMs }: ReplayedDetection,
  windows: WindowRows,
  historyWindows: number,
): ReplayedWindow[] {
  const definition: AnalysisDefinition = {
    category,
    query,
    entityField,
    timeField: null,
    connectionId: null,
    cadence,
    slotMs,
  };
  const memory = createRunningMemory();
  const results: ReplayedWindow[] = [];
  for (const [index, { from, to, rows }] of windows.entries()) {
    const aggregate = rows[0] !== undefined && !('_id' in rows[0]);
    const prepared = runAtOnce(prepareWindow(rows, { from, to, aggregate }, definition));
    if (index >= historyWindows) {
      const { candidates } = runAtOnce(analyzeWindow(prepared, memory.recall(prepared.query)));
      results.push({ from, candidates });
    }
    memory.add({ from, to, entries: prepared.memory });
  }
  return results;
}
