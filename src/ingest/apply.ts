import type { Tx } from '../db/db.ts';
import type { FeedItem } from '../feed/schema.ts';
import { searchHead } from '../feed/words.ts';
import { uuidv7 } from '../lib/ids.ts';
import type { Action, Candidate, HeldItem, Plan } from './diff.ts';
import { emptyItem, isTextKind, retractItem, toDocument, toItem, type Stamps } from './document.ts';
import { moveCounts } from './counts.ts';
import { settlePools } from './dedupe/settle-pools.ts';
import { traitsOf } from './dedupe/traits.ts';
import { emitItems } from './events.ts';
import { changedParts, contentHash } from './hashes.ts';
import { reading } from './reading.ts';
import type { Origin } from './source-row.ts';
import { advancePools, listCurrentTexts, lockPools, markMissing } from './store.ts';
import { emptyStates } from './write-search.ts';
import { emptyVersions, writeItems, type CountKey, type ItemWrite } from './write-items.ts';

type Current = Map<string, { item: FeedItem; storedText: string }>;
type Commit = { source: Origin; at: Date; seqByPool: Map<string, number>; current: Current };

/**
 * Carries a plan out in the caller's transaction: items, versions, totals and the pools' sequence numbers move together. The locked pools
 * make `addedToFeedAt` strictly increase in commit order.
 */
export async function applyPlan(tx: Tx, source: Origin, plan: Plan, now: Date): Promise<void> {
  await markMissing(tx, plan.back, 0);
  await markMissing(tx, plan.absent, 1);
  if (plan.actions.length === 0) return;
  const poolIds = [...new Set(plan.actions.flatMap(poolsOf))].toSorted();
  const pools = await lockPools(tx, poolIds);
  const at = new Date(Math.max(now.getTime(), ...pools.map((pool) => pool.last_added_at.getTime() + 1)));
  const commit: Commit = {
    source,
    at,
    seqByPool: new Map(pools.map(({ id, seq }) => [id, seq + 1])),
    current: await currentItems(tx, source, plan.actions),
  };
  const steps = inPublishOrder(plan.actions, at).flatMap((action) => stepsOf(commit, action));
  const emptied = plan.actions.flatMap((action) => (action.kind === 'move' ? [action.held.id] : []));
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

function poolsOf(action: Action): string[] {
  if (action.kind === 'vanish') return [action.held.pool_id];
  return 'held' in action ? [action.held.pool_id, action.candidate.poolId] : [action.candidate.poolId];
}

async function currentItems(tx: Tx, source: Origin, actions: Action[]): Promise<Current> {
  const ids = actions.flatMap((action) => ('held' in action ? [action.held.id] : []));
  const found = ids.length === 0 ? [] : await listCurrentTexts(tx, source, ids);
  return new Map(
    found.map(({ id, doc, stored_text }) => [id, { item: JSON.parse(doc) as FeedItem, storedText: stored_text }]),
  );
}

type NewId = { id: string };

/** Items of one commit share a time; their ids put the one published last first in the list. */
function inPublishOrder(actions: Action[], at: Date): (Action & NewId)[] {
  const published = (action: Action): string =>
    'candidate' in action ? (action.candidate.record.publishTime ?? '') : '';
  const ordered = actions.toSorted((a, b) => (published(a) < published(b) ? -1 : published(a) > published(b) ? 1 : 0));
  const ids = ordered.map(() => uuidv7(at)).toSorted();
  return ordered.map((action, index) => ({ ...action, id: ids[index]! }));
}

/** What is written, and what it was before where it was. */
type Step = { write: ItemWrite; held?: HeldItem };

function stepsOf(commit: Commit, action: Action & NewId): Step[] {
  switch (action.kind) {
    case 'add':
      return [{ write: addition(commit, action.candidate, { ...action, cause: 'added' }) }];
    case 'correct':
    case 'withdraw':
      return [{ write: change(commit, action), held: action.held }];
    case 'vanish':
      return [{ write: tombstone(commit, action.held, { emptied: false }), held: action.held }];
    case 'move': {
      const { candidate, held, id } = action;
      const moved = addition(commit, candidate, {
        id,
        generation: held.generation + 1,
        follows: held.id,
        cause: 'moved',
      });
      return [{ write: tombstone(commit, held, { emptied: true }), held }, { write: moved }];
    }
  }
}

type Addition = { id: string; generation: number; follows?: string; cause: string };

function addition(commit: Commit, candidate: Candidate, { id, generation, follows, cause }: Addition): ItemWrite {
  const { at } = commit;
  const status = candidate.record.withdrawn ? 'retracted' : 'active';
  const stamps: Stamps = { id, version: 1, status, createdAt: at, addedToFeedAt: at, lastUpdated: at };
  return {
    ...written(commit, candidate, stamps),
    generation,
    related: follows ?? null,
    cause,
    changed: [],
  };
}

function change(commit: Commit, action: Action & { kind: 'correct' | 'withdraw' }): ItemWrite {
  const { held, candidate } = action;
  const cause = action.kind === 'withdraw' ? 'source' : action.cause;
  const status = action.kind === 'withdraw' ? 'retracted' : cause === 'source' ? 'corrected' : held.status;
  const { created_at: createdAt, added_to_feed_at: addedToFeedAt } = held;
  const stamps: Stamps = {
    id: held.id,
    version: held.version + 1,
    status,
    createdAt,
    addedToFeedAt,
    lastUpdated: commit.at,
  };
  const write = written(commit, candidate, stamps);
  const after = { item: JSON.parse(write.doc) as FeedItem, storedText: write.storedText };
  const before = commit.current.get(held.id);
  return {
    ...write,
    poolId: held.pool_id,
    seq: commit.seqByPool.get(held.pool_id)!,
    generation: held.generation,
    related: null,
    cause,
    changed: before ? changedParts(before, after) : [],
  };
}

function written(
  commit: Commit,
  candidate: Candidate,
  stamps: Stamps,
): Omit<ItemWrite, 'generation' | 'related' | 'cause' | 'changed'> {
  const { record } = candidate;
  const item = toItem(record, commit.source, stamps);
  return {
    ...common(commit, item, {
      poolId: candidate.poolId,
      stamps,
      storedText: record.storedText,
      aliases: record.aliases,
    }),
    recordId: record.recordId,
    contentHash: candidate.contentHash,
    recordHash: candidate.recordHash,
    recordModifiedAt: record.modifiedAt ?? null,
    severityRule: record.severityRule,
    storedText: record.storedText,
    objects: record.originals ?? null,
    missingPulls: 0,
  };
}

/** The item goes on as a retracted one: with its content where its record vanished, without for those who lost sight of it. */
function tombstone(commit: Commit, held: HeldItem, { emptied }: { emptied: boolean }): ItemWrite {
  const current = commit.current.get(held.id)!;
  const stamps = { version: held.version + 1, lastUpdated: commit.at };
  const item = emptied ? emptyItem(current.item, stamps) : retractItem(current.item, stamps);
  const storedText = emptied ? '' : current.storedText;
  const { created_at: createdAt, added_to_feed_at: addedToFeedAt } = held;
  return {
    ...common(commit, item, {
      poolId: held.pool_id,
      storedText,
      stamps: { ...stamps, id: held.id, status: 'retracted', createdAt, addedToFeedAt },
    }),
    recordId: held.record_id,
    generation: held.generation,
    contentHash: contentHash(item, storedText),
    recordHash: held.record_hash,
    recordModifiedAt: held.record_modified_at?.toISOString() ?? null,
    related: null,
    severityRule: emptied ? 'none' : 'kept',
    storedText,
    objects: null,
    missingPulls: emptied ? 0 : held.missing_pulls + 1,
    cause: emptied ? 'moved' : 'vanished',
    changed: emptied ? [] : ['status'],
  };
}

type Common = Pick<
  ItemWrite,
  | 'id'
  | 'organizationId'
  | 'poolId'
  | 'sourceId'
  | 'canonicalKey'
  | 'version'
  | 'severity'
  | 'status'
  | 'publisher'
  | 'sourceName'
  | 'platforms'
  | 'title'
  | 'publishTime'
  | 'doc'
  | 'terms'
  | 'sketch'
  | 'identifying'
  | 'reading'
  | 'searchHead'
  | 'nextExpiryAt'
  | 'seq'
  | 'addedToFeedAt'
  | 'createdAt'
  | 'at'
>;

type Place = { poolId: string; stamps: Stamps; storedText: string; aliases?: string[] | undefined };

function common(commit: Commit, item: FeedItem, { poolId, stamps, storedText, aliases }: Place): Common {
  const { doc, nextExpiryAt } = toDocument(item, commit.at);
  return {
    id: stamps.id,
    organizationId: commit.source.organization_id,
    poolId,
    sourceId: commit.source.id,
    canonicalKey: item.canonicalKey,
    version: stamps.version,
    severity: item.event.severity,
    status: stamps.status,
    publisher: item.source.publisher,
    sourceName: item.source.name,
    platforms: item.classification.platforms,
    title: item.event.title,
    publishTime: item.source.publishTime ?? null,
    doc,
    ...traitsOf(item, { storedText, aliases, isText: isTextKind(commit.source.kind) }),
    reading,
    searchHead: searchHead(item),
    nextExpiryAt,
    seq: commit.seqByPool.get(poolId)!,
    addedToFeedAt: stamps.addedToFeedAt,
    createdAt: stamps.createdAt,
    at: commit.at,
  };
}

const countKeyOfHeld = (held: HeldItem): CountKey => ({
  poolId: held.pool_id,
  severity: held.severity,
  status: held.status,
  publisher: held.publisher,
  sourceName: held.source_name,
  platforms: held.platforms,
});
