import type { Tx } from '../../../../platform/db/db.ts';
import { byPublishTime } from '../../../ingestion/apply-actions.ts';
import type { ItemCandidate } from '../../../ingestion/item-candidates.ts';
import type { ItemAction, PullFindings } from '../../../ingestion/pull-plan.ts';
import type { SourceRow } from '../../../ingestion/source-row.ts';
import { readItemRoom, type ItemRoom } from '../../../items/writing/item-quota.ts';

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
