import type { Tx } from '../../../platform/db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import type { FeedItem } from '../../model/item.schema.ts';
import { stricterTlp, type Tlp } from '../../model/vocabulary.ts';
import { forgetViews } from '../../items/snapshot/snapshot.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { applyPlan } from '../../ingestion/apply-plan.ts';
import type { SourceRow } from '../source-row.ts';
import { lockSource } from '../sources.store.ts';
import { inSourceAcrossOrgs, privatePool } from '../../items/writing/feed-pools.store.ts';
import { listLooseItems, listSuccessors, moveHeldBack, type LooseItem } from './raise-tlp.store.ts';

const batchMax = 500;

/**
 * Gives every item of a source at least the source's own marking, also those whose records the source no longer holds or does not give
 * again. Works through them in transactions of bounded size; what is cut short is made up by the next pull. A looser marking reaches
 * what is read again: only its record says what an item is marked with by itself.
 */
export async function tightenItems(deps: Deps, source: SourceRow): Promise<void> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (let full = true; full;) {
    const batch = await inSourceAcrossOrgs(deps.db, source, (tx) => tightenSome(deps, tx, source, after));
    after = batch.at(-1)?.id ?? after;
    full = batch.length === batchMax;
    if (batch.length > 0) forgetViews(deps.db);
  }
}

async function tightenSome(
  deps: Deps,
  tx: Tx,
  { id, organization_id }: SourceRow,
  after: string,
): Promise<LooseItem[]> {
  const source = await lockSource(tx, { id, organization_id });
  const tlp = source?.tlp;
  if (!tlp) return [];
  const loose = await listLooseItems(tx, source, { tlp, after, limit: batchMax });
  if (loose.length === 0) return [];
  const isOwn = source.visibility === 'private' || tlp === 'RED';
  const poolId = isOwn ? await privatePool(tx, source.organization_id, uuidv7()) : source.pool_id;
  const actions = loose.map((held) => ({ kind: 'tighten' as const, held, tlp, poolId, isLatest: held.is_latest }));
  const result = { added: 0, corrected: 0, retracted: 0, unchanged: 0, skipped: [] };
  const plan = { actions, back: [], absent: [], records: 0, result };
  await applyPlan(tx, source, plan, { now: deps.clock(), knowledge: deps.extractor.knowledge });
  await tightenHeldBack(tx, loose, tlp);
  return loose;
}

/** A person who takes a retraction back brings nothing back under the looser marking. */
async function tightenHeldBack(tx: Tx, loose: LooseItem[], tlp: Tlp): Promise<void> {
  const held = loose.filter(({ held_back_doc }) => held_back_doc !== null);
  if (held.length === 0) return;
  const next = new Map(
    (
      await listSuccessors(
        tx,
        held.map(({ id }) => id),
      )
    ).map((row) => [row.follows, row]),
  );
  const moves = held.map(({ id: from, held_back_doc }) => {
    const before = JSON.parse(held_back_doc!) as FeedItem;
    const follower = next.get(from);
    const { id, createdAt, addedToFeedAt } = follower ? (JSON.parse(follower.doc) as FeedItem) : before;
    const source = { ...before.source, tlp: stricterTlp(before.source.tlp, tlp) };
    return { from, to: id, doc: JSON.stringify({ ...before, id, createdAt, addedToFeedAt, source }) };
  });
  await moveHeldBack(tx, moves);
}
