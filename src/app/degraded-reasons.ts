import type { Deps } from './deps.ts';

/** Returns why the service works only in part, for `/readyz`. */
export async function listDegradedReasons({
  clockGuard,
  diskGuard,
}: Pick<Deps, 'clockGuard' | 'diskGuard'>): Promise<string[]> {
  return [clockGuard.reason(), await diskGuard.reason()].filter((reason) => reason !== null);
}
