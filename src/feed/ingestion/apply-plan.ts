import type { Tx } from '../../platform/db/db.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { Action, HeldItem, Plan } from './pull-plan.ts';
import { isTextKind } from '../items/writing/item-document.ts';
import { moveCounts } from '../items/writing/counts.ts';
import { settlePools } from '../deduplication/recompute-pools.ts';
import { emitItems } from '../items/writing/item-events.ts';
import { readingOf } from '../sources/pull/reader-version.ts';
import type { Origin } from '../sources/source-row.ts';
import { advancePools, listCurrentTexts, lockPools, markMissing } from '../items/writing/feed-pools.store.ts';
import { emptyStates } from '../items/writing/write-search.ts';
import { stepsOf, type Commit, type Current, type NewId } from './item-writes.ts';
import { emptyVersions, writeItems, type CountKey } from '../items/writing/write-items.ts';

/**
 * Carries a plan out in the caller's transaction: items, versions, totals and the pools' sequence numbers move together. The locked pools
 * make `addedToFeedAt` strictly increase in commit order. `knowledge`: that of the extractor.
 */
export async function applyPlan(
  tx: Tx,
  source: Origin,
  plan: Plan,
  { now, knowledge }: { now: Date; knowledge: number },
): Promise<void> {
  await markMissing(tx, plan.back, 0);
  await markMissing(tx, plan.absent, 1);
  if (plan.actions.length === 0) return;
  const poolIds = [...new Set(plan.actions.flatMap(poolsOf))].toSorted();
  const pools = await lockPools(tx, poolIds);
  const at = new Date(Math.max(now.getTime(), ...pools.map((pool) => pool.last_added_at.getTime() + 1)));
  const isText = isTextKind(source.kind);
  const commit: Commit = {
    source,
    at,
    seqByPool: new Map(pools.map(({ id, seq }) => [id, seq + 1])),
    current: await currentItems(tx, source, plan.actions),
    isText,
    reading: readingOf(isText, knowledge),
  };
  const steps = inPublishOrder(plan.actions, at).flatMap((action) => stepsOf(commit, action));
  const emptied = plan.actions.flatMap((action) => (isMove(action) ? [action.held.id] : []));
  await emptyVersions(tx, emptied);
  const writes = steps.map(({ write }) => write);
  const gone = await writeItems(tx, writes);
  await emptyStates(tx, emptied);
  await moveCounts(
    tx,
    steps.map(({ write, held }) => ({
      ...(held ? { before: countKeyOfHeld(held) } : {}),
      after: write,
    })),
  );
  const settled = await settlePools(tx, writes, { gone, ...commit });
  await advancePools(tx, poolIds, at);
  // What a source holds when it is first read is a load, not news.
  if (source.last_success_at)
    await emitItems(
      tx,
      steps.map(({ write, held }) => ({
        write: { ...write, doc: settled.get(write.id) ?? write.doc },
        statusBefore: held?.status,
      })),
    );
}

/** Whether fewer see the item from now on. */
const isMove = (action: Action): action is Extract<Action, { kind: 'move' | 'tighten' }> =>
  action.kind === 'move' || (action.kind === 'tighten' && action.poolId !== action.held.pool_id);

function poolsOf(action: Action): string[] {
  if (action.kind === 'tighten') return [action.held.pool_id, action.poolId];
  if (action.kind === 'vanish') return [action.held.pool_id];
  return 'held' in action ? [action.held.pool_id, action.candidate.poolId] : [action.candidate.poolId];
}

async function currentItems(tx: Tx, source: Origin, actions: Action[]): Promise<Current> {
  const ids = actions.flatMap((action) => ('held' in action ? [action.held.id] : []));
  const found = ids.length === 0 ? [] : await listCurrentTexts(tx, source, ids);
  return new Map(
    found.map(({ id, doc, stored_text, severity_rule, aliases, objects }) => {
      const { duplicateOf: _root, ...item } = JSON.parse(doc) as FeedItem;
      return [id, { item, storedText: stored_text, severityRule: severity_rule, aliases, objects }];
    }),
  );
}

/** Items of one commit share a time; their ids put the one published last first in the list. */
function inPublishOrder(actions: Action[], at: Date): (Action & NewId)[] {
  const published = (action: Action): string =>
    'candidate' in action ? (action.candidate.record.publishTime ?? '') : '';
  const ordered = actions.toSorted((a, b) => (published(a) < published(b) ? -1 : published(a) > published(b) ? 1 : 0));
  const ids = ordered.map(() => uuidv7(at)).toSorted();
  return ordered.map((action, index) => ({ ...action, id: ids[index]! }));
}

const countKeyOfHeld = (held: HeldItem): CountKey => ({
  poolId: held.pool_id,
  severity: held.severity,
  status: held.status,
  publisher: held.publisher,
  sourceName: held.source_name,
  platforms: held.platforms,
});
