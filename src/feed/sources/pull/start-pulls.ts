import { appError } from '../../../platform/lib/errors.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { runLoop } from '../../../platform/lib/loop.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import type { PullResult } from '../../ingestion/pull-plan.ts';
import { changeSource } from '../source-access.ts';
import { claimDueSourceAcrossOrgs, claimSource } from '../sources.store.ts';
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

/** Pulls a source immediately, even a disabled one, and waits for the result. Throws a 409 if another pull of the source is in progress. */
export async function pullSourceNow(deps: PullDeps, caller: Caller, id: string): Promise<PullResult> {
  const worker = uuidv7();
  const claimed = await changeSource(deps, caller, id, (tx, source) => claimSource(tx, source, worker));
  const result = claimed && (await pullClaimedSource(deps, claimed, { isScheduled: false }));
  if (!result)
    throw appError('in_progress', 'Another pull of this source is in progress. Try again when it has finished.');
  return result;
}
