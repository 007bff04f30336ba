import { inOrg } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { appError } from '../../platform/lib/errors.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { emitHits } from './hit-events.ts';
import { getHit } from './read-hits.ts';
import type { HitDetail, HitVerdict } from './hits.schema.ts';
import { listChanges, lockHit, storeStatus } from './hit-status.store.ts';

/** Sets what a person says of a hit. The status it has already, without another reason: nothing is written. */
export async function setHitStatus(
  deps: Pick<Deps, 'db' | 'clock'>,
  caller: Caller,
  id: string,
  { status, reason: given }: HitVerdict,
): Promise<HitDetail> {
  const now = deps.clock();
  const reason = given ?? null;
  await inOrg(deps.db, caller.orgId, async (tx) => {
    const hit = await lockHit(tx, caller.orgId, id);
    if (!hit) throw appError('not_found', `Hit ${id} not found.`);
    if (hit.status === status) {
      const [latest] = await listChanges(tx, caller.orgId, id, 1);
      if (reason === null || latest?.reason === reason) return;
    }
    await storeStatus(tx, caller.orgId, hit, { to: status, reason, keyId: caller.keyId, now });
    await emitHits(tx, caller.orgId, [id]);
    await insertAudit(tx, caller, {
      action: 'hit.status_changed',
      resourceType: 'hit',
      resourceId: id,
      before: { status: hit.status },
      // The reason stands in the hit's history, from which it can be erased.
      after: { status },
    });
  });
  return getHit(deps, caller, id);
}
