import type { Tx } from '../../../platform/db/db.ts';
import { listPoolIds, byPublishTime } from '../../ingestion/apply-actions.ts';
import {
  isLive,
  planRecords,
  toStoredByRecord,
  type ItemAction,
  type PullFindings,
} from '../../ingestion/pull-plan.ts';
import type { SourceRow } from '../../ingestion/source-row.ts';
import { listStoredRecords, type StoredItem } from '../../ingestion/stored-items.store.ts';
import { lockPools, type LockedPool, readItemRoom, type ItemRoom } from '../../items/writing/feed-pools.store.ts';
import { renewClaim } from '../sources.store.ts';
import { recordWeight, weighRecord } from '../documents/record-chunks.ts';
import type { ItemCandidate } from '../../ingestion/item-candidates.ts';

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

/** A batch whose pools are locked: the actions to apply, and the records that the quota refused. */
type LockedBatch = { pools: LockedPool[]; actions: ItemAction[]; refused: RefusedRecords };

/**
 * Locks the pools of a batch in the caller's transaction. Compares it again with the stored items, because a person or a new reader may have
 * changed some since the pull was planned, and with the quota of private items. `lost`: the source's lease was lost. `changed`: its settings.
 */
export async function lockBatch(
  tx: Tx,
  source: SourceRow,
  batch: ItemAction[],
): Promise<LockedBatch | 'lost' | 'changed'> {
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
  const { kept: actions, refused } = keepWithinQuota(claimed, compareAgain(batch, stored), quota);
  return { pools, actions, refused };
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

/** New records that a pull did not store because of the organization's quota of private items. */
export type RefusedRecords = { count: number; limit: number };

/** Returns the quota that applies to a batch of actions. Exact if the transaction has locked the private pool. */
export const readRoomFor = async (tx: Tx, source: SourceRow, batch: ItemAction[]): Promise<ItemRoom | undefined> =>
  batch.some((action) => 'candidate' in action && isPrivate(source, action))
    ? readItemRoom(tx, source.organization_id)
    : undefined;

/**
 * Leaves out the additions that exceed the quota of private items, those that were published first. Changes of stored items and items of shared
 * pools always stay.
 */
export function keepWithinQuota(
  source: SourceRow,
  actions: ItemAction[],
  quota: ItemRoom | undefined,
): { kept: ItemAction[]; refused: RefusedRecords } {
  const additions = actions.filter((action) => isCounted(source, action));
  if (!quota || additions.length <= quota.room) return { kept: actions, refused: { count: 0, limit: 0 } };
  const excess = additions.toSorted(byPublishTime).slice(0, additions.length - quota.room);
  const left = new Set(excess);
  return {
    kept: actions.filter((action) => !left.has(action)),
    refused: { count: excess.length, limit: quota.limit },
  };
}

/** Returns whether an action adds an item to the private pool. A withdrawn record becomes a tombstone, which does not count. */
const isCounted = (source: SourceRow, action: ItemAction): boolean =>
  action.kind === 'add' && !action.candidate.record.withdrawn && isPrivate(source, action);

type ActionOfRecord = Extract<ItemAction, { candidate: ItemCandidate }>;

const isPrivate = ({ visibility, pool_id }: SourceRow, { candidate }: ActionOfRecord): boolean =>
  visibility === 'private' || candidate.poolId !== pool_id;

/** Returns whether a pull with this many additions at most may exceed the quota. */
export async function mayExceedQuota(tx: Tx, source: SourceRow, additionsMax: number): Promise<boolean> {
  const quota = additionsMax === 0 ? undefined : await readItemRoom(tx, source.organization_id);
  return quota !== undefined && additionsMax > quota.room;
}

/** Returns the findings without the refused records, and with the reason. */
export function withoutRefused(
  findings: PullFindings,
  { name }: SourceRow,
  { count, limit }: RefusedRecords,
): PullFindings {
  if (count === 0) return findings;
  const records = count === 1 ? '1 new record was' : `${count} new records were`;
  const reason = `the quota of ${limit} feed items is reached: ${records} not stored`;
  return { ...findings, records: findings.records - count, skipped: [{ entry: name, reason }, ...findings.skipped] };
}
