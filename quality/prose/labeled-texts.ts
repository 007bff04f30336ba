import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Returns whether a page belongs to the half without which the rules are written: its SHA-256 has an odd first hexadecimal digit. */
export const isHeldOutAddress = (address: string): boolean => Number.parseInt(sha256(address)[0]!, 16) % 2 === 1;

/** Reads a file of `labels/`. */
export const readLabels = <T>(name: string): T[] =>
  JSON.parse(readFileSync(new URL(`labels/${name}`, import.meta.url), 'utf8')) as T[];

/** Returns the name of the file that contains the text of a page: the first 16 digits of the SHA-256 of its address. */
export const textFileOf = (address: string): string => `${sha256(address).slice(0, 16)}.txt`;

/** Returns the text of a page, or undefined if `folder` does not contain it. */
export function readLabeledText(folder: string | undefined, address: string): string | undefined {
  const path = folder && join(folder, textFileOf(address));
  return path && existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
