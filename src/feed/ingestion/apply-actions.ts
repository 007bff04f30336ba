import type { Tx } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { recomputePools } from '../deduplication/recompute-pools.ts';
import { countKeyOf, moveCounts } from '../items/writing/counts.store.ts';
import { advancePools, lockPools, nextCommitTime } from '../items/writing/feed-pools.store.ts';
import { emitItemEvents } from '../items/writing/item-events.ts';
import { eraseVersionContent } from '../items/writing/update-items.store.ts';
import { eraseStateContent, writeItems } from '../items/writing/write-items.store.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { buildItemWrites, type CurrentVersions, type WithNewId, type WriteContext } from './build-item-writes.ts';
import { isProseSource } from './item-document.ts';
import type { ItemAction } from './pull-plan.ts';
import { toReaderVersion } from './reader-version.ts';
import type { ItemOrigin } from './source-row.ts';
import { listCurrentVersions } from './stored-items.store.ts';

/**
 * Applies actions in the caller's transaction: items, versions, totals and the sequence numbers of the pools change together. Locking the
 * pools makes `addedToFeedAt` strictly increase in commit order.
 */
export async function applyActions(
  tx: Tx,
  source: ItemOrigin,
  actions: ItemAction[],
  { now, referenceDataVersion }: { now: Date; referenceDataVersion: number },
): Promise<void> {
  if (actions.length === 0) return;
  const poolIds = listPoolIds(actions);
  const pools = await lockPools(tx, poolIds);
  const at = nextCommitTime(pools, now);
  const isProse = isProseSource(source.kind);
  const context: WriteContext = {
    source,
    at,
    seqByPool: new Map(pools.map(({ id, seq }) => [id, seq + 1])),
    current: await readCurrentVersions(tx, source, actions),
    isProse,
    readerVersion: toReaderVersion(isProse, referenceDataVersion),
  };
  const planned = sortByPublishTime(actions, at).flatMap((action) => buildItemWrites(context, action));
  const movedIds = actions.flatMap((action) => (isMove(action) ? [action.stored.id] : []));
  await eraseVersionContent(tx, movedIds);
  const writes = planned.map(({ write }) => write);
  const removedTerms = await writeItems(tx, writes);
  await eraseStateContent(tx, movedIds);
  const moves = planned.map(({ write, stored }) => ({ ...(stored && { before: countKeyOf(stored) }), after: write }));
  await moveCounts(tx, moves);
  const documents = await recomputePools(tx, writes, { removedTerms, ...context });
  await advancePools(tx, poolIds, at);
  // The items of the first pull of a source are not news.
  if (!source.last_success_at) return;
  const written = planned.map(({ write, stored }) => ({
    write: { ...write, doc: documents.get(write.id) ?? write.doc },
    statusBefore: stored?.status,
  }));
  await emitItemEvents(tx, written);
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
    default:
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
  const publishTimeOf = (action: ItemAction): string =>
    'candidate' in action ? (action.candidate.record.publishTime ?? '') : '';
  const [timeA, timeB] = [publishTimeOf(a), publishTimeOf(b)];
  if (timeA === timeB) return 0;
  return timeA < timeB ? -1 : 1;
}

/** Items of one commit have the same time. Ascending ids put the most recently published item first in the list. */
function sortByPublishTime(actions: ItemAction[], at: Date): (ItemAction & WithNewId)[] {
  const sorted = actions.toSorted(byPublishTime);
  const ids = sorted.map(() => uuidv7(at)).toSorted();
  return sorted.map((action, index) => ({ ...action, id: ids[index]! }));
}
