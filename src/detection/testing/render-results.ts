import { AppError } from '../../platform/lib/errors.ts';
import { toOrgId } from '../../platform/lib/org-id.ts';
import type { DetectionFile } from '../as-code/detection-file.ts';
import { buildDefinition } from '../detections/record/build-detection.ts';
import type { CreateDetection } from '../detections/record/detection-input.schema.ts';
import type { TestSet } from '../detections/test-cases.schema.ts';
import { createEngine } from '../log-engine/process/engine.ts';
import { createFileStore } from '../log-store/files/file-store.ts';
import { DetectionFileError, toTestSet, withoutTests } from '../managed/file-fields.ts';
import type { TestCaseDeps, TestSubject } from './run-test-case.ts';
import { describeMismatch, runTestSet } from './run-test-set.ts';
import type { TestResult, TestRun } from './testing.schema.ts';

/** The test results of one file. */
export type FileResult = { file: string; run: TestRun };

type FileTests = { file: string; subject: TestSubject; set: TestSet };

const organization = toOrgId('00000000-0000-7000-8000-000000000000');
/** Matches the number of tasks that one engine process runs at the same time. */
const concurrency = 2;

/**
 * Runs the test cases of all files with one engine and without the service. Returns the results in the order of the files. The caller must
 * empty `dataDir`. The results are those of the service, with the built-in analyst as the judge. Throws a DetectionFileError for definitions that the service
 * would reject.
 */
export async function runFolderTests(
  files: readonly DetectionFile[],
  { dataDir, now }: { dataDir: string; now: Date },
): Promise<FileResult[]> {
  const tests = readTests(files, now);
  const segmentStore = createFileStore(dataDir);
  const engine = createEngine({ directoryOf: segmentStore.folderOf });
  const deps: TestCaseDeps = { engine, segmentStore, clock: () => now };
  try {
    const results: FileResult[] = [];
    const queue = tests.entries();
    const work = async (): Promise<void> => {
      for (const [index, { file, subject, set }] of queue)
        results[index] = { file, run: await runTestSet(deps, subject, set) };
    };
    await Promise.all(Array.from({ length: concurrency }, work));
    return results;
  } finally {
    await engine.close();
  }
}

/** Returns the tests of every file that has some. Throws one error that lists the problems of all files. */
function readTests(files: readonly DetectionFile[], now: Date): FileTests[] {
  const problems: string[] = [];
  const tests = files.flatMap((file): FileTests[] => {
    const set = toTestSet(file.fields);
    try {
      const definition = buildDefinition({ orgId: organization }, withoutTests(file.fields) as CreateDetection, now);
      const subject = { orgId: organization, detectionId: organization, definition };
      return set.tests.length === 0 ? [] : [{ file: file.name, subject, set }];
    } catch (error) {
      if (!(error instanceof AppError) || !error.errors) throw error;
      const issues = error.errors.map(({ pointer, detail }) => ({
        path: pointer.split('/').slice(1),
        message: detail,
      }));
      problems.push(file.toError(issues).message);
      return [];
    }
  });
  if (problems.length > 0) throw new DetectionFileError(problems.join('\n'));
  return tests;
}

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
