import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DetectionFileError } from '../../detection/managed/file-fields.ts';
import { readFolder } from '../../detection/as-code/folder.ts';
import { isAgentFile } from '../../detection/managed/file-fields.ts';
import {
  type FileResult,
  renderJunit,
  renderResultsTable,
  runFolderTests,
} from '../../detection/testing/render-results.ts';
import { UsageError } from '../support/failures.ts';
import { printText } from '../support/output.ts';

/** Runs the test cases of a folder of detections, without a service or key. Exit code 1 if a test fails, 2 if a file is invalid. */
export async function testCommand(folder: string, { junit }: { junit?: string | undefined }): Promise<number> {
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new UsageError(`The folder ${folder} does not exist.`);
  const now = new Date();
  const startMs = performance.now();
  const { results, untested } = await asUsageError(() => runTests(folder, now));
  printText(renderResultsTable(results, untested, performance.now() - startMs));
  if (junit !== undefined) writeFileSync(junit, renderJunit(results, now));
  return results.every(({ run }) => run.passed) ? 0 : 1;
}

async function runTests(folder: string, now: Date): Promise<{ results: FileResult[]; untested: string[] }> {
  const all = [...readFolder(folder, { allowsAgents: true }).values()];
  const files = all.filter(({ fields }) => !isAgentFile(fields));
  if (files.length === 0)
    throw new UsageError(`${folder} contains no detections. Each detection is a file that ends in .yaml.`);
  const dataDir = mkdtempSync(join(tmpdir(), 'tocsin-test-'));
  try {
    const results = await runFolderTests(files, { dataDir, now });
    const tested = new Set(results.map(({ file }) => file));
    return { results, untested: files.map(({ name }) => name).filter((name) => !tested.has(name)) };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Converts errors of detection files to usage errors. */
async function asUsageError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DetectionFileError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
