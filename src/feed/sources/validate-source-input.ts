import { realpath } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { fieldError } from '../../platform/lib/errors.ts';
import { normalizeCron, parseCron } from '../../platform/lib/time/cron.ts';
import { isBelowAny } from './pull/fetch-documents.ts';

/** Validates an address. A trusted caller (the command line) may use any file. Returns whether the source may read files in any directory. */
export async function validateUrl(
  url: string,
  options: { isTrusted: boolean; fileSources: string[] },
): Promise<boolean> {
  const invalid = (detail: string) => fieldError('/url', 'invalid_url', detail);
  if (!URL.canParse(url)) throw invalid('`url` must be an absolute address.');
  const { protocol, username, password } = new URL(url);
  if (protocol === 'http:' || protocol === 'https:') {
    if (username || password) throw invalid('`url` must not contain a user name or password. Use `auth`.');
    return false;
  }
  if (protocol !== 'file:') throw invalid('`url` must begin with https://, http:// or file:.');
  if (options.isTrusted) return true;
  let path: string | undefined;
  try {
    path = await realpath(fileURLToPath(url));
  } catch {
    // The response must not reveal whether a file exists.
  }
  if (path === undefined || !(await isBelowAny(path, options.fileSources)))
    throw invalid('`url`: the file must be in a directory of TOCSIN_FILE_SOURCES.');
  return false;
}

/** Returns a schedule in its normalized form. Throws a 400 if it is not valid. */
export function normalizeSchedule(text: string): string {
  try {
    parseCron(text);
  } catch (error) {
    throw fieldError('/schedule', 'invalid_cron', error instanceof Error ? error.message : String(error));
  }
  return normalizeCron(text);
}
