import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { BadFile } from './detection-fields-file.ts';
import { readDetectionFile, type DetectionFile } from './detection-file.ts';

const detectionName = /^[^./\\\0][^/\\\0]*\.ya?ml$/i;

/**
 * What was last in step: by file, the detection's id and the hashes of both sides. They differ where the service writes something in
 * its own way. Whoever changed since is told by them.
 */
const Lock = z.object({
  version: z.literal(1),
  detections: z
    // It may come from a stranger: nothing outside of the folder is written.
    .record(z.string().regex(detectionName), z.object({ id: z.string(), file: z.string(), service: z.string() }))
    .refine((files) => {
      const ids = Object.values(files).map(({ id }) => id);
      return new Set(ids).size === ids.length;
    }),
});
export type LockEntry = { id: string; file: string; service: string };
export type Lock = Record<string, LockEntry>;

export const lockName = 'tocsin.lock.json';
const filesMax = 5000;

/** Every detection of a folder by file name. Throws a BadFile that names every file that is wrong. */
export function readFolder(folder: string): Map<string, DetectionFile> {
  const names = readdirSync(folder)
    .filter((name) => detectionName.test(name))
    .toSorted();
  if (names.length > filesMax) throw new BadFile(`${folder} holds more than ${filesMax} files`);
  const problems: string[] = [];
  const files = names.flatMap((name) => {
    try {
      return [readDetectionFile(folder, name)];
    } catch (error) {
      problems.push((error as Error).message);
      return [];
    }
  });
  if (problems.length > 0) throw new BadFile(problems.join('\n'));
  return new Map(files.map((file) => [file.name, file]));
}

export function readLock(folder: string): Lock {
  const path = join(folder, lockName);
  if (!existsSync(path)) return {};
  const parsed = Lock.safeParse(parse(readFileSync(path, 'utf8')));
  if (!parsed.success) throw new BadFile(`${lockName} is damaged; take it from version control, or remove it and pull`);
  return parsed.data.detections;
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Written whole or not at all, by file name, so that version control sees only what changed. */
export function writeLock(folder: string, lock: Lock): void {
  const detections = Object.fromEntries(Object.entries(lock).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const text = `${JSON.stringify({ version: 1, detections }, null, 2)}\n`;
  const path = join(folder, lockName);
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeWhole(folder, lockName, text);
}

export function writeWhole(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  const fresh = join(folder, `.${name}.new`);
  // What is left of a broken run goes; a link would be followed.
  rmSync(fresh, { force: true });
  writeFileSync(fresh, text, { flag: 'wx' });
  renameSync(fresh, join(folder, name));
}

export function removeFile(folder: string, file: Pick<DetectionFile, 'name' | 'promptFile'>): void {
  for (const name of [file.name, file.promptFile]) if (name !== undefined) rmSync(join(folder, name), { force: true });
}

/** A file name from a detection's, not among `taken`. */
export function fileNameFor(name: string, taken: ReadonlySet<string>): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 60);
  const stem = words === '' ? 'detection' : words;
  for (let n = 1; ; n += 1) {
    const candidate = `${stem}${n === 1 ? '' : `-${n}`}.yaml`;
    if (!taken.has(candidate)) return candidate;
  }
}
