import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { Attack, checked, Lists, Names, parseDocument } from './reference-files.ts';
import { readWarninglists } from './update/warning-lists.ts';

/** Where `tocsin knowledge update` puts what it takes. */
export const heldPath = (dataDir: string, name: keyof typeof files): string => join(dataDir, 'knowledge', files[name]);

const files = { attack: 'attack.json', names: 'names.json', lists: 'warninglists.json.gz' };

/** Is told what is wrong with a file that is held; what is shipped serves on. */
export type OnBroken = (problem: string) => void;
const ignore: OnBroken = () => undefined;

export const heldAttack = (dataDir: string, onBroken = ignore): Attack | undefined =>
  read(heldPath(dataDir, 'attack'), Attack, onBroken);

export const heldNames = (dataDir: string, onBroken = ignore): Names | undefined =>
  read(heldPath(dataDir, 'names'), Names, onBroken);

/** The look-up of the lists of harmless values that are held; undefined where none are. */
export function heldLists(dataDir: string, onBroken = ignore): ReturnType<typeof readWarninglists> | undefined {
  const held = read(heldPath(dataDir, 'lists'), Lists, onBroken);
  return held && readWarninglists(held.lists);
}

function read<T>(path: string, schema: z.ZodType<T>, onBroken: OnBroken): T | undefined {
  if (!existsSync(path)) return undefined;
  try {
    return checked(schema, parseDocument(readFileSync(path), path), { name: path, what: 'knowledge of this version' });
  } catch (error) {
    onBroken(`${(error as Error).message}; what is shipped is used instead`);
    return undefined;
  }
}
