import { uuidv7 } from '../../../platform/lib/ids.ts';
import { runLoop } from '../../../platform/lib/loop.ts';
import { claimDueSourceAcrossOrgs } from '../sources.store.ts';
import { pullClaimedSource, type PullDeps } from './pull-source.ts';

// Concurrent pulls of one process, so that a slow source does not delay the others.
const concurrentPulls = 3;
const idleMs = 1_000;

/** Pulls due sources until the signal aborts. Any number of processes may run it on one database. */
export async function pullLoop(deps: PullDeps, signal: AbortSignal): Promise<void> {
  const lanes = Array.from({ length: concurrentPulls }, (_, lane) =>
    runLoop({ name: `pull ${lane}`, idleMs, signal, log: deps.log }, () => pullNextDue(deps, signal)),
  );
  await Promise.all(lanes);
}

/** Pulls the source that has been due longest. Returns false if no source is due. */
export async function pullNextDue(deps: PullDeps, signal?: AbortSignal): Promise<boolean> {
  const source = await claimDueSourceAcrossOrgs(deps.db, deps.clock(), uuidv7());
  if (!source) return false;
  await pullClaimedSource(deps, source, { isScheduled: true, ...(signal ? { signal } : {}) });
  return true;
}
