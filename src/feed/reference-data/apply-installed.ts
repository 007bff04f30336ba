import type { Logger } from '../../platform/lib/logging/logger.ts';
import { useInstalledAttack } from './attack.ts';
import { readInstalledAttack, readInstalledWarningLists, readInstalledNames } from './read-installed.ts';

/** Applies the files of `tocsin knowledge update` to this process and logs a warning for each unusable file. */
export function applyInstalledReferenceData(dataDir: string, log: Pick<Logger, 'warn'>): void {
  const reportUnusableFile = (problem: string): void => log.warn(problem);
  const attack = readInstalledAttack(dataDir, reportUnusableFile);
  if (attack) useInstalledAttack(attack);
  // Only the extraction threads use these two. Reading them here reports unusable files once.
  readInstalledNames(dataDir, reportUnusableFile);
  readInstalledWarningLists(dataDir, reportUnusableFile);
}
