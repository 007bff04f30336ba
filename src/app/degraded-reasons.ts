import { listLateQueuesAcrossOrgs, type LateQueue } from '../detection/scheduling/run-queue.store.ts';
import { findLateMatchingAcrossOrgs } from '../detection/continuous/match-positions.store.ts';
import type { Deps } from './deps.ts';

/** Returns why the service works only in part, for `/readyz`. */
export async function listDegradedReasons({
  db,
  clockGuard,
  diskGuard,
}: Pick<Deps, 'db' | 'clockGuard' | 'diskGuard'>): Promise<string[]> {
  const late = (await listLateQueuesAcrossOrgs(db)).map(describeLateQueue);
  const unmatched = describeUnmatched(await findLateMatchingAcrossOrgs(db));
  const reasons = [clockGuard.reason(), await diskGuard.reason(), db.replica?.fault() ?? null, unmatched, ...late];
  return reasons.filter((reason) => reason !== null);
}

const describeUnmatched = (since: Date | null): string | null =>
  since === null
    ? null
    : `Events have waited to be matched with continuous detections or indicators since ${since.toISOString()}. Start workers with the role match.`;

function describeLateQueue({ phase, modelAlias, since }: LateQueue): string {
  return phase === 'examine'
    ? `Runs have waited to be examined since ${since.toISOString()}. Start workers with the role runs, or raise TOCSIN_RUNS_AT_ONCE.`
    : `Runs have waited to be judged by the model alias "${modelAlias}" since ${since.toISOString()}. Start a worker with the role judge, or raise runsAtOnce of the alias.`;
}
