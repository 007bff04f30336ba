import type { SampleEngine } from '../src/demo/sample-engine.ts';
import type { QueryRow } from '../src/detection/siem/connector.ts';
import type { AnalysisDefinition } from '../src/detection/analysis/analysis-definition.ts';
import { analyzeWindow, prepareWindow } from '../src/detection/analysis/analyze-window.ts';
import type { Candidate } from '../src/detection/analysis/candidate.ts';
import { createRunningMemory } from './running-memory.ts';
import type { NaiveDetection } from './noise-detections.ts';

const hourMs = 3_600_000;

/** The rows of a detection in each hour, in order. */
export type HourRows = { from: Date; to: Date; rows: QueryRow[] }[];

/** Runs a detection's query over each of `hours` hours before `end`. */
export async function readHours(engine: SampleEngine, query: string, end: number, hours: number): Promise<HourRows> {
  const result: HourRows = [];
  for (let from = end - hours * hourMs; from < end; from += hourMs) {
    const window = { from: new Date(from), to: new Date(from + hourMs) };
    await engine.setWindow(window.from, window.to);
    result.push({ ...window, rows: await engine.run(query) });
  }
  return result;
}

export type HourCandidates = { from: Date; candidates: Candidate[] };

/** Analyzes hours as an hourly schedule would. The first `historyHours` only fill memory. */
export function replayHours(
  detection: NaiveDetection,
  hours: HourRows,
  historyHours: number,
  tuning: NonNullable<AnalysisDefinition['tuning']> = {},
): HourCandidates[] {
  const { category, query, entityField } = detection;
  const definition: AnalysisDefinition = {
    category,
    query,
    entityField,
    timeField: null,
    connectionId: null,
    cadence: '0 * * * *',
    slotMs: hourMs,
    tuning,
  };
  const memory = createRunningMemory();
  const results: HourCandidates[] = [];
  for (const [index, { from, to, rows }] of hours.entries()) {
    const aggregate = rows[0] !== undefined && !('_id' in rows[0]);
    const prepared = prepareWindow(rows, { from, to, aggregate }, definition);
    if (index >= historyHours) {
      const { candidates } = analyzeWindow(prepared, memory.recall(prepared.query));
      results.push({ from, candidates });
    }
    memory.add({ from, to, entries: prepared.memory });
  }
  return results;
}
