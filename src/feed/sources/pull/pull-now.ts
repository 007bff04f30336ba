import { appError } from '../../../platform/lib/errors.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import type { PullResult } from '../../ingestion/pull-plan.ts';
import { changeSource } from '../source-access.ts';
import { claimSource } from '../sources.store.ts';
import { pullClaimedSource, type PullDeps } from './pull-source.ts';

/** Pulls a source immediately, even a disabled one, and waits for the result. Throws a 409 if another pull of the source is in progress. */
export async function pullSourceNow(deps: PullDeps, caller: Caller, id: string): Promise<PullResult> {
  const worker = uuidv7();
  const claimed = await changeSource(deps, caller, id, (tx, source) => claimSource(tx, source, worker));
  const result = claimed && (await pullClaimedSource(deps, claimed, { isScheduled: false }));
  if (!result)
    throw appError('in_progress', 'Another pull of this source is in progress. Try again when it has finished.');
  return result;
}
