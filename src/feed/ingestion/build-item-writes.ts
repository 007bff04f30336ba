import { buildComparisonTraits } from '../deduplication/similarity/comparison-traits.ts';
import { toSearchText } from '../items/search/search-text.ts';
import type { ItemWrite } from '../items/writing/item-columns.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { changedParts, contentHash } from './content-hash.ts';
import type { ItemCandidate } from './item-candidates.ts';
import { emptyItem, retractItem, toDocument, toFeedItem, type ItemStamps } from './item-document.ts';
import type { ItemAction, RaiseTlpAction } from './pull-plan.ts';
import type { ItemOrigin } from './source-row.ts';
import type { StoredItem } from './stored-items.store.ts';

/** The current versions of items, by id. */
export type CurrentVersions = Map<
  string,
  { item: FeedItem; storedText: string; severityRule: string; aliases: string[]; objects: string | null }
>;

/** What all writes of one transaction share. */
export type WriteContext = {
  source: ItemOrigin;
  at: Date;
  seqByPool: Map<string, number>;
  current: CurrentVersions;
  isProse: boolean;
  readerVersion: number;
};

/** The id for an item that the action creates. */
export type WithNewId = { id: string };

/** A write, and the stored item if it changes one. */
export type PlannedWrite = { write: ItemWrite; stored?: StoredItem };

/** Builds the writes of one action. */
export function buildItemWrites(context: WriteContext, action: ItemAction & WithNewId): PlannedWrite[] {
  switch (action.kind) {
    case 'add':
      return [{ write: addItem(context, action.candidate, { ...action, cause: 'added' }) }];
    case 'correct':
    case 'withdraw':
      return [{ write: changeItem(context, action), stored: action.stored }];
    case 'vanish':
      return [{ write: buryItem(context, action.stored, { isErased: false }), stored: action.stored }];
    case 'raise-tlp':
      return raiseItemTlp(context, action);
    case 'move': {
      const { candidate, stored, id } = action;
      const addition = { id, generation: stored.generation + 1, follows: stored.id, cause: 'moved' };
      return [
        { write: buryItem(context, stored, { isErased: true }), stored },
        { write: addItem(context, candidate, addition) },
      ];
    }
  }
}

type Addition = { id: string; generation: number; follows?: string; cause: string };

function addItem(context: WriteContext, candidate: ItemCandidate, addition: Addition): ItemWrite {
  const { at } = context;
  const status = candidate.record.withdrawn ? 'retracted' : 'active';
  const stamps: ItemStamps = {
    id: addition.id,
    version: 1,
    status,
    createdAt: at,
    addedToFeedAt: at,
    lastUpdated: at,
  };
  return {
    ...writeOfRecord(context, candidate, stamps),
    generation: addition.generation,
    related: addition.follows ?? null,
    cause: addition.cause,
    changed: [],
  };
}

type Change = Extract<ItemAction, { kind: 'correct' | 'withdraw' }>;

function changeItem(context: WriteContext, action: Change): ItemWrite {
  const { stored, candidate } = action;
  const stamps: ItemStamps = {
    id: stored.id,
    version: stored.version + 1,
    status: statusAfter(action),
    createdAt: stored.created_at,
    addedToFeedAt: stored.added_to_feed_at,
    lastUpdated: context.at,
  };
  const write = writeOfRecord(context, candidate, stamps);
  const after = { item: JSON.parse(write.doc) as FeedItem, storedText: write.storedText };
  const before = context.current.get(stored.id);
  return {
    ...write,
    poolId: stored.pool_id,
    seq: context.seqByPool.get(stored.pool_id)!,
    generation: stored.generation,
    related: null,
    cause: action.kind === 'withdraw' ? 'source' : action.cause,
    changed: before ? changedParts(before, after) : [],
  };
}

function statusAfter(action: Change): ItemStamps['status'] {
  if (action.kind === 'withdraw') return 'retracted';
  return action.cause === 'source' ? 'corrected' : action.stored.status;
}

function writeOfRecord(
  context: WriteContext,
  candidate: ItemCandidate,
  stamps: ItemStamps,
): Omit<ItemWrite, 'generation' | 'related' | 'cause' | 'changed'> {
  const { record, poolId } = candidate;
  const { storedText, aliases } = record;
  const item = toFeedItem(record, context.source, stamps);
  return {
    ...commonColumns(context, item, { poolId, stamps, storedText, aliases }),
    recordId: record.recordId,
    contentHash: candidate.contentHash,
    recordHash: candidate.recordHash,
    recordModifiedAt: record.modifiedAt ?? null,
    severityRule: record.severityRule,
    storedText,
    objects: record.originals ?? null,
    missingPulls: 0,
  };
}

/**
 * Turns an item into a retracted tombstone. It keeps its content if its record vanished; it is erased for an audience that may no longer see
 * the item.
 */
function buryItem(context: WriteContext, stored: StoredItem, { isErased }: { isErased: boolean }): ItemWrite {
  const current = context.current.get(stored.id)!;
  const stamps: ItemStamps = {
    id: stored.id,
    version: stored.version + 1,
    status: 'retracted',
    createdAt: stored.created_at,
    addedToFeedAt: stored.added_to_feed_at,
    lastUpdated: context.at,
  };
  const item = isErased ? emptyItem(current.item, stamps) : retractItem(current.item, stamps);
  const storedText = isErased ? '' : current.storedText;
  const aliases = isErased ? [] : current.aliases;
  return {
    ...commonColumns(context, item, { poolId: stored.pool_id, stamps, storedText, aliases }),
    recordId: stored.record_id,
    generation: stored.generation,
    contentHash: contentHash(item, storedText),
    recordHash: stored.record_hash,
    recordModifiedAt: stored.record_modified_at?.toISOString() ?? null,
    related: null,
    severityRule: isErased ? 'none' : current.severityRule,
    storedText,
    objects: null,
    missingPulls: isErased ? 0 : stored.missing_pulls + 1,
    cause: isErased ? 'moved' : 'vanished',
    changed: isErased ? [] : ['status'],
  };
}

/**
 * Writes an item under a stricter marking. If fewer organizations may see it, the item is erased, and the latest generation of its record
 * continues under a new id.
 */
function raiseItemTlp(context: WriteContext, action: RaiseTlpAction & WithNewId): PlannedWrite[] {
  const { stored, tlp, poolId } = action;
  const { item, storedText, severityRule, aliases, objects } = context.current.get(stored.id)!;
  const moves = poolId !== stored.pool_id;
  const erased: PlannedWrite = { write: buryItem(context, stored, { isErased: true }), stored };
  if (moves && !action.isLatest) return [erased];
  const { at } = context;
  const stamps: ItemStamps = {
    id: moves ? action.id : stored.id,
    version: moves ? 1 : stored.version + 1,
    status: stored.status,
    createdAt: moves ? at : stored.created_at,
    addedToFeedAt: moves ? at : stored.added_to_feed_at,
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
    ...commonColumns(context, after, { poolId, stamps, storedText, aliases }),
    recordId: stored.record_id,
    generation: moves ? stored.generation + 1 : stored.generation,
    contentHash: contentHash(after, storedText),
    recordHash: stored.record_hash,
    recordModifiedAt: stored.record_modified_at?.toISOString() ?? null,
    related: moves ? stored.id : null,
    severityRule,
    storedText,
    objects,
    missingPulls: stored.missing_pulls,
    cause: moves ? 'moved' : 'reanalysis',
    changed: moves ? [] : ['tlp'],
  };
  return moves ? [erased, { write }] : [{ write, stored }];
}

type CommonInput = { poolId: string; stamps: ItemStamps; storedText: string; aliases: string[] | undefined };

/** The columns that follow from the document in the same way for every write. */
function commonColumns(context: WriteContext, item: FeedItem, input: CommonInput) {
  const { poolId, stamps, storedText, aliases } = input;
  const { doc, nextExpiryAt } = toDocument(item, context.at);
  return {
    id: stamps.id,
    organizationId: context.source.organization_id,
    poolId,
    sourceId: context.source.id,
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
    ...buildComparisonTraits(item, { storedText, aliases, isProse: context.isProse }),
    readerVersion: context.readerVersion,
    searchHead: toSearchText(item),
    nextExpiryAt,
    seq: context.seqByPool.get(poolId)!,
    addedToFeedAt: stamps.addedToFeedAt,
    createdAt: stamps.createdAt,
    at: context.at,
  };
}
