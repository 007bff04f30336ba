import type { Logger } from '../../platform/lib/logger.ts';
import { useInstalledAttack } from './attack.ts';
import { readInstalledAttack, readInstalledWarningLists, readInstalledNames } from './read-installed.ts';

/** Lays what `tocsin knowledge update` took over what is shipped, and says in the log which of its files are broken. */
export function applyInstalledReferenceData(dataDir: string, log: Pick<Logger, 'warn'>): void {
  const onBroken = (problem: string): void => log.warn(problem);
  const attack = readInstalledAttack(dataDir, onBroken);
  if (attack) useInstalledAttack(attack);
  // These two are used by the threads that read texts; here they are only held against their form.
  readInstalledNames(dataDir, onBroken);
  readInstalledWarningLists(dataDir, onBroken);
}
