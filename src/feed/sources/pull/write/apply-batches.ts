import type { Tx } from '../../../../platform/db/db.ts';
import { splitIntoBatches } from '../../../../platform/lib/concurrency/batches.ts';
import { applyActions, listPoolIds, type PreparedAdditions } from '../../../ingestion/apply-actions.ts';
import { isLive, planRecords, toStoredByRecord, type ItemAction } from '../../../ingestion/pull-plan.ts';
import type { SourceRow } from '../../../ingestion/source-row.ts';
import { listStoredRecords, type StoredItem } from '../../../ingestion/stored-items.store.ts';
import { lockPools } from '../../../items/writing/feed-pools.store.ts';
import { keepWithinQuota, type RefusedRecords } from './item-quota.ts';
import { recordWeight, weighRecord } from '../parse/record-chunks.ts';

const actionsMax = 500;
// About the work of a fifth of a second: it bounds how long a pull locks the pools that it writes to.
const weightMax = 1_200_000;

/** Joins and splits lists of actions into batches of bounded work, in the same order. */
export async function* toBatches(
  lists: AsyncIterable<ItemAction[]> | Iterable<ItemAction[]>,
): AsyncGenerator<ItemAction[], void, void> {
  let last: ItemAction[] = [];
  for await (const list of lists) {
    const batches = splitIntoBatches([...last, ...list], actionsMax, { max: weightMax, of: weightOf });
    last = batches.pop() ?? [];
    yield* batches;
  }
  if (last.length > 0) yield last;
}

const weightOf = (action: ItemAction): number =>
  'candidate' in action ? weighRecord(action.candidate.record) : recordWeight;

/**
 * Applies a batch in the caller's transaction. Compares it again with the stored items, because a person or a new reader may have changed some
 * since the pull was planned, and with the quota of private items. Returns the actions that were applied.
 */
export async function applyBatch(
  tx: Tx,
  source: SourceRow,
  batch: ItemAction[],
  commit: { now: Date; referenceDataVersion: number; prepared: PreparedAdditions | undefined },
): Promise<{ applied: ItemAction[]; refused: RefusedRecords }> {
  await lockPools(tx, listPoolIds(batch));
  const recordIds = batch.map((action) =>
    'candidate' in action ? action.candidate.record.recordId : action.stored.record_id,
  );
  const stored = await listStoredRecords(tx, source, recordIds);
  const { kept, refused } = await keepWithinQuota(tx, source, compareAgain(batch, stored));
  await applyActions(tx, source, kept, commit);
  return { applied: kept, refused };
}

function compareAgain(batch: ItemAction[], stored: StoredItem[]): ItemAction[] {
  const candidates = batch.flatMap((action) => ('candidate' in action ? [action.candidate] : []));
  const storedById = new Map(stored.map((item) => [item.id, item]));
  const vanished = batch.flatMap((action) => {
    const item = action.kind === 'vanish' ? storedById.get(action.stored.id) : undefined;
    return item && isLive(item) ? [{ kind: 'vanish' as const, stored: item }] : [];
  });
  return [...planRecords(toStoredByRecord(stored), candidates), ...vanished];
}
