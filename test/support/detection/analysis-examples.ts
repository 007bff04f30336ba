import { runAtOnce } from '../../../src/platform/lib/concurrency/slices.ts';
import type { QueryRow } from '../../../src/detection/siem/connector.ts';
import { analyzeWindow, prepareWindow } from '../../../src/detection/analysis/analyze-window.ts';
import type { Candidate } from '../../../src/detection/analysis/candidate.ts';
import type { DetectionCategory } from '../../../src/detection/analysis/registry.ts';
import type { WindowResult } from '../../../src/detection/analysis/category.ts';
import type { AnalysisDefinition, AnalysisWindow } from '../../../src/detection/analysis/analysis-definition.ts';
import type { DetectionTexts } from '../../../src/detection/verdicts/verdict.ts';
import { recallFromWindows, type WindowMemory } from '../../../src/detection/analysis/memory/recall.ts';

/** The texts of a detection without a headline template. */
export const detectionTexts: DetectionTexts = {
  name: 'Example detection',
  description: '',
  systemPrompt: 'Judge the entity by its rows.',
};

// Windows of one hour, counted from Monday 2024-01-01, 00:00 UTC.
export const hourMs = 3_600_000;
const monday = Date.UTC(2024, 0, 1);

export function hour(index: number, aggregate = false): AnalysisWindow {
  return { from: new Date(monday + index * hourMs), to: new Date(monday + (index + 1) * hourMs), aggregate };
}

export function definitionOf(category: DetectionCategory, more: Partial<AnalysisDefinition> = {}): AnalysisDefinition {
  const rest = {
    query: 'select 1',
    entityField: null,
    timeField: null,
    connectionId: null,
    cadence: '0 * * * *',
    slotMs: hourMs,
  };
  return { category, ...rest, ...more };
}

/** Analyzes the rows of several windows in turn, as runs do, and returns the result of the last one. */
export function analyzeInTurn(
  windows: readonly (readonly QueryRow[])[],
  definition: AnalysisDefinition,
  aggregate = false,
): WindowResult {
  const memory: WindowMemory[] = [];
  let findings: WindowResult = { candidates: [], learning: false, dropped: { belowMinimum: 0, workingHours: 0 } };
  for (const [index, rows] of windows.entries()) {
    const window = hour(index, aggregate);
    const prepared = runAtOnce(prepareWindow(rows, window, definition));
    const past = runAtOnce(recallFromWindows(memory, window, prepared.query));
    findings = runAtOnce(analyzeWindow(prepared, past));
    memory.push({ ...window, entries: prepared.memory });
  }
  return findings;
}

/** Returns the candidates of one window without history. */
export function candidatesOf(
  rows: readonly QueryRow[],
  definition: AnalysisDefinition,
  aggregate = false,
): Candidate[] {
  return analyzeInTurn([rows], definition, aggregate).candidates;
}
