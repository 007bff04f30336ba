import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError } from '../../platform/lib/errors.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { checkHitRevision } from './check-revision.ts';
import { emitHitEvents } from './hit-events.ts';
import { getHit } from './read-hits.ts';
import type { HitDetail, HitVerdict } from './hits.schema.ts';
import { listStatusChanges, lockHit, storeStatus } from './hit-status.store.ts';

export type SetHitStatusDeps = { db: Db; clock: Clock };

/**
 * Sets the status of a hit as an analyst judged it. Does nothing if neither the status nor the reason changes. Throws 409 if the hit changed since
 * `expectedRevision`.
 */
export async function setHitStatus(
  deps: SetHitStatusDeps,
  caller: Caller,
  id: string,
  { status, ...input }: HitVerdict,
): Promise<HitDetail> {
  const now = deps.clock();
  const reason = input.reason ?? null;
  await inOrg(deps.db, caller.orgId, async (tx) => {
    const hit = await lockHit(tx, caller.orgId, id);
    if (!hit) throw appError('not_found', `Hit ${id} not found.`);
    if (hit.status === status) {
      const [latest] = await listStatusChanges(tx, caller.orgId, id, 1);
      if (reason === null || latest?.reason === reason) return;
    }
    await checkHitRevision(tx, caller.orgId, hit, input.expectedRevision);
    await storeStatus(tx, caller.orgId, hit, { to: status, reason, author: caller, now });
    await emitHitEvents(tx, caller.orgId, [id]);
    await insertAudit(tx, caller, {
      action: 'hit.status_changed',
      resourceType: 'hit',
      resourceId: id,
      before: { status: hit.status },
      // The reason is only in the history of the hit, where it can be erased.
      after: { status },
    });
  });
  return getHit(deps, caller, id);
}
