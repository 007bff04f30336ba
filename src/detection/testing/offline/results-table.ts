import { describeMismatch } from '../run-test-set.ts';
import type { FileResult } from './run-folder-tests.ts';

const nameMax = 60;

/** Renders results as text: a line per test, the mismatch of a failed test below it, and a summary. `untested` are files without tests. */
export function renderResultsTable(results: readonly FileResult[], untested: readonly string[], ms: number): string {
  const rows = results.flatMap(({ file, run }) => run.results.map((result) => ({ file, result })));
  const fileWidth = Math.max(0, ...rows.map(({ file }) => file.length));
  const nameWidth = Math.min(nameMax, Math.max(0, ...rows.map(({ result }) => result.name.length)));
  const lines = results.flatMap(({ file, run }) => [
    ...run.results.flatMap((result) => {
      const { passed, name } = result;
      const head = `${passed ? 'ok  ' : 'FAIL'}  ${file.padEnd(fileWidth)}  ${toSingleLine(name).padEnd(nameWidth)}  ${result.ms.toFixed(0).padStart(5)} ms`;
      return passed ? [head] : [head, `      ${toSingleLine(describeMismatch(result))}`];
    }),
    ...(run.queryTested
      ? []
      : [`note  ${file}: queryTested: false, the events were used as rows of another SIEM's query`]),
    ...run.warnings.map(({ code, detail }) => `note  ${file}: ${code}: ${toSingleLine(detail)}`),
  ]);
  const failed = rows.filter(({ result }) => !result.passed).length;
  const none = untested.map((file) => `none  ${file} has no tests`);
  const summary = `${rows.length} tests of ${results.length} detections: ${rows.length - failed} passed, ${failed} failed; ${(ms / 1000).toFixed(1)} s`;
  return [...lines, ...none, summary].join('\n');
}

/** Replaces control characters, so that texts from files cannot move the terminal's cursor or start a new line. */
const toSingleLine = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ');
