import { runInSlices } from '../../src/platform/lib/concurrency/slices.ts';
import { analyzeWindow, prepareWindow } from '../../src/detection/analysis/analyze-window.ts';
import type { AnalysisDefinition } from '../../src/detection/analysis/analysis-definition.ts';
import type { Severity } from '../../src/detection/analysis/candidate.ts';
import { type WindowMemory, recallFromWindows } from '../../src/detection/analysis/memory/recall.ts';
import type { CreateDetection } from '../../src/detection/detections/record/detection-input.schema.ts';
import { hourMs } from '../../src/demo/company/people.ts';
import type { SampleEngine } from '../../src/demo/sample-engine.ts';

/** A candidate of a replay: its entity and severity, the window's start (epoch milliseconds) and the ids of its rows. */
export type ReplayCandidate = { entity: string; severity: Severity; from: number; rowIds: string[] };

/** The number of past windows from which a detection's memory is backfilled. */
const historyWindows = 200;

type Replay = { definition: AnalysisDefinition; memory: WindowMemory[]; candidates: ReplayCandidate[] };

/**
 * Analyzes the last `hours` full hours before `end` one by one, with the memory that a first run would backfill. Loads each hour once for all
 * detections, and returns the candidates of each in their order.
 */
export async function replayDetections(
  engine: SampleEngine,
  detections: readonly CreateDetection[],
  end: Date,
  hours = 36,
): Promise<ReplayCandidate[][]> {
  const replays = detections.map((detection): Replay => ({
    definition: toDefinition(detection),
    memory: [],
    candidates: [],
  }));
  const last = Math.floor(end.getTime() / hourMs) * hourMs;
  const start = last - hours * hourMs;
  for (let from = start - historyWindows * hourMs; from < last; from += hourMs) {
    await engine.setWindow(new Date(from), new Date(from + hourMs));
    for (const replay of replays) await replayHour(engine, replay, { from, isExamined: from >= start });
  }
  return replays.map(({ candidates }) => candidates);
}

async function replayHour(
  engine: SampleEngine,
  { definition, memory, candidates }: Replay,
  { from, isExamined }: { from: number; isExamined: boolean },
): Promise<void> {
  if (!isExamined && (definition.category === 'custom' || definition.category === 'privilege_escalation')) return;
  const window = { from: new Date(from), to: new Date(from + hourMs), aggregate: false };
  const prepared = await runInSlices(prepareWindow(await engine.run(definition.query), window, definition));
  if (isExamined) {
    const past = await runInSlices(recallFromWindows(memory, window, prepared.query));
    const result = await runInSlices(analyzeWindow(prepared, past));
    for (const { entity, severity, rows } of result.candidates)
      candidates.push({ entity, severity, from, rowIds: rows.map(({ rowId }) => rowId) });
  }
  memory.push({ ...window, entries: prepared.memory });
}

function toDefinition(detection: CreateDetection): AnalysisDefinition {
  const { detectionCategory: category, detectionQuery: query, entityField = null, timeField = null } = detection;
  return { category, query, entityField, timeField, connectionId: null, cadence: '0 * * * *', slotMs: hourMs };
}
