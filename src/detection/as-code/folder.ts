import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { DetectionFileError, type FileOptions } from '../managed/file-fields.ts';
import { readDetectionFile, type DetectionFile } from './detection-file.ts';

const detectionName = /^[^./\\\0][^/\\\0]*\.ya?ml$/i;

/**
 * The state of the last synchronization: for each file, the id of its detection and hashes of both sides. A hash that no longer
 * matches shows which side has changed since. The two hashes differ if the service normalizes a value.
 */
const Lock = z.object({
  version: z.literal(1),
  detections: z
    // The lock file may come from an untrusted pull request, so no file outside of the folder is written.
    .record(z.string().regex(detectionName), z.object({ id: z.string(), file: z.string(), service: z.string() }))
    .refine((files) => {
      const ids = Object.values(files).map(({ id }) => id);
      return new Set(ids).size === ids.length;
    }),
});
export type LockEntry = { id: string; file: string; service: string };
export type Lock = Record<string, LockEntry>;

export const lockFileName = 'tocsin.lock.json';
const filesMax = 5000;

/** Reads every detection of a folder, by file name. Throws a DetectionFileError that lists the problems of all files. */
export function readFolder(folder: string, options?: FileOptions): Map<string, DetectionFile> {
  const names = readdirSync(folder)
    .filter((name) => detectionName.test(name))
    .toSorted();
  if (names.length > filesMax) throw new DetectionFileError(`${folder} contains more than ${filesMax} detection files`);
  const problems: string[] = [];
  const files = names.flatMap((name) => {
    try {
      return [readDetectionFile(folder, name, options)];
    } catch (error) {
      problems.push((error as Error).message);
      return [];
    }
  });
  if (problems.length > 0) throw new DetectionFileError(problems.join('\n'));
  return new Map(files.map((file) => [file.name, file]));
}

export function readLock(folder: string): Lock {
  const path = join(folder, lockFileName);
  if (!existsSync(path)) return {};
  const parsed = Lock.safeParse(parseJson(readFileSync(path, 'utf8')));
  if (!parsed.success)
    throw new DetectionFileError(`${lockFileName} is damaged. Restore it from version control, or remove it and pull.`);
  return parsed.data.detections;
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Writes the lock file if it differs, sorted by file name so that diffs in version control stay small. */
export function writeLock(folder: string, lock: Lock): void {
  const detections = Object.fromEntries(Object.entries(lock).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const text = `${JSON.stringify({ version: 1, detections }, null, 2)}\n`;
  const path = join(folder, lockFileName);
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileAtomically(folder, lockFileName, text);
}

/** Writes a file through a temporary file, so that readers see the old or the new content. */
export function writeFileAtomically(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  const temporary = join(folder, `.${name}.new`);
  // Removes leftovers of an interrupted run. An existing link would be followed.
  rmSync(temporary, { force: true });
  writeFileSync(temporary, text, { flag: 'wx' });
  renameSync(temporary, join(folder, name));
}

export function removeFile(folder: string, file: Pick<DetectionFile, 'name' | 'promptFile'>): void {
  for (const name of [file.name, file.promptFile]) if (name !== undefined) rmSync(join(folder, name), { force: true });
}

/** Derives a file name from a detection's name that is not in `taken`. */
export function chooseFileName(name: string, taken: ReadonlySet<string>): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);
  const stem = slug === '' ? 'detection' : slug;
  for (let n = 1; ; n += 1) {
    const candidate = `${stem}${n === 1 ? '' : `-${n}`}.yaml`;
    if (!taken.has(candidate)) return candidate;
  }
}
