import { AppError } from '../../platform/lib/errors.ts';
import { toOrgId } from '../../platform/lib/org-id.ts';
import type { DetectionFile } from '../as-code/detection-file.ts';
import { DetectionFileError, toTestSet, withoutTests } from '../managed/file-fields.ts';
import type { CreateDetection } from '../detections/record/detection-input.schema.ts';
import { buildDefinition } from '../detections/record/build-detection.ts';
import type { TestSet } from '../detections/test-cases.schema.ts';
import { createEngine } from '../log-engine/process/engine.ts';
import { createFileStore } from '../log-store/files/file-store.ts';
import type { TestCaseDeps, TestSubject } from './run-test-case.ts';
import { runTestSet } from './run-test-set.ts';
import type { TestRun } from './testing.schema.ts';

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
