import { acrossOrgs, inOrg, type Tx } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { getItem } from '../items/get-item.ts';
import type { FeedItemDetail } from '../model/item.schema.ts';
import { forgetViews } from '../items/snapshot/snapshot.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { universeOf } from '../deduplication/recompute-pools.ts';
import { advancePools, lockPools, privatePool } from '../items/writing/feed-pools.store.ts';
import { mergeForAll, splitForAll } from './group-for-all.ts';
import { overrideItem } from './override-item.ts';
import { restoreForAll, retractForAll } from './retract-for-all.ts';
import { findTarget, holdSource, lockTarget, type Target } from './curation.store.ts';

/** What stands beside a decision: when it is written, and under which sequence number of the pool. */
export type Decided = { caller: Caller; poolId: string; at: Date; seq: number };

/** Takes the item out of its group. 409 where it belongs to none. */
export async function splitItem(deps: Deps, caller: Caller, id: string): Promise<FeedItemDetail> {
  return decide(deps, caller, id, {
    action: 'item.split',
    own: (tx, item, decided) => splitForAll(tx, item, decided),
    override: (tx, item, decided) => overrideItem(tx, decided, item, { kind: 'split' }),
  });
}

/** Puts the item, with what belongs to it, into the group of another. 400 for `into` where not everyone who sees the item sees that one. */
export async function mergeItem(deps: Deps, caller: Caller, id: string, into: string): Promise<FeedItemDetail> {
  if (id === into) throw fieldError('/into', 'same_item', 'into must be another item.');
  await getSeen(deps, caller, id);
  const target = await inOrg(deps.db, caller.orgId, (tx) => findTarget(tx, into));
  if (!target) throw fieldError('/into', 'not_found', `into: there is no item ${into}.`);
  if (target.status === 'retracted') throw fieldError('/into', 'retracted', 'into must not be retracted.');
  return decide(deps, caller, id, {
    action: 'item.merged',
    own: (tx, item, decided) => {
      const { poolId, wider } = universeOf(item.pool_id);
      if (![poolId, ...wider].includes(target.pool_id))
        throw fieldError('/into', 'not_visible', 'into must be seen by everyone who sees the item.');
      return mergeForAll(tx, item, target, decided);
    },
    override: (tx, item, decided) => overrideItem(tx, decided, item, { kind: 'merge', into }),
  });
}

/** Retracts the item. 409 where it is already. */
export async function retractItem(
  deps: Deps,
  caller: Caller,
  id: string,
  reason: string | undefined,
): Promise<FeedItemDetail> {
  return decide(deps, caller, id, {
    action: 'item.retracted',
    own: (tx, item, decided) => retractForAll(tx, item, decided, reason),
    override: (tx, item, decided) => overrideItem(tx, decided, item, { kind: 'retract', reason }),
  });
}

/** Takes back what `retractItem` did. 409 where no person retracted the item. */
export async function restoreItem(deps: Deps, caller: Caller, id: string): Promise<FeedItemDetail> {
  return decide(deps, caller, id, {
    action: 'item.restored',
    own: restoreForAll,
    override: (tx, item, decided) => overrideItem(tx, decided, item, { kind: 'restore' }),
  });
}

type Decision = {
  action: string;
  /** On the item itself, for everyone who sees it. */
  own: (tx: Tx, item: Target, decided: Decided) => Promise<void>;
  /** For the caller's organization alone. */
  override: (tx: Tx, item: Target, decided: Decided) => Promise<void>;
};

/** The item's owner and `feed:admin` act on the item itself, everyone else for the own organization; it is told by the pool that moves. */
async function decide(deps: Deps, caller: Caller, id: string, decision: Decision): Promise<FeedItemDetail> {
  const { db, clock } = deps;
  const seen = await getSeen(deps, caller, id);
  const forAll = seen.organization_id === caller.orgId || caller.scopes.has('feed:admin');
  const work = async (tx: Tx): Promise<void> => {
    const poolId = forAll ? seen.pool_id : await privatePool(tx, caller.orgId, uuidv7());
    if (forAll && seen.source_id !== null) await holdSource(tx, seen.source_id);
    const [pool] = await lockPools(tx, [poolId]);
    const at = new Date(Math.max(clock().getTime(), pool!.last_added_at.getTime() + 1));
    const decided = { caller, poolId, at, seq: pool!.seq + 1 };
    const item = await lockTarget(tx, id);
    await (forAll ? decision.own : decision.override)(tx, item, decided);
    await advancePools(tx, [poolId], at);
    await insertAudit(tx, caller, {
      action: decision.action,
      resourceType: 'item',
      resourceId: id,
      before: { status: item.status, duplicateOf: item.duplicate_of },
      after: { forAll, title: item.title },
    });
  };
  await (forAll && seen.pool_kind !== 'private' ? acrossOrgs(db, work) : inOrg(db, caller.orgId, work));
  forgetViews(db);
  return getItem(deps, caller, id);
}

async function getSeen({ db }: Deps, caller: Caller, id: string): Promise<Target> {
  const seen = await inOrg(db, caller.orgId, (tx) => findTarget(tx, id));
  if (!seen) throw appError('not_found', `Item ${id} not found`);
  return seen;
}
