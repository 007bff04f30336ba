import type { Db, Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { nilId, uuidv7 } from '../../../platform/lib/ids.ts';
import { planCommit, writeCommit } from '../../ingestion/apply-actions.ts';
import type { Extractor } from '../../ingestion/extractor.ts';
import type { RaiseTlpAction } from '../../ingestion/pull-plan.ts';
import type { SourceRow } from '../../ingestion/source-row.ts';
import type { SnapshotCache } from '../../items/snapshot/snapshot.ts';
import { ensurePrivatePool } from '../../items/writing/feed-pools.store.ts';
import { moveRetractedDocuments } from '../../items/writing/update-items.store.ts';
import type { FeedItem } from '../../model/item.schema.ts';
import { stricterTlp, type Tlp } from '../../model/vocabulary.ts';
import {
  lockSource,
  withSourceAcrossOrgs,
  listLooselyMarkedItems,
  listSuccessors,
  type LooselyMarkedItem,
} from '../sources.store.ts';

const batchMax = 500;

export type RaiseTlpDeps = {
  db: Db;
  clock: Clock;
  extractor: Pick<Extractor, 'referenceDataVersion' | 'readEntry'>;
  snapshots: Pick<SnapshotCache, 'invalidate'>;
};

/**
 * Raises the marking of all items of a source to at least the source's own, including items whose records the source no longer lists. Works in
 * transactions of bounded size; the next pull completes an interrupted run. A looser source marking applies only to records that are read
 * again, because an item's own marking is known only from its record.
 */
export async function raiseTlp(deps: RaiseTlpDeps, source: SourceRow): Promise<void> {
  let afterId = nilId;
  for (let isFull = true; isFull;) {
    const batch = await withSourceAcrossOrgs(deps.db, source, (tx) => raiseTlpOfBatch(deps, tx, source, afterId));
    afterId = batch.at(-1)?.id ?? afterId;
    isFull = batch.length === batchMax;
    if (batch.length > 0) deps.snapshots.invalidate();
  }
}

async function raiseTlpOfBatch(
  deps: RaiseTlpDeps,
  tx: Tx,
  { id, organization_id }: SourceRow,
  afterId: string,
): Promise<LooselyMarkedItem[]> {
  const source = await lockSource(tx, { id, organization_id });
  const tlp = source?.tlp;
  if (!tlp) return [];
  const items = await listLooselyMarkedItems(tx, source, { tlp, afterId, limit: batchMax });
  if (items.length === 0) return [];
  const isPrivate = source.visibility === 'private' || tlp === 'RED';
  const poolId = isPrivate ? await ensurePrivatePool(tx, source.organization_id, uuidv7()) : source.pool_id;
  const actions: RaiseTlpAction[] = items.map((stored) => ({
    kind: 'raise-tlp',
    stored,
    tlp,
    poolId,
    isLatest: stored.is_latest,
  }));
  const { referenceDataVersion } = deps.extractor;
  await writeCommit(tx, await planCommit(tx, source, actions, { now: deps.clock(), referenceDataVersion }));
  await raiseTlpOfRetracted(tx, items, tlp);
  return items;
}

/** Raises the marking in the documents of retracted items, so that restoring one does not restore the looser marking. */
async function raiseTlpOfRetracted(tx: Tx, items: LooselyMarkedItem[], tlp: Tlp): Promise<void> {
  const retracted = items.filter(({ held_back_doc }) => held_back_doc !== null);
  if (retracted.length === 0) return;
  const retractedIds = retracted.map(({ id }) => id);
  const successors = new Map((await listSuccessors(tx, retractedIds)).map((row) => [row.follows, row.doc]));
  const moves = retracted.map(({ id: from, held_back_doc }) => {
    const before = JSON.parse(held_back_doc!) as FeedItem;
    const successor = successors.get(from);
    const { id, createdAt, addedToFeedAt } = successor ? (JSON.parse(successor) as FeedItem) : before;
    const source = { ...before.source, tlp: stricterTlp(before.source.tlp, tlp) };
    return { from, to: id, doc: JSON.stringify({ ...before, id, createdAt, addedToFeedAt, source }) };
  });
  await moveRetractedDocuments(tx, moves);
}
