import type { FeedItem } from '../model/item.schema.ts';
import { searchHead } from '../items/search/search-text.ts';
import type { Action, Candidate, HeldItem, Tighten } from './pull-plan.ts';
import { emptyItem, retractItem, toDocument, toItem, type Stamps } from '../items/writing/item-document.ts';
import { traitsOf } from '../deduplication/traits.ts';
import { changedParts, contentHash } from '../items/writing/hashes.ts';
import type { Origin } from '../sources/source-row.ts';
import type { ItemWrite } from '../items/writing/write-items.ts';

export type Current = Map<
  string,
  { item: FeedItem; storedText: string; severityRule: string; aliases: string[]; objects: string | null }
>;
/** What holds for everything that one transaction writes. */
export type Commit = {
  source: Origin;
  at: Date;
  seqByPool: Map<string, number>;
  current: Current;
  isText: boolean;
  reading: number;
};

/** The id of what is made anew. */
export type NewId = { id: string };

/** What is written, and what it was before where it was. */
export type Step = { write: ItemWrite; held?: HeldItem };

/** What one action of a plan writes. */
export function stepsOf(commit: Commit, action: Action & NewId): Step[] {
  switch (action.kind) {
    case 'add':
      return [{ write: addition(commit, action.candidate, { ...action, cause: 'added' }) }];
    case 'correct':
    case 'withdraw':
      return [{ write: change(commit, action), held: action.held }];
    case 'vanish':
      return [{ write: tombstone(commit, action.held, { emptied: false }), held: action.held }];
    case 'tighten':
      return tightened(commit, action);
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
      aliases: emptied ? [] : current.aliases,
      stamps: { ...stamps, id: held.id, status: 'retracted', createdAt, addedToFeedAt },
    }),
    recordId: held.record_id,
    generation: held.generation,
    contentHash: contentHash(item, storedText),
    recordHash: held.record_hash,
    recordModifiedAt: held.record_modified_at?.toISOString() ?? null,
    related: null,
    severityRule: emptied ? 'none' : current.severityRule,
    storedText,
    objects: null,
    missingPulls: emptied ? 0 : held.missing_pulls + 1,
    cause: emptied ? 'moved' : 'vanished',
    changed: emptied ? [] : ['status'],
  };
}

/** The item under a stricter marking; where fewer may see it than before it goes on under a new id, the latest of its record alone. */
function tightened(commit: Commit, { held, tlp, poolId, isLatest, id }: Tighten & NewId): Step[] {
  const { item, storedText, severityRule, aliases, objects } = commit.current.get(held.id)!;
  const moves = poolId !== held.pool_id;
  const emptied: Step = { write: tombstone(commit, held, { emptied: true }), held };
  if (moves && !isLatest) return [emptied];
  const { at } = commit;
  const stamps: Stamps = {
    id: moves ? id : held.id,
    version: moves ? 1 : held.version + 1,
    status: held.status,
    createdAt: moves ? at : held.created_at,
    addedToFeedAt: moves ? at : held.added_to_feed_at,
    lastUpdated: at,
  };
  const after: FeedItem = {
    ...item,
    id: stamps.id,
    source: { ...item.source, tlp },
    version: stamps.version,
    createdAt: stamps.createdAt.toISOString(),
    addedToFeedAt: stamps.addedToFeedAt.toISOString(),
    lastUpdated: at.toISOString(),
  };
  const write: ItemWrite = {
    ...common(commit, after, { poolId, stamps, storedText, aliases }),
    recordId: held.record_id,
    generation: moves ? held.generation + 1 : held.generation,
    contentHash: contentHash(after, storedText),
    recordHash: held.record_hash,
    recordModifiedAt: held.record_modified_at?.toISOString() ?? null,
    related: moves ? held.id : null,
    severityRule,
    storedText,
    objects,
    missingPulls: held.missing_pulls,
    cause: moves ? 'moved' : 'reanalysis',
    changed: moves ? [] : ['tlp'],
  };
  return moves ? [emptied, { write }] : [{ write, held }];
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
    ...traitsOf(item, { storedText, aliases, isText: commit.isText }),
    reading: commit.reading,
    searchHead: searchHead(item),
    nextExpiryAt,
    seq: commit.seqByPool.get(poolId)!,
    addedToFeedAt: stamps.addedToFeedAt,
    createdAt: stamps.createdAt,
    at: commit.at,
  };
}
