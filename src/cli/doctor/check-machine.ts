import { accessSync, constants, existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Config } from '../../config.ts';
import { checkSampleKeys } from '../start-checks.ts';
import { failed, messageOf, ok, warning, type Check } from './check.ts';

const gib = 1024 ** 3;
const freeLow = 5 * gib;

/** Checks what the settings mean together. */
export function checkConfiguration(config: Config): Check {
  const name = 'configuration';
  try {
    checkSampleKeys(config);
  } catch (error) {
    return failed(name, messageOf(error), 'The service does not start with it.');
  }
  if (config.databaseUrl !== undefined && config.secretKey === undefined)
    return warning(
      name,
      'TOCSIN_SECRET_KEY is not set, so no credentials can be stored',
      'Set it to at least 32 random characters, the same for every process of the installation.',
    );
  return ok(name, 'every setting is valid');
}

/** Checks that the data directory can be written and that its disk has space. */
export async function checkDataDir({ dataDir, diskReserveBytes }: Config): Promise<Check> {
  const name = 'disk';
  const existing = findExisting(dataDir);
  try {
    accessSync(existing, constants.W_OK);
  } catch {
    return failed(name, `${existing} cannot be written`, 'Change its owner, or set TOCSIN_DATA_DIR to another folder.');
  }
  const { bavail, bsize } = await statfs(existing);
  const free = bavail * bsize;
  const detail = `${(free / gib).toFixed(1)} GiB are free for ${dataDir}`;
  const advice = 'Free or add space, or shorten TOCSIN_KEEP_LOGS_DAYS.';
  if (free <= diskReserveBytes) return failed(name, detail, advice);
  return free < freeLow ? warning(name, detail, advice) : ok(name, detail);
}

/** Returns the path, or the nearest of its parents that exists. */
const findExisting = (path: string): string => (existsSync(path) ? path : findExisting(dirname(path)));
