import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Tlp } from '../model/vocabulary.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { normaliseCron, parseCron } from '../../platform/lib/cron/cron.ts';
import { isBelowAny } from './pull/read-input.ts';

/** Checks an address. `trusted` (the command line) may name any file. Answers whether the source may read files wherever they lie. */
export async function checkUrl(url: string, options: { trusted: boolean; fileSources: string[] }): Promise<boolean> {
  const wrong = (detail: string) => fieldError('/url', 'invalid_url', detail);
  if (!URL.canParse(url)) throw wrong('url must be an absolute address.');
  const { protocol, username, password } = new URL(url);
  if (protocol === 'http:' || protocol === 'https:') {
    if (username || password) throw wrong('url may not hold a user name or password.');
    return false;
  }
  if (protocol !== 'file:') throw wrong('url must begin with https://, http:// or file:.');
  if (options.trusted) return true;
  let path: string | undefined;
  try {
    path = await realpath(fileURLToPath(url));
  } catch {
    // A file that is not there and one that may not be named look the same from outside.
  }
  if (path === undefined || !(await isBelowAny(path, options.fileSources)))
    throw wrong('url may name a file only below a directory of TOCSIN_FILE_SOURCES.');
  return false;
}

/** The normal text of a schedule. Throws a 400 that says what is wrong with it. */
export function checkSchedule(text: string): string {
  try {
    parseCron(text);
  } catch (error) {
    throw fieldError('/schedule', 'invalid_cron', error instanceof Error ? error.message : String(error));
  }
  return normaliseCron(text);
}

/** TLP 1.0 and other spellings come in; TLP 2.0 is kept. */
export const storedTlp = (tlp: Tlp | 'WHITE' | 'AMBER_STRICT'): Tlp =>
  tlp === 'WHITE' ? 'CLEAR' : tlp === 'AMBER_STRICT' ? 'AMBER+STRICT' : tlp;
