import type { Tx } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { flatMapInSlices } from '../../platform/lib/concurrency/slices.ts';
import { recomputePools } from '../deduplication/recompute-pools.ts';
import {
  toCountedItem,
  moveCounts,
  advancePools,
  lockPools,
  nextCommitTime,
  type LockedPool,
} from '../items/writing/feed-pools.store.ts';
import { emitItemEvents } from '../items/writing/item-events.ts';
import { eraseVersionContent } from '../items/writing/update-items.store.ts';
import {
  encodeAdditions,
  eraseStateContent,
  writeItems,
  type EncodedAdditions,
} from '../items/writing/write-items.store.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { comparePublishTimes } from '../model/source-record.ts';
import { buildItemWrites, type CurrentVersions, type PlannedWrite, type WithNewId } from './build-item-writes.ts';
import { isProseSource } from './item-document.ts';
import type { ItemAction } from './pull-plan.ts';
import { toReaderVersion } from './content-hash.ts';
import type { ItemOrigin } from './source-row.ts';
import { listCurrentVersions } from './stored-items.store.ts';

/** The time of a commit, and the version of the reference data that the items were extracted with. */
type CommitTime = { now: Date; referenceDataVersion: number };

// The transaction that writes the previous batch waits for the event loop after each statement. Longer slices would leave the database idle.
const sliceMs = 1;

/** The writes of new items, built and encoded for a commit at `at`. */
export type PreparedAdditions = { at: Date; planned: PlannedWrite[]; encoded: EncodedAdditions[] };

/**
 * Builds the writes of a batch of new items, so that the work is done while an earlier transaction writes. Returns undefined if a write of the
 * batch depends on what is stored.
 */
export async function prepareAdditions(
  source: ItemOrigin,
  actions: ItemAction[],
  { now, referenceDataVersion }: CommitTime,
): Promise<PreparedAdditions | undefined> {
  if (!actions.every(isFirstAddition)) return undefined;
  const build = createBuilder(source, { at: now, current: new Map(), referenceDataVersion });
  const planned = await flatMapInSlices(sortByPublishTime(actions, now), build, sliceMs);
  const writes = planned.map(({ write }) => write);
  return { at: now, planned, encoded: await encodeAdditions(writes, sliceMs) };
}

/** Steps that the caller of `planCommit` may have taken: it has locked pools, and prepared the writes. */
type Beforehand = { pools?: LockedPool[]; prepared?: PreparedAdditions | undefined };

/** Writes for pools that are locked. `seqByPool` has the new sequence number of each, and `movedIds` the items that leave their pool. */
type PlannedCommit = PreparedAdditions & { seqByPool: Map<string, number>; movedIds: string[]; isNews: boolean };

/**
 * Builds the writes of actions, for `writeCommit` in the same transaction. Locking the pools makes `addedToFeedAt` strictly increase in commit
 * order. Uses prepared writes unless another transaction was faster.
 */
export async function planCommit(
  tx: Tx,
  source: ItemOrigin,
  actions: ItemAction[],
  { now, referenceDataVersion, prepared, pools: lockedBefore = [] }: CommitTime & Beforehand,
): Promise<PlannedCommit> {
  const poolIds = listPoolIds(actions);
  const locked = lockedBefore.filter(({ id }) => poolIds.includes(id));
  const pools = locked.length === poolIds.length ? locked : await lockPools(tx, poolIds);
  const seqByPool = new Map(pools.map(({ id, seq }) => [id, seq + 1]));
  const movedIds = actions.flatMap((action) => (isMove(action) ? [action.stored.id] : []));
  // The items of the first pull of a source are not news.
  const rest = { seqByPool, movedIds, isNews: source.last_success_at !== null };
  if (prepared && isStillValid(prepared, actions, pools)) return { ...prepared, ...rest };
  const at = nextCommitTime(pools, now);
  const current = await readCurrentVersions(tx, source, actions);
  const build = createBuilder(source, { at, current, referenceDataVersion });
  return { at, planned: sortByPublishTime(actions, at).flatMap(build), encoded: [], ...rest };
}

/** Writes a commit in the caller's transaction: items, versions, totals and the sequence numbers of the pools change together. */
export async function writeCommit(
  tx: Tx,
  { at, planned, encoded, seqByPool, movedIds, isNews }: PlannedCommit,
): Promise<void> {
  await eraseVersionContent(tx, movedIds);
  const writes = planned.map(({ write }) => ({ ...write, seq: seqByPool.get(write.poolId)! }));
  const moves = planned.map(({ write, stored }) => {
    const before = stored && toCountedItem(stored);
    return { ...(before && { before }), after: { ...write, isRoot: before?.isRoot ?? true } };
  });
  const [removedTerms] = await Promise.all([writeItems(tx, writes, encoded), moveCounts(tx, moves)]);
  await eraseStateContent(tx, movedIds);
  const documents = await recomputePools(tx, writes, { removedTerms, at, seqByPool });
  await advancePools(tx, [...seqByPool.keys()], at);
  if (!isNews) return;
  const written = planned.map(({ write, stored }) => ({
    write: { ...write, doc: documents.get(write.id) ?? write.doc },
    statusBefore: stored?.status,
  }));
  await emitItemEvents(tx, written);
}

const isFirstAddition = (action: ItemAction): boolean => action.kind === 'add' && action.follows === undefined;

/** Returns whether the actions are still the additions that were prepared, and no later commit has changed the pools. */
const isStillValid = ({ at, planned }: PreparedAdditions, actions: ItemAction[], pools: LockedPool[]): boolean =>
  actions.length === planned.length && actions.every(isFirstAddition) && pools.every((pool) => pool.last_added_at < at);

type BuilderOptions = { at: Date; current: CurrentVersions; referenceDataVersion: number };

function createBuilder(
  source: ItemOrigin,
  { at, current, referenceDataVersion }: BuilderOptions,
): (action: ItemAction & WithNewId) => PlannedWrite[] {
  const isProse = isProseSource(source.kind);
  const readerVersion = toReaderVersion(isProse, referenceDataVersion);
  const context = { source, at, current, isProse, readerVersion };
  return (action) => buildItemWrites(context, action);
}

/** Returns whether fewer organizations see the item from now on. */
const isMove = (action: ItemAction): action is Extract<ItemAction, { kind: 'move' | 'raise-tlp' }> =>
  action.kind === 'move' || (action.kind === 'raise-tlp' && action.poolId !== action.stored.pool_id);

/** Returns the pools that actions write to. */
export const listPoolIds = (actions: ItemAction[]): string[] => [...new Set(actions.flatMap(poolIdsOf))];

function poolIdsOf(action: ItemAction): string[] {
  switch (action.kind) {
    case 'add':
      return [action.candidate.poolId];
    case 'vanish':
      return [action.stored.pool_id];
    case 'raise-tlp':
      return [action.stored.pool_id, action.poolId];
    case 'correct':
    case 'withdraw':
    case 'move':
      return [action.stored.pool_id, action.candidate.poolId];
  }
}

async function readCurrentVersions(tx: Tx, source: ItemOrigin, actions: ItemAction[]): Promise<CurrentVersions> {
  const ids = actions.flatMap((action) => ('stored' in action ? [action.stored.id] : []));
  const versions = ids.length === 0 ? [] : await listCurrentVersions(tx, source, ids);
  return new Map(
    versions.map(({ id, doc, stored_text, severity_rule, aliases, objects }) => {
      const { duplicateOf: _root, ...item } = JSON.parse(doc) as FeedItem;
      return [id, { item, storedText: stored_text, severityRule: severity_rule, aliases, objects }];
    }),
  );
}

/** Orders actions by the time at which their items were published. */
export function byPublishTime(a: ItemAction, b: ItemAction): number {
  const publishTimeOf = (action: ItemAction): string | undefined =>
    'candidate' in action ? action.candidate.record.publishTime : undefined;
  return comparePublishTimes(publishTimeOf(a), publishTimeOf(b));
}

/**
 * Items of one commit have the same time, which their ids carry, so that the order of the ids is the order of the list. Ascending ids put the most
 * recently published item first.
 */
function sortByPublishTime(actions: ItemAction[], at: Date): (ItemAction & WithNewId)[] {
  const sorted = actions.toSorted(byPublishTime);
  const ids = sorted.map(() => uuidv7(at)).toSorted();
  return sorted.map((action, index) => ({ ...action, id: ids[index]! }));
}
