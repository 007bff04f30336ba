import { inOrg, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { appError } from '../../../platform/lib/errors.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { checkGroupRevision } from '../check-revision.ts';
import { emitGroupEvent } from '../hit-events.ts';
import { lockBatchHits, lockGroupHits, storeStatuses, type LockedHit } from '../hit-status.store.ts';
import type { HitStatus, HitVerdict } from '../hits.schema.ts';
import type { HitGroupChange } from './groups.schema.ts';
import { toHitGroup } from './read-groups.ts';
import { findGroup, type HitGroupRow } from './read-groups.store.ts';

type GroupStatusDeps = { db: Db; clock: Clock };

/** Sets the status of every hit of a group, and records it in the history of each. Hits that have the status already do not change. Throws 409 if one changed since `expectedRevision`. */
export function setGroupStatus(
  { db, clock }: GroupStatusDeps,
  caller: Caller,
  id: string,
  { status, ...input }: HitVerdict,
): Promise<HitGroupChange> {
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    const before = await getGroup(tx, orgId, id);
    const all = await lockGroupHits(tx, orgId, id);
    await checkGroupRevision(tx, orgId, all, input.expectedRevision);
    const hits = all.filter((hit) => hit.status !== status);
    const changes = hits.map((hit) => ({ hit, to: status }));
    // The reason is only in the history of the hits, where it can be erased.
    const audit = { before: { statuses: before.statuses }, after: { status, changed: hits.length } };
    const change = await storeChanges(tx, caller, { id, changes, reason: input.reason ?? null, audit, now: clock() });
    return { ...toHitGroup(await getGroup(tx, orgId, id)), change };
  });
}

/**
 * Gives hits of a group the status that they had before a change of the group. Hits that changed again since then keep theirs. The undoing is a
 * change that can be undone as well.
 */
export function undoGroupStatus(
  { db, clock }: GroupStatusDeps,
  caller: Caller,
  id: string,
  batchId: string,
): Promise<HitGroupChange> {
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    const before = await getGroup(tx, orgId, id);
    const hits = await lockBatchHits(tx, orgId, { groupId: id, batchId });
    if (!hits) throw appError('not_found', `Change ${batchId} of hit group ${id} not found.`);
    const changes = hits.map(({ former, ...hit }) => ({ hit, to: former }));
    const audit = { before: { statuses: before.statuses }, after: { undone: batchId, changed: hits.length } };
    const change = await storeChanges(tx, caller, { id, changes, reason: null, audit, now: clock() });
    return { ...toHitGroup(await getGroup(tx, orgId, id)), change };
  });
}

async function getGroup(tx: Tx, orgId: OrgId, id: string): Promise<HitGroupRow> {
  const group = await findGroup(tx, orgId, id);
  if (!group) throw appError('not_found', `Hit group ${id} not found.`);
  return group;
}

type GroupChange = {
  id: string;
  changes: readonly { hit: LockedHit; to: HitStatus }[];
  reason: string | null;
  audit: { before: object; after: object };
  now: Date;
};

async function storeChanges(
  tx: Tx,
  caller: Caller,
  { id, changes, reason, audit, now }: GroupChange,
): Promise<HitGroupChange['change']> {
  if (changes.length === 0) return null;
  const { orgId } = caller;
  const batchId = uuidv7(now);
  for (const [to, list] of Map.groupBy(changes, (one) => one.to)) {
    const hits = list.map(({ hit }) => hit);
    await storeStatuses(tx, orgId, hits, { to, reason, author: caller, now, batchId });
  }
  await emitGroupEvent(tx, orgId, id);
  await insertAudit(tx, caller, {
    action: 'hit_group.status_changed',
    resourceType: 'hit_group',
    resourceId: id,
    ...audit,
  });
  return { id: batchId, hits: changes.length };
}
