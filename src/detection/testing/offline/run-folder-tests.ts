import type { DetectionFile } from '../../as-code/detection-file.ts';
import {
  DetectionFileError,
  withoutTests as definitionFields,
  toTestSet,
  type FileFields,
} from '../../as-code/file-fields.ts';
import type { CreateDetection } from '../../detections/record/detection-input.schema.ts';
import { buildDefinition } from '../../detections/record/new-detection.ts';
import type { TestSet } from '../../detections/test-cases/test-cases.schema.ts';
import { AppError } from '../../../platform/lib/errors.ts';
import { toOrgId } from '../../../platform/lib/org-id.ts';
import { createEngine } from '../../logs/engine/engine.ts';
import type { FieldsByDataset } from '../../logs/query/fixture-store.ts';
import { logFolderPath } from '../../logs/log-folder.ts';
import { findTestDatasets, type TestCaseDeps, type TestSubject } from '../run-test-case.ts';
import type { TestRun } from '../testing.schema.ts';
import { addCaseFields, runTestSet, hasForeignQuery, withLocalQuery } from '../run-test-set.ts';

/** What became of the test cases of one file. */
export type FileResult = { file: string; run: TestRun };

type Ready = { file: string; tested: TestSubject; set: TestSet };

const organization = toOrgId('00000000-0000-7000-8000-000000000000');
/** Detections under test at the same time: as many as one engine works at. */
const atOnce = 2;

/**
 * Runs the test cases of all files, in the order of the files, with one engine and no service. `dataDir` is emptied by the caller. A dataset
 * has the columns that any test of the folder shows. Throws a BadFile for what the service would refuse.
 */
export async function runFolderTests(
  files: readonly DetectionFile[],
  { dataDir, now }: { dataDir: string; now: Date },
): Promise<FileResult[]> {
  const ready = readyOf(files, now);
  const engine = createEngine({ directoryOf: (id) => logFolderPath(dataDir, id) });
  const deps: TestCaseDeps = { engine, config: { dataDir }, clock: () => now };
  try {
    const columns = await columnsOfAll(deps, ready);
    const results: FileResult[] = [];
    const waiting = [...ready.entries()];
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const [index, { file, tested, set }] = next;
        const columnsOf = (): Promise<FieldsByDataset> => Promise.resolve(columns);
        results[index] = { file, run: await runTestSet(deps, tested, set, { columnsOf }) };
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    return results;
  } finally {
    await engine.close();
  }
}

function readyOf(files: readonly DetectionFile[], now: Date): Ready[] {
  const problems: string[] = [];
  const ready = files.flatMap((file): Ready[] => {
    const set = toTestSet(file.fields);
    try {
      const definition = buildDefinition({ orgId: organization }, inputOf(file.fields), now);
      const tested = { orgId: organization, detectionId: organization, definition };
      return set.tests.length === 0 ? [] : [{ file: file.name, tested, set }];
    } catch (error) {
      if (!(error instanceof AppError) || !error.errors) throw error;
      const wrong = error.errors.map(({ pointer, detail }) => ({ path: pointer.split('/').slice(1), message: detail }));
      problems.push(file.toError(wrong).message);
      return [];
    }
  });
  if (problems.length > 0) throw new DetectionFileError(problems.join('\n'));
  return ready;
}

/** A connection is the service's to know; tests ask none. */
function inputOf(fields: FileFields): CreateDetection {
  const { connectionId: _, ...input } = definitionFields(fields);
  return input as CreateDetection;
}

async function columnsOfAll(deps: TestCaseDeps, ready: readonly Ready[]): Promise<FieldsByDataset> {
  let columns: FieldsByDataset = new Map();
  for (const { tested, set } of ready) {
    if (hasForeignQuery(tested, set)) continue;
    const { orgId, definition } = withLocalQuery(tested, set);
    // A query that cannot be read fails its own cases.
    const datasets = await findTestDatasets(
      deps,
      { orgId, definition, isForeign: false },
      AbortSignal.timeout(10_000),
    ).catch(() => []);
    for (const test of set.tests) columns = addCaseFields(columns, test, datasets);
  }
  return columns;
}
