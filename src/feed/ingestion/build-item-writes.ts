import { buildComparisonTraits } from '../deduplication/comparison-traits.ts';
import type { UnnumberedWrite } from '../items/writing/item-columns.ts';
import { toSeverityText } from '../model/source-record.ts';
import type { FeedItem } from '../model/item.schema.ts';
import type { ItemStatus } from '../model/vocabulary.ts';
import { changedParts, contentHash } from './content-hash.ts';
import type { ItemCandidate } from './item-candidates.ts';
import { emptyItem, retractItem, toDocument, toFeedItem, toItemSearchText, type ItemStamps } from './item-document.ts';
import type { ItemAction, RaiseTlpAction } from './pull-plan.ts';
import type { ItemOrigin } from './source-row.ts';
import type { StoredItem } from './stored-items.store.ts';

/** The current versions of items, by id. */
export type CurrentVersions = Map<
  string,
  { item: FeedItem; storedText: string; severityRule: string; aliases: string[]; objects: string | null }
>;

/** The context that all writes of one transaction share. */
type WriteContext = {
  source: ItemOrigin;
  at: Date;
  current: CurrentVersions;
  isProse: boolean;
  readerVersion: number;
};

/** The id for an item that the action creates. */
export type WithNewId = { id: string };

/** A write, and the stored item if it changes one. */
export type PlannedWrite = { write: UnnumberedWrite; stored?: StoredItem };

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

function addItem(context: WriteContext, candidate: ItemCandidate, addition: Addition): UnnumberedWrite {
  const stamps = firstStamps(context, addition.id, candidate.record.withdrawn ? 'retracted' : 'active');
  const { generation, follows = null, cause } = addition;
  return { ...writeOfRecord(context, candidate, stamps), generation, related: follows, cause, changed: [] };
}

const firstStamps = ({ at }: WriteContext, id: string, status: ItemStatus): ItemStamps => ({
  id,
  version: 1,
  status,
  createdAt: at,
  addedToFeedAt: at,
  lastUpdated: at,
});

const nextStamps = ({ at }: WriteContext, stored: StoredItem, status: ItemStatus): ItemStamps => ({
  id: stored.id,
  version: stored.version + 1,
  status,
  createdAt: stored.created_at,
  addedToFeedAt: stored.added_to_feed_at,
  lastUpdated: at,
});

type Change = Extract<ItemAction, { kind: 'correct' | 'withdraw' }>;

function changeItem(context: WriteContext, action: Change): UnnumberedWrite {
  const { stored, candidate } = action;
  const write = writeOfRecord(context, candidate, nextStamps(context, stored, statusAfter(action)));
  const after = { item: JSON.parse(write.doc) as FeedItem, storedText: write.storedText };
  const before = context.current.get(stored.id);
  return {
    ...write,
    poolId: stored.pool_id,
    generation: stored.generation,
    related: null,
    cause: action.kind === 'withdraw' ? 'source' : action.cause,
    changed: before ? changedParts(before, after) : [],
  };
}

function statusAfter(action: Change): ItemStatus {
  if (action.kind === 'withdraw') return 'retracted';
  return action.cause === 'source' ? 'corrected' : action.stored.status;
}

function writeOfRecord(
  context: WriteContext,
  candidate: ItemCandidate,
  stamps: ItemStamps,
): Omit<UnnumberedWrite, 'generation' | 'related' | 'cause' | 'changed'> {
  const { record, poolId } = candidate;
  const { storedText, aliases } = record;
  const item = toFeedItem(record, context.source, stamps);
  return {
    ...commonColumns(context, item, { poolId, stamps, storedText, aliases }),
    recordId: record.recordId,
    contentHash: candidate.contentHash,
    recordHash: candidate.recordHash,
    recordModifiedAt: record.modifiedAt ?? null,
    severityRule: toSeverityText(record),
    storedText,
    objects: record.originals ?? null,
    missingPulls: 0,
  };
}

/**
 * Turns an item into a retracted tombstone. It keeps its content if its record vanished; it is erased for an audience that may no longer see
 * the item.
 */
function buryItem(context: WriteContext, stored: StoredItem, { isErased }: { isErased: boolean }): UnnumberedWrite {
  const current = context.current.get(stored.id)!;
  const stamps = nextStamps(context, stored, 'retracted');
  const item = isErased ? emptyItem(current.item, stamps) : retractItem(current.item, stamps);
  const storedText = isErased ? '' : current.storedText;
  const aliases = isErased ? [] : current.aliases;
  return {
    ...commonColumns(context, item, { poolId: stored.pool_id, stamps, storedText, aliases }),
    ...storedColumns(stored),
    contentHash: contentHash(item, storedText),
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
  const stamps = moves ? firstStamps(context, action.id, stored.status) : nextStamps(context, stored, stored.status);
  const after: FeedItem = {
    ...item,
    id: stamps.id,
    source: { ...item.source, tlp },
    version: stamps.version,
    createdAt: stamps.createdAt.toISOString(),
    addedToFeedAt: stamps.addedToFeedAt.toISOString(),
    lastUpdated: context.at.toISOString(),
  };
  const write: UnnumberedWrite = {
    ...commonColumns(context, after, { poolId, stamps, storedText, aliases }),
    ...storedColumns(stored),
    contentHash: contentHash(after, storedText),
    severityRule,
    storedText,
    objects,
    cause: 'reanalysis',
    changed: ['tlp'],
  };
  if (!moves) return [{ write, stored }];
  const successor = { generation: stored.generation + 1, related: stored.id, cause: 'moved', changed: [] };
  return [erased, { write: { ...write, ...successor } }];
}

/** The columns that a write keeps when the source's record does not change. */
export const storedColumns = (stored: Omit<StoredItem, 'held_back'>) => ({
  recordId: stored.record_id,
  generation: stored.generation,
  recordHash: stored.record_hash,
  recordModifiedAt: stored.record_modified_at?.toISOString() ?? null,
  related: null,
  missingPulls: stored.missing_pulls,
});

/** The columns that follow from the document in the same way for every write. */
function commonColumns(
  context: WriteContext,
  item: FeedItem,
  input: { poolId: string; stamps: ItemStamps; storedText: string; aliases: string[] | undefined },
) {
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
    ...toItemSearchText(item, storedText, context.source.kind),
    readerVersion: context.readerVersion,
    nextExpiryAt,
    addedToFeedAt: stamps.addedToFeedAt,
    createdAt: stamps.createdAt,
    at: context.at,
  };
}
