import { analyseWindow, prepareWindow } from '../detection/analysis/analyze-window.ts';
import type { RememberedWindow } from '../detection/analysis/memory/recall.ts';
import { recallFrom } from '../detection/analysis/memory/recall.ts';
import type { BuiltInDetection } from '../detection/built-in/built-in-detection.ts';
import type { SampleEngine } from '../detection/built-in/sample-engine.ts';
import { HOUR } from './company/calendar.ts';

/** A candidate of a replay: its entity, the window's start (epoch milliseconds) and the ids of its rows. */
export type Found = { entity: string; from: number; rowIds: string[] };

/** As many past windows as a detection's memory is first filled from. */
const HISTORY_WINDOWS = 200;

/** Analyses hour by hour over the last `hours` full hours before `end`, with the memory that a first run would fill. */
export async function replay(
  engine: SampleEngine,
  detection: BuiltInDetection,
  end: Date,
  hours = 36,
): Promise<Found[]> {
  const { category, query, entityField, timeField = null } = detection;
  const definition = {
    category,
    query,
    entityField,
    timeField,
    connectionId: null,
    cadence: '0 * * * *',
    slotMs: HOUR,
  };
  const last = Math.floor(end.getTime() / HOUR) * HOUR;
  const history = category === 'custom' || category === 'privilege_escalation' ? 0 : HISTORY_WINDOWS;
  const memory: RememberedWindow[] = [];
  const found: Found[] = [];
  for (let from = last - (hours + history) * HOUR; from < last; from += HOUR) {
    const window = { from: new Date(from), to: new Date(from + HOUR), aggregate: false };
    await engine.setWindow(window.from, window.to);
    const prepared = prepareWindow(await engine.run(query), window, definition);
    if (from >= last - hours * HOUR) {
      const { candidates } = analyseWindow(prepared, recallFrom(memory, window, prepared.query));
      found.push(...candidates.map(({ entity, rows }) => ({ entity, from, rowIds: rows.map(({ rowId }) => rowId) })));
    }
    memory.push({ ...window, entries: prepared.memory });
  }
  return found;
}
