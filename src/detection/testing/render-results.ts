import { describeMismatch } from './run-test-set.ts';
import type { FileResult } from './run-folder-tests.ts';
import type { TestResult } from './testing.schema.ts';

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

/**
 * Renders results as JUnit XML in the format that CI servers read (testmoapp/junitxml, the schema of the Jenkins xUnit plugin), with one suite
 * per file. A wrong result is a failure, and a test that could not run is an error. Times are in seconds.
 */
export function renderJunit(results: readonly FileResult[], now: Date): string {
  const all = results.flatMap(({ run }) => run.results);
  const suites = results.map(({ file, run }) => [
    `  <testsuite${renderAttributes({ name: file, ...countResults(run.results), skipped: 0, timestamp: now.toISOString().slice(0, 19) })}>`,
    `    <properties><property name="queryTested" value="${run.queryTested}"/></properties>`,
    ...run.results.flatMap((result) => renderCase(file, result)),
    '  </testsuite>',
  ]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${renderAttributes({ name: 'tocsin', ...countResults(all) })}>`,
    ...suites.flat(),
    '</testsuites>',
    '',
  ].join('\n');
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

function countResults(results: readonly TestResult[]) {
  const errors = results.filter(({ error }) => error !== null).length;
  return {
    tests: results.length,
    failures: results.filter(({ passed }) => !passed).length - errors,
    errors,
    time: seconds(results.reduce((sum, { ms }) => sum + ms, 0)),
  };
}

function renderCase(file: string, result: TestResult): string[] {
  const head = `    <testcase${renderAttributes({ name: result.name, classname: file.replace(/\.ya?ml$/i, ''), time: seconds(result.ms) })}`;
  if (result.passed) return [`${head}/>`];
  const kind = result.error === null ? 'failure' : 'error';
  const message = describeMismatch(result);
  const { expected, found } = result;
  const text = result.error ?? `expected: ${JSON.stringify(expected)}\nfound: ${JSON.stringify(found)}`;
  return [`${head}><${kind}${renderAttributes({ message, type: kind })}>${escapeXml(text)}</${kind}></testcase>`];
}

const renderAttributes = (values: Record<string, string | number>): string =>
  Object.entries(values)
    .map(
      ([name, value]) =>
        ` ${name}="${escapeXml(String(value)).replaceAll(/[\t\n\r]/g, (char) => `&#${char.charCodeAt(0)};`)}"`,
    )
    .join('');

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes text for XML 1.0. Replaces characters that XML does not allow, such as most control characters and lone surrogates, with U+FFFD. */
function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{FFFD}')
    .replaceAll(/[&<>"]/g, (char) => entities[char]!);
}
