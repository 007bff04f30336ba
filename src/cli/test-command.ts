import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BadFile } from '../detection/as-code/detection-fields-file.ts';
import { readFolder } from '../detection/as-code/folder.ts';
import { junitOf } from '../detection/testing/offline/junit.ts';
import { tableOf } from '../detection/testing/offline/results-table.ts';
import { testFolder, type FileResult } from '../detection/testing/offline/test-folder.ts';
import { readArgs, UsageError } from './read-args.ts';

const usage = 'tocsin test DIR [--junit FILE]';

/** Runs the test cases of a folder of detections: no service, no key. Exit code 1 where one fails, 2 for files that are wrong. */
export async function testCommand(args: string[]): Promise<number> {
  const { values, words } = readArgs(args, { junit: { type: 'string' } }, usage);
  const [folder] = words;
  if (folder === undefined || words.length > 1) throw new UsageError(`Usage: ${usage}`);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw new UsageError(`There is no folder ${folder}.`);
  const at = new Date();
  const began = performance.now();
  const { results, untested } = await withBadFilesTold(() => testAll(folder, at));
  console.log(tableOf(results, untested, performance.now() - began));
  if (values.junit !== undefined) writeFileSync(values.junit, junitOf(results, at));
  return results.every(({ run }) => run.passed) ? 0 : 1;
}

async function testAll(folder: string, now: Date): Promise<{ results: FileResult[]; untested: string[] }> {
  const files = [...readFolder(folder).values()];
  if (files.length === 0) throw new UsageError(`${folder} holds no detection: a file each, with the ending .yaml.`);
  const dataDir = mkdtempSync(join(tmpdir(), 'tocsin-test-'));
  try {
    const results = await testFolder(files, { dataDir, now });
    const tested = new Set(results.map(({ file }) => file));
    return { results, untested: files.map(({ name }) => name).filter((name) => !tested.has(name)) };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function withBadFilesTold<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof BadFile) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
