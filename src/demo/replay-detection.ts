import { analyzeWindow, prepareWindow } from '../detection/analysis/analyze-window.ts';
import type { WindowMemory } from '../detection/analysis/memory/recall.ts';
import { recallFromWindows } from '../detection/analysis/memory/recall.ts';
import type { CreateDetection } from '../detection/detections/record/detection-input.schema.ts';
import { hourMs } from './company/calendar.ts';
import type { SampleEngine } from './sample-engine.ts';

/** A candidate of a replay: its entity, the window's start (epoch milliseconds) and the ids of its rows. */
export type ReplayCandidate = { entity: string; from: number; rowIds: string[] };

/** The number of past windows from which a detection's memory is backfilled. */
const historyWindows = 200;

/** Analyzes the last `hours` full hours before `end` one by one, with the memory that a first run would backfill. */
export async function replayDetection(
  engine: SampleEngine,
  detection: CreateDetection,
  end: Date,
  hours = 36,
): Promise<ReplayCandidate[]> {
  const { detectionCategory: category, detectionQuery: query, entityField = null, timeField = null } = detection;
  const definition = {
    category,
    query,
    entityField,
    timeField,
    connectionId: null,
    cadence: '0 * * * *',
    slotMs: hourMs,
  };
  const last = Math.floor(end.getTime() / hourMs) * hourMs;
  const history = category === 'custom' || category === 'privilege_escalation' ? 0 : historyWindows;
  const memory: WindowMemory[] = [];
  const results: ReplayCandidate[] = [];
  for (let from = last - (hours + history) * hourMs; from < last; from += hourMs) {
    const window = { from: new Date(from), to: new Date(from + hourMs), aggregate: false };
    await engine.setWindow(window.from, window.to);
    const prepared = prepareWindow(await engine.run(query), window, definition);
    if (from >= last - hours * hourMs) {
      const { candidates } = analyzeWindow(prepared, recallFromWindows(memory, window, prepared.query));
      results.push(...candidates.map(({ entity, rows }) => ({ entity, from, rowIds: rows.map(({ rowId }) => rowId) })));
    }
    memory.push({ ...window, entries: prepared.memory });
  }
  return results;
}
