import type { Tx } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import { findGroupOverride, type GroupOverrideRow } from '../deduplication/override-groups.store.ts';
import { recomputeOverrides } from '../deduplication/recompute-overrides.ts';
import { upsertGroupOverride, type GroupFields } from '../items/writing/overrides.store.ts';
import type { CuratedItem, DecisionContext } from './curation.store.ts';

export type ItemDecision =
  | { kind: 'split' }
  | { kind: 'merge'; into: string }
  | { kind: 'retract'; reason: string | undefined }
  | { kind: 'restore' };

/** Applies a decision for the caller's organization alone. The item does not change. */
export async function overrideGroup(
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
