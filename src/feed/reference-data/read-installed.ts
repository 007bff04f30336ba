import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { AttackFile, validateDocument, WarningListsFile, NamesFile, parseDocument } from './reference-files.ts';
import { createWarningListLookup } from './update/warning-lists.ts';

/** Where `tocsin knowledge update` puts what it takes. */
export const getInstalledPath = (dataDir: string, name: keyof typeof files): string =>
  join(dataDir, 'knowledge', files[name]);

const files = { attack: 'attack.json', names: 'names.json', lists: 'warninglists.json.gz' };

/** Is told what is wrong with a file that is held; what is shipped serves on. */
export type ReportUnusableFile = (problem: string) => void;
const ignore: ReportUnusableFile = () => undefined;

export const readInstalledAttack = (dataDir: string, onBroken = ignore): AttackFile | undefined =>
  read(getInstalledPath(dataDir, 'attack'), AttackFile, onBroken);

export const readInstalledNames = (dataDir: string, onBroken = ignore): NamesFile | undefined =>
  read(getInstalledPath(dataDir, 'names'), NamesFile, onBroken);

/** The look-up of the lists of harmless values that are held; undefined where none are. */
export function readInstalledWarningLists(
  dataDir: string,
  onBroken = ignore,
): ReturnType<typeof createWarningListLookup> | undefined {
  const held = read(getInstalledPath(dataDir, 'lists'), WarningListsFile, onBroken);
  return held && createWarningListLookup(held.lists);
}

function read<T>(path: string, schema: z.ZodType<T>, onBroken: ReportUnusableFile): T | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return validateDocument(schema, parseDocument(readFileSync(path), path), {
      name: path,
      what: 'knowledge of this version',
    });
  } catch (error) {
    onBroken(`${(error as Error).message}; what is shipped is used instead`);
    return undefined;
  }
}
