import { describeMismatch } from '../run-test-set.ts';
import type { TestResult } from '../testing.schema.ts';
import type { FileResult } from './run-folder-tests.ts';

/**
 * The results as JUnit XML, a suite a file, in the shape that CI servers read (testmoapp/junitxml, the schema of Jenkins' xUnit plugin):
 * what came out wrong is a failure, what could not run an error. Times in seconds.
 */
export function renderJunit(results: readonly FileResult[], at: Date): string {
  const all = results.flatMap(({ run }) => run.results);
  const suites = results.map(({ file, run }) => [
    `  <testsuite${attributes({ name: file, ...countsOf(run.results), skipped: 0, timestamp: at.toISOString().slice(0, 19) })}>`,
    `    <properties><property name="queryTested" value="${run.queryTested}"/></properties>`,
    ...run.results.flatMap((result) => caseOf(file, result)),
    '  </testsuite>',
  ]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name: 'tocsin', ...countsOf(all) })}>`,
    ...suites.flat(),
    '</testsuites>',
    '',
  ].join('\n');
}

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

function countsOf(results: readonly TestResult[]) {
  const errors = results.filter(({ error }) => error !== null).length;
  return {
    tests: results.length,
    failures: results.filter(({ passed }) => !passed).length - errors,
    errors,
    time: seconds(results.reduce((sum, { ms }) => sum + ms, 0)),
  };
}

function caseOf(file: string, result: TestResult): string[] {
  const head = `    <testcase${attributes({ name: result.name, classname: file.replace(/\.ya?ml$/i, ''), time: seconds(result.ms) })}`;
  if (result.passed) return [`${head}/>`];
  const kind = result.error === null ? 'failure' : 'error';
  const message = describeMismatch(result);
  const { expected, found } = result;
  const text = result.error ?? `expected: ${JSON.stringify(expected)}\nfound: ${JSON.stringify(found)}`;
  return [`${head}><${kind}${attributes({ message, type: kind })}>${escaped(text)}</${kind}></testcase>`];
}

const attributes = (given: Record<string, string | number>): string =>
  Object.entries(given)
    .map(
      ([name, value]) =>
        ` ${name}="${escaped(String(value)).replaceAll(/[\t\n\r]/g, (at) => `&#${at.charCodeAt(0)};`)}"`,
    )
    .join('');

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** XML 1.0 has no place for most control characters, nor for half a character: U+FFFD stands for them. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{FFFD}')
    .replaceAll(/[&<>"]/g, (at) => entities[at]!);
}
