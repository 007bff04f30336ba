import type { Tx } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import { settlePools, universeOf } from '../deduplication/recompute-pools.ts';
import type { Decided } from './decide-items.ts';
import { forgetApart, listCompanions, pointAt, writeDecisions, type Target } from './curation.store.ts';

const poolsOf = (poolId: string): string[] => [poolId, ...universeOf(poolId).wider];

/** The item stands apart from every item of its group; the next one leads them where it was the root. */
export async function splitForAll(tx: Tx, item: Target, decided: Decided): Promise<void> {
  const others = await listCompanions(tx, item, poolsOf(item.pool_id));
  if (others.length === 0) throw appError('conflict', 'The item belongs to no group.');
  await tellApart(tx, item, others, decided);
  await settle(tx, item, decided);
}

/** The item and what belongs to it join the other's group, whose root stays. */
export async function mergeForAll(tx: Tx, item: Target, into: Target, decided: Decided): Promise<void> {
  if (item.status === 'retracted') throw appError('conflict', 'The item is retracted.');
  const root = into.duplicate_of ?? into.id;
  const [own, wider] = [item.pool_id, universeOf(item.pool_id).wider];
  const [mine, theirs] = [await listCompanions(tx, item, [own]), await listCompanions(tx, into, poolsOf(own))];
  const before = item.duplicate_of ?? item.id;
  if (before === root) return;
  // One narrow item cannot join two groups of a wider audience: it leaves the one that it was in.
  const left = wider.length === 0 ? [] : await listCompanions(tx, item, wider);
  if (left.length > 0) await tellApart(tx, item, left, decided);
  await forgetApart(tx, own, [item.id, ...mine], [into.id, ...theirs]);
  await writeDecisions(tx, {
    poolId: own,
    pairs: [[item.id, into.id]],
    verdict: 'together',
    at: decided.at,
    by: decided.caller.keyId,
  });
  if (left.length === 0) await pointAt(tx, before, root, decided.seq);
  await settle(tx, item, decided);
}

const tellApart = (tx: Tx, item: Target, others: string[], { at, caller }: Decided): Promise<void> =>
  writeDecisions(tx, {
    poolId: item.pool_id,
    pairs: others.map((other) => [item.id, other]),
    verdict: 'apart',
    at,
    by: caller.keyId,
  });

async function settle(tx: Tx, item: Target, { at, seq }: Decided): Promise<void> {
  await settlePools(tx, [{ id: item.id, poolId: item.pool_id }], {
    gone: [],
    at,
    seqByPool: new Map([[item.pool_id, seq]]),
  });
}
