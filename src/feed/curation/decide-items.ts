import { acrossOrgs, inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { scopeOfPool, recomputeOverrides } from '../deduplication/recompute-pools.ts';
import { getItem } from '../items/get-item.ts';
import { versionOfOverrideFields } from '../items/override-documents.ts';
import type { SnapshotCache } from '../items/snapshot/snapshot.ts';
import { advancePools, ensurePrivatePool, lockPool, nextCommitTime } from '../items/writing/feed-pools.store.ts';
import { readOverrideFields, upsertGroupOverride, type GroupFields } from '../items/writing/overrides.store.ts';
import type { FeedItemDetail } from '../model/item.schema.ts';
import { lockSourceById } from '../sources/sources.store.ts';
import { findVisibleItem, readCuratedItem, type CuratedItem, type DecisionContext } from './curation.store.ts';
import { mergeForEveryone, splitForEveryone, restoreForEveryone, retractForEveryone } from './decide-for-everyone.ts';
import { findGroupOverride, type GroupOverrideRow } from '../deduplication/deduplication.store.ts';

export type DecideItemDeps = { db: Db; clock: Clock; snapshots: SnapshotCache };

/** Takes the item out of its group. Throws a 409 if it belongs to none. */
export const splitItem = (deps: DecideItemDeps, caller: Caller, id: string): Promise<FeedItemDetail> =>
  decideItem(deps, caller, id, {
    action: 'item.split',
    decision: { kind: 'split' },
    applyForEveryone: splitForEveryone,
  });

/** Moves the item with its group into the group of another item. Throws a 400 if not everyone who sees the item sees `into`. */
export async function mergeItem(
  deps: DecideItemDeps,
  caller: Caller,
  id: string,
  into: string,
): Promise<FeedItemDetail> {
  if (id === into) throw fieldError('/into', 'same_item', '`into` must be another item.');
  const target = await inOrg(deps.db, caller.orgId, async (tx) => {
    await getVisibleItem(tx, id);
    return findVisibleItem(tx, into);
  });
  if (!target) throw fieldError('/into', 'not_found', `\`into\`: item ${into} does not exist.`);
  if (target.status === 'retracted') throw fieldError('/into', 'retracted', '`into` must not be a retracted item.');
  return decideItem(deps, caller, id, {
    action: 'item.merged',
    decision: { kind: 'merge', into },
    applyForEveryone: (tx, item, context) => {
      const { poolId, widerPoolIds } = scopeOfPool(item.pool_id);
      if (![poolId, ...widerPoolIds].includes(target.pool_id))
        throw fieldError('/into', 'not_visible', '`into` must be visible to everyone who sees the item.');
      return mergeForEveryone(tx, item, target, context);
    },
  });
}

/** Retracts the item. Throws a 409 if it is already retracted. */
export const retractItem = (
  deps: DecideItemDeps,
  caller: Caller,
  id: string,
  reason: string | undefined,
): Promise<FeedItemDetail> =>
  decideItem(deps, caller, id, {
    action: 'item.retracted',
    decision: { kind: 'retract', reason },
    applyForEveryone: (tx, item, context) => retractForEveryone(tx, item, context, reason),
  });

/** Takes a retraction back. Throws a 409 if no person retracted the item. */
export const restoreItem = (deps: DecideItemDeps, caller: Caller, id: string): Promise<FeedItemDetail> =>
  decideItem(deps, caller, id, {
    action: 'item.restored',
    decision: { kind: 'restore' },
    applyForEveryone: restoreForEveryone,
  });

type Decision = {
  /** The action of the audit entry. */
  action: string;
  decision: ItemDecision;
  /** Applies the decision to the item itself. */
  applyForEveryone: (tx: Tx, item: CuratedItem, context: DecisionContext) => Promise<void>;
};

/**
 * Applies a decision to the item itself if the caller's organization owns it or the caller has `feed:admin`. Otherwise applies it for the
 * caller's organization alone, and advances its private pool.
 */
async function decideItem(
  deps: DecideItemDeps,
  caller: Caller,
  id: string,
  { action, decision, applyForEveryone }: Decision,
): Promise<FeedItemDetail> {
  const { db, clock } = deps;
  const visible = await inOrg(db, caller.orgId, (tx) => getVisibleItem(tx, id));
  const isForEveryone = visible.organization_id === caller.orgId || caller.scopes.has('feed:admin');
  const decide = async (tx: Tx): Promise<void> => {
    const poolId = isForEveryone ? visible.pool_id : await ensurePrivatePool(tx, caller.orgId, uuidv7());
    // Locks the source before the pool, in the same order as a pull.
    if (isForEveryone && visible.source_id !== null) await lockSourceById(tx, visible.source_id);
    const pool = await lockPool(tx, poolId);
    const at = nextCommitTime([pool], clock());
    const context = { caller, poolId, at, seq: pool.seq + 1 };
    const item = await readCuratedItem(tx, id);
    // A decision for one organization is part of its override.
    const readVersion = async () =>
      isForEveryone ? {} : versionOfOverrideFields(await readOverrideFields(tx, caller.orgId, id));
    const seen = await readVersion();
    if (isForEveryone) await applyForEveryone(tx, item, context);
    else await overrideGroup(tx, context, item, decision);
    await advancePools(tx, [poolId], at);
    await insertAudit(tx, caller, {
      action,
      resourceType: 'item',
      resourceId: id,
      before: { status: item.status, duplicateOf: item.duplicate_of, ...seen },
      after: { forAll: isForEveryone, title: item.title, ...(await readVersion()) },
    });
  };
  await (isForEveryone && visible.pool_kind !== 'private' ? acrossOrgs(db, decide) : inOrg(db, caller.orgId, decide));
  deps.snapshots.invalidate();
  return getItem(deps, caller, id);
}

/** Throws `not_found` if the item does not exist or the transaction's organization does not see it. */
export async function getVisibleItem(tx: Tx, id: string): Promise<CuratedItem> {
  const item = await findVisibleItem(tx, id);
  if (!item) throw appError('not_found', `Item ${id} not found`);
  return item;
}

type ItemDecision =
  | { kind: 'split' }
  | { kind: 'merge'; into: string }
  | { kind: 'retract'; reason: string | undefined }
  | { kind: 'restore' };

/** Applies a decision for the caller's organization alone. The item does not change. */
async function overrideGroup(
  tx: Tx,
  { caller, at }: DecisionContext,
  item: CuratedItem,
  decision: ItemDecision,
): Promise<void> {
  const before = await findGroupOverride(tx, caller.orgId, item.id);
  const isRetracted = item.status === 'retracted' || before?.status === 'retracted';
  if (decision.kind === 'restore' && before?.status !== 'retracted')
    throw appError('conflict', 'The organization has not retracted the item.');
  if (decision.kind === 'retract' && isRetracted) throw appError('conflict', 'The item is already retracted.');
  if (decision.kind === 'merge' && isRetracted) throw appError('conflict', 'The item is retracted.');
  await upsertGroupOverride(tx, { itemId: item.id, ...applyDecision(before, decision), at, author: caller });
  const hasChanged = await recomputeOverrides(tx, caller.orgId, at);
  if (decision.kind === 'split' && !hasChanged) throw appError('conflict', 'The item belongs to no group.');
}

function applyDecision(before: GroupOverrideRow | undefined, decision: ItemDecision): GroupFields {
  const current: GroupFields = {
    status: before?.status ?? null,
    note: before?.note ?? null,
    standsApart: before?.stands_apart ?? false,
    mergedInto: before?.merged_into ?? null,
  };
  switch (decision.kind) {
    case 'split':
      return { ...current, standsApart: true, mergedInto: null };
    case 'merge':
      return { ...current, standsApart: false, mergedInto: decision.into };
    case 'retract':
      return { ...current, status: 'retracted', note: decision.reason ?? current.note };
    case 'restore':
      return { ...current, status: null, note: null };
  }
}
