import type { Tx } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { Decided } from './decide-items.ts';
import { findOverride, writeOverride } from './overrides.store.ts';
import { settleOverrides } from './recompute-overrides.ts';
import type { Target } from './curation.store.ts';

export type Said =
  | { kind: 'split' }
  | { kind: 'merge'; into: string }
  | { kind: 'retract'; reason: string | undefined }
  | { kind: 'restore' };

/**
 * What an organization says of an item that others see too: it holds for that organization alone. The item stays as it is; the
 * organization's private pool moves.
 */
export async function overrideItem(tx: Tx, { caller, at }: Decided, item: Target, said: Said): Promise<void> {
  const before = await findOverride(tx, caller.orgId, item.id);
  const isRetracted = item.status === 'retracted' || before?.status === 'retracted';
  if (said.kind === 'restore' && before?.status !== 'retracted')
    throw appError('conflict', 'Nobody of the organization retracted the item.');
  if (said.kind === 'retract' && isRetracted) throw appError('conflict', 'The item is retracted already.');
  if (said.kind === 'merge' && isRetracted) throw appError('conflict', 'The item is retracted.');
  await writeOverride(tx, {
    orgId: caller.orgId,
    itemId: item.id,
    status: said.kind === 'retract' ? 'retracted' : said.kind === 'restore' ? null : (before?.status ?? null),
    note:
      said.kind === 'retract'
        ? (said.reason ?? before?.note ?? null)
        : said.kind === 'restore'
          ? null
          : (before?.note ?? null),
    standsApart: said.kind === 'split' || (said.kind !== 'merge' && (before?.stands_apart ?? false)),
    mergedInto: said.kind === 'merge' ? said.into : said.kind === 'split' ? null : (before?.merged_into ?? null),
    at,
    by: caller.keyId,
  });
  const changed = await settleOverrides(tx, caller.orgId, at);
  if (said.kind === 'split' && !changed) throw appError('conflict', 'The item belongs to no group.');
}
