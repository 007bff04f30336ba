import type { Logger } from '../../platform/lib/logger.ts';
import { useAttack } from './attack.ts';
import { heldAttack, heldLists, heldNames } from './installed.ts';

/** Lays what `tocsin knowledge update` took over what is shipped, and says in the log which of its files are broken. */
export function useHeldKnowledge(dataDir: string, log: Pick<Logger, 'warn'>): void {
  const onBroken = (problem: string): void => log.warn(problem);
  const attack = heldAttack(dataDir, onBroken);
  if (attack) useAttack(attack);
  // These two are used by the threads that read texts; here they are only held against their form.
  heldNames(dataDir, onBroken);
  heldLists(dataDir, onBroken);
}
