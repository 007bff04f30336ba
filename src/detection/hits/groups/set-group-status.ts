import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/clock.ts';
import { appError } from '../../../platform/lib/errors.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import { emitGroupEvent } from '../hit-events.ts';
import { lockGroupHits, storeStatuses } from '../hit-status.store.ts';
import type { HitVerdict } from '../hits.schema.ts';
import type { HitGroup } from './groups.schema.ts';
import { getHitGroup } from './read-groups.ts';
import { findGroup } from './read-groups.store.ts';

/** Sets the status of every hit of a group, and records it in the history of each. Hits that have the status already do not change. */
export async function setGroupStatus(
  deps: { db: Db; clock: Clock },
  caller: Caller,
  id: string,
  { status, ...input }: HitVerdict,
): Promise<HitGroup> {
  const now = deps.clock();
  const { orgId } = caller;
  await inOrg(deps.db, orgId, async (tx) => {
    const group = await findGroup(tx, orgId, id);
    if (!group) throw appError('not_found', `Hit group ${id} not found.`);
    const hits = (await lockGroupHits(tx, orgId, id)).filter((hit) => hit.status !== status);
    if (hits.length === 0) return;
    await storeStatuses(tx, orgId, hits, { to: status, reason: input.reason ?? null, author: caller, now });
    await emitGroupEvent(tx, orgId, id);
    await insertAudit(tx, caller, {
      action: 'hit_group.status_changed',
      resourceType: 'hit_group',
      resourceId: id,
      before: { statuses: group.statuses },
      // The reason is only in the history of the hits, where it can be erased.
      after: { status, changed: hits.length },
    });
  });
  return getHitGroup(deps, caller, id);
}
