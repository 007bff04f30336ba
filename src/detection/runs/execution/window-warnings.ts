import { findResultWarnings } from '../../analysis/rows/result-warnings.ts';
import type { PreparedWindow } from '../../analysis/analyze-window.ts';
import type { SearchResult } from '../../siem/connector.ts';
import type { ActiveRun } from './active-run.ts';
import { addWarning } from './run-progress.ts';

/** Adds what a window's query result says about the detection to the warnings of a run or of a trial: missing data and missing fields. */
export function addWindowWarnings(run: ActiveRun, result: SearchResult, { groups }: PreparedWindow): void {
  const text = result.warnings?.join(' ');
  if (result.noData)
    addWarning(run.progress, 'no_data', text ?? 'The query reads a dataset that never received an event.');
  else if (text !== undefined && text !== '') addWarning(run.progress, 'query', text);
  const { columns, aggregate } = result;
  for (const { code, detail } of findResultWarnings({ groups, columns, aggregate }, run.analysis))
    addWarning(run.progress, code, detail);
}
