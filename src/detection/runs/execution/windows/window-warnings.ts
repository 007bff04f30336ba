import { findResultWarnings } from '../../../analysis/rows/result-warnings.ts';
import type { PreparedWindow } from '../../../analysis/analyze-window.ts';
import { runInSlices } from '../../../../platform/lib/concurrency/slices.ts';
import type { SearchResult } from '../../../siem/connector.ts';
import type { ActiveRun } from '../active-run.ts';
import { addWarning } from '../run-progress.ts';

/** Adds what a window's query result says about the detection to the warnings of a run or of a trial: missing data and missing fields. */
export async function addWindowWarnings(
  run: ActiveRun,
  result: SearchResult,
  { groups }: PreparedWindow,
): Promise<void> {
  const byCode = Map.groupBy(result.warnings ?? [], ({ code }) => code);
  for (const [code, warnings] of byCode) addWarning(run.progress, code, warnings.map(({ detail }) => detail).join(' '));
  if (result.noData) addWarning(run.progress, 'no_data', 'The query reads a dataset that never received an event.');
  const { columns, aggregate } = result;
  const warnings = await runInSlices(findResultWarnings({ groups, columns, aggregate }, run.analysis));
  for (const { code, detail } of warnings) addWarning(run.progress, code, detail);
}
