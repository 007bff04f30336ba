import type { Tx } from '../../../../platform/db/db.ts';
import { applyActions, listPoolIds, type PreparedAdditions } from '../../../ingestion/apply-actions.ts';
import { isLive, planRecords, toStoredByRecord, type ItemAction } from '../../../ingestion/pull-plan.ts';
import type { SourceRow } from '../../../ingestion/source-row.ts';
import { listStoredRecords, type StoredItem } from '../../../ingestion/stored-items.store.ts';
import { lockPools } from '../../../items/writing/feed-pools.store.ts';
import { renewClaim } from '../../sources.store.ts';
import { keepWithinQuota, readRoomFor, type RefusedRecords } from './item-quota.ts';
import { recordWeight, weighRecord } from '../parse/record-chunks.ts';

// About the work of a fifth of a second: it bounds how long a pull locks the pools that it writes to.
const largestBatch = { actions: 500, weight: 2_000_000 };

// The database has something to write while the next batch is read and built, which takes about as long as writing it.
const firstBatch = { actions: 100, weight: 250_000 };

/**
 * Joins and splits lists of actions into batches of bounded work, in the same order. Each batch has up to twice as many actions as the one
 * before.
 */
export async function* toBatches(
  lists: AsyncIterable<ItemAction[]> | Iterable<ItemAction[]>,
): AsyncGenerator<ItemAction[], void, void> {
  let wanted = firstBatch;
  let batch: ItemAction[] = [];
  let weight = 0;
  const end = (): ItemAction[] => {
    const ended = batch;
    [batch, weight] = [[], 0];
    wanted = {
      actions: Math.min(2 * wanted.actions, largestBatch.actions),
      weight: Math.min(2 * wanted.weight, largestBatch.weight),
    };
    return ended;
  };
  for await (const list of lists)
    for (const action of list) {
      const ownWeight = weightOf(action);
      if (batch.length > 0 && weight + ownWeight > largestBatch.weight) yield end();
      batch.push(action);
      weight += ownWeight;
      if (batch.length >= wanted.actions || weight >= wanted.weight) yield end();
    }
  if (batch.length > 0) yield batch;
}

const weightOf = (action: ItemAction): number =>
  'candidate' in action ? weighRecord(action.candidate.record) : recordWeight;

/** `onWriting` is called when the writes have been sent to the database, which needs no more of this thread for a while. */
type BatchCommit = {
  now: Date;
  referenceDataVersion: number;
  prepared: PreparedAdditions | undefined;
  onWriting: () => void;
};

/** The result of a batch: the actions that were applied, and the records that the quota refused. */
type AppliedBatch = { applied: ItemAction[]; refused: RefusedRecords };

/**
 * Applies a batch in the caller's transaction. Compares it again with the stored items, because a person or a new reader may have changed some
 * since the pull was planned, and with the quota of private items. Writes nothing if the source's lease was `lost` or its settings `changed`.
 */
export async function applyBatch(
  tx: Tx,
  source: SourceRow,
  batch: ItemAction[],
  commit: BatchCommit,
): Promise<AppliedBatch | 'lost' | 'changed'> {
  const recordIds = batch.map((action) =>
    'candidate' in action ? action.candidate.record.recordId : action.stored.record_id,
  );
  // Sent together, so that the database does not wait for this thread between them.
  const [claimed, pools, stored, quota] = await Promise.all([
    renewClaim(tx, source, source.worker!),
    lockPools(tx, listPoolIds(batch)),
    listStoredRecords(tx, source, recordIds),
    readRoomFor(tx, source, batch),
  ]);
  if (!claimed) return 'lost';
  if (claimed.updated_at.getTime() !== source.updated_at.getTime()) return 'changed';
  const { kept, refused } = keepWithinQuota(claimed, compareAgain(batch, stored), quota);
  await applyActions(tx, claimed, kept, { ...commit, pools });
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
