import type { Deps } from './deps.ts';

/** Returns why the service works only in part, for `/readyz`. */
export async function listDegradedReasons({
  db,
  clockGuard,
  diskGuard,
}: Pick<Deps, 'db' | 'clockGuard' | 'diskGuard'>): Promise<string[]> {
  const reasons = [clockGuard.reason(), await diskGuard.reason(), db.replica?.fault() ?? null];
  return reasons.filter((reason) => reason !== null);
}
