import type { Deps } from '../../../app/deps.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { loop } from '../../../platform/lib/loop.ts';
import { pullClaimed } from './pull-source.ts';
import { claimDueSourceAcrossOrgs } from '../sources.store.ts';

/** So many sources are pulled at the same time by one process: one that is slow holds up no other. */
const pullsAtOnce = 3;
const idleMs = 1_000;

/** Pulls due sources until the signal ends it. Any number of processes may run it on one database. */
export async function ingestLoop(deps: Deps, signal: AbortSignal): Promise<void> {
  const lanes = Array.from({ length: pullsAtOnce }, (_, lane) =>
    loop({ name: `ingest ${lane}`, idleMs, signal, log: deps.log }, () => pullNextDue(deps, signal)),
  );
  await Promise.all(lanes);
}

/** Pulls the source that has been due longest; answers false when none is due. */
export async function pullNextDue(deps: Deps, signal?: AbortSignal): Promise<boolean> {
  const source = await claimDueSourceAcrossOrgs(deps.db, deps.clock(), uuidv7());
  if (!source) return false;
  await pullClaimed(deps, source, { scheduled: true, ...(signal ? { signal } : {}) });
  return true;
}
