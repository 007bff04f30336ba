import { statfs } from 'node:fs/promises';
import { loadConfig, type Config } from '../../config.ts';
import { type Check, failed, messageOf, ok, warning, checkDatabase } from './check-database.ts';
import { printText } from '../support/output.ts';
import { checkDataDir, checkSampleKeys, findExisting } from './start-checks.ts';

/** Checks everything that the service needs, without changing anything. Exit code 1 if a check fails. Warnings do not count. */
export async function doctorCommand({ json }: { json?: boolean | undefined }): Promise<number> {
  const checks = await runChecks(loadConfig);
  if (json) printText(JSON.stringify({ ok: !checks.some(isFailed), checks }, null, 2));
  else for (const check of checks) printText(formatCheck(check));
  return checks.some(isFailed) ? 1 : 0;
}

/** Runs every check that the configuration allows. */
export async function runChecks(readConfig: () => Config): Promise<Check[]> {
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    return [failed('configuration', messageOf(error), 'Correct the settings. docs/reference/settings.md lists them.')];
  }
  return [checkConfiguration(config), await checkDisk(config), ...(await checkDatabase(config))];
}

const isFailed = ({ status }: Check): boolean => status === 'failed';

const formatCheck = ({ status, name, detail, advice }: Check): string =>
  `${status.padEnd(8)} ${name.padEnd(14)} ${detail}${advice === undefined ? '' : `\n${' '.repeat(24)}${advice}`}`;

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

const formatSize = (bytes: number): string =>
  bytes < gib ? `${Math.floor((bytes / gib) * 1024)} MiB` : `${(bytes / gib).toFixed(1)} GiB`;

/** Checks that the data directory can be written and that its disk has space. */
export async function checkDisk({ dataDir, diskReserveBytes }: Config): Promise<Check> {
  const name = 'disk';
  try {
    checkDataDir({ dataDir });
  } catch (error) {
    return failed(name, messageOf(error), 'The service does not start with it.');
  }
  const { bavail, bsize } = await statfs(findExisting(dataDir));
  const free = bavail * bsize;
  const detail = `${formatSize(free)} are free for ${dataDir}`;
  const advice = 'Free or add space, or shorten TOCSIN_KEEP_LOGS_DAYS.';
  if (free <= diskReserveBytes) return failed(name, detail, advice);
  return free < freeLow ? warning(name, detail, advice) : ok(name, detail);
}
