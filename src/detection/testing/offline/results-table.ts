import { describeMismatch } from '../run-test-set.ts';
import type { FileResult } from './run-folder-tests.ts';

const nameMax = 60;

/** The results for people: a line a case, what is wrong with it below, and a sum. `untested`: files without a case. */
export function renderResultsTable(results: readonly FileResult[], untested: readonly string[], ms: number): string {
  const rows = results.flatMap(({ file, run }) => run.results.map((result) => ({ file, result })));
  const fileWidth = Math.max(0, ...rows.map(({ file }) => file.length));
  const nameWidth = Math.min(nameMax, Math.max(0, ...rows.map(({ result }) => result.name.length)));
  const lines = results.flatMap(({ file, run }) => [
    ...run.results.flatMap((result) => {
      const { passed, name } = result;
      const head = `${passed ? 'ok  ' : 'FAIL'}  ${file.padEnd(fileWidth)}  ${inLine(name).padEnd(nameWidth)}  ${result.ms.toFixed(0).padStart(5)} ms`;
      return passed ? [head] : [head, `      ${inLine(describeMismatch(result))}`];
    }),
    ...(run.queryTested
      ? []
      : [`note  ${file}: queryTested: false, its events stood for the rows of another SIEM's query`]),
  ]);
  const failed = rows.filter(({ result }) => !result.passed).length;
  const none = untested.map((file) => `none  ${file} has no tests`);
  const sum = `${rows.length} tests of ${results.length} detections: ${rows.length - failed} passed, ${failed} failed; ${(ms / 1000).toFixed(1)} s`;
  return [...lines, ...none, sum].join('\n');
}

/** What a file holds must not move the cursor of a terminal or begin a line of its own. */
const inLine = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ');
