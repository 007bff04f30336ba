import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { AttackFile, validateDocument, WarningListsFile, NamesFile, parseDocument } from './reference-files.ts';
import { createWarningListLookup, type WarningListLookup } from './update/warning-lists.ts';

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
