import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { AttackFile, validateDocument, WarningListsFile, NamesFile, parseDocument } from './reference-files.ts';
import { createWarningListLookup, type WarningListLookup } from './warning-lists.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { useInstalledAttack } from './attack.ts';

/** Returns the path of a file that `tocsin knowledge update` writes. */
export const getInstalledPath = (dataDir: string, name: keyof typeof files): string =>
  join(dataDir, 'knowledge', files[name]);

const files = { attack: 'attack.json', names: 'names.json', lists: 'warninglists.json.gz' };

/** Receives the reason why an installed file is unusable. The shipped data is used instead. */
type ReportUnusableFile = (problem: string) => void;

export const readInstalledAttack = (dataDir: string, report?: ReportUnusableFile): AttackFile | undefined =>
  read(getInstalledPath(dataDir, 'attack'), AttackFile, report);

export const readInstalledNames = (dataDir: string, report?: ReportUnusableFile): NamesFile | undefined =>
  read(getInstalledPath(dataDir, 'names'), NamesFile, report);

/** Returns the lookup of the installed warning lists, or undefined if none are installed. */
export function readInstalledWarningLists(dataDir: string, report?: ReportUnusableFile): WarningListLookup | undefined {
  const installed = read(getInstalledPath(dataDir, 'lists'), WarningListsFile, report);
  return installed && createWarningListLookup(installed.lists);
}

function read<T>(path: string, schema: z.ZodType<T>, report?: ReportUnusableFile): T | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return validateDocument(schema, parseDocument(readFileSync(path), path), path);
  } catch (error) {
    report?.(`${(error as Error).message}. The shipped data is used instead.`);
    return undefined;
  }
}

/** Applies the files of `tocsin knowledge update` to this process and logs a warning for each unusable file. */
export function applyInstalledReferenceData(dataDir: string, log: Pick<Logger, 'warn'>): void {
  const reportUnusableFile = (problem: string): void => log.warn(problem);
  const attack = readInstalledAttack(dataDir, reportUnusableFile);
  if (attack) useInstalledAttack(attack);
  // Only the extraction threads use these two. Reading them here reports unusable files once.
  readInstalledNames(dataDir, reportUnusableFile);
  readInstalledWarningLists(dataDir, reportUnusableFile);
}

const epoch = Date.UTC(2025, 0, 1);

/** Returns the path of the file that holds the version of the installed data. */
export const versionPath = (dataDir: string): string => join(dataDir, 'knowledge', 'version');

/** Returns the version that the last `tocsin knowledge update` recorded, or 0 if nothing is installed. */
export function getReferenceDataVersion(dataDir: string): number {
  try {
    return Number.parseInt(readFileSync(versionPath(dataDir), 'utf8'), 10) || 0;
  } catch {
    return 0;
  }
}

/** Returns the version of an update at `now`: minutes since 2025, and always more than the version before. */
export const nextReferenceDataVersion = (dataDir: string, now: Date): number =>
  Math.max(getReferenceDataVersion(dataDir) + 1, Math.ceil((now.getTime() - epoch) / 60_000));
