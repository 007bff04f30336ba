import { loadConfig, type Config } from '../../config.ts';
import { failed, messageOf, type Check } from './check.ts';
import { checkDatabase } from './check-database.ts';
import { checkConfiguration, checkDisk } from './check-machine.ts';
import { printText } from '../output.ts';

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
