import { type SkippedEntry, findWholeId } from '../model/source-record.ts';
import type { Tlp } from '../model/vocabulary.ts';
import type { ItemCandidate } from './item-candidates.ts';
import type { StoredItem } from './stored-items.store.ts';

/** A change of one item. */
export type ItemAction =
  | { kind: 'add'; candidate: ItemCandidate; generation: number; follows?: string }
  | { kind: 'correct'; stored: StoredItem; candidate: ItemCandidate; cause: 'source' | 'reanalysis' }
  | { kind: 'withdraw'; stored: StoredItem; candidate: ItemCandidate }
  /** The audience changes. The old audience keeps a tombstone without content. */
  | { kind: 'move'; stored: StoredItem; candidate: ItemCandidate; cause: 'source' | 'reanalysis' }
  /** The record was absent from two good pulls, or is a part that the newest version of its record no longer has. */
  | { kind: 'vanish'; stored: StoredItem }
  | RaiseTlpAction;

/** The source's own marking is now stricter than the item's, even if the source no longer lists the record. */
export type RaiseTlpAction = { kind: 'raise-tlp'; stored: StoredItem; tlp: Tlp; poolId: string; isLatest: boolean };

/** The findings of a pull, other than the changes of items. */
export type PullFindings = {
  /** Ids of items whose record is back. */
  returnedIds: string[];
  /** Ids of items whose record is absent for the first time. */
  absentIds: string[];
  /** The number of records in the pull. */
  records: number;
  /** The number of records that the pull did not read, because they did not change. */
  unread: number;
  skipped: SkippedEntry[];
};

/** Counts the source's records, each once. If `error` is set, the pull was not good and changed no item, except if it broke off while it was applied. */
export type PullResult = {
  added: number;
  corrected: number;
  retracted: number;
  unchanged: number;
  skipped: SkippedEntry[];
  error?: string;
};

/** The number of applied actions by what they did to the items of the source. */
export type ActionCounts = Record<'added' | 'corrected' | 'withdrawn' | 'vanished', number>;

export const noActions = (): ActionCounts => ({ added: 0, corrected: 0, withdrawn: 0, vanished: 0 });

/** Adds actions to `counts`. */
export function countActions(counts: ActionCounts, actions: ItemAction[]): void {
  for (const action of actions) {
    if (action.kind === 'add') counts.added += 1;
    if ((action.kind === 'correct' || action.kind === 'move') && action.cause === 'source') counts.corrected += 1;
    if (action.kind === 'withdraw') counts.withdrawn += 1;
    if (action.kind === 'vanish') counts.vanished += 1;
  }
}

/** Returns the result of a pull that applied these actions. */
export function resultOf({ records, unread, skipped }: PullFindings, applied: ActionCounts): PullResult {
  const { added, corrected, withdrawn, vanished } = applied;
  const unchanged = unread + records - added - corrected - withdrawn;
  return { added, corrected, retracted: withdrawn + vanished, unchanged, skipped };
}

export const emptyResult: PullResult = { added: 0, corrected: 0, retracted: 0, unchanged: 0, skipped: [] };

const absentPullsMax = 2;
const missingShareMax = 0.05;

type StoredByRecord = ReadonlyMap<string, StoredItem>;

/** Plans the changes of the items whose records the pull has. */
export const planRecords = (stored: StoredByRecord, candidates: ItemCandidate[]): ItemAction[] =>
  candidates.flatMap((one) => planRecord(one, stored.get(one.record.recordId)) ?? []);

export const toStoredByRecord = (stored: StoredItem[]): StoredByRecord =>
  new Map(stored.map((item) => [item.record_id, item]));

/** Plans a catalog with these records: the others have been removed from the source. */
export const planMissing = (stored: StoredItem[], presentIds: ReadonlySet<string>): MissingPlan =>
  splitMissing(listMissing(stored, presentIds));

/** Plans a good pull whose documents did not change: records that were absent last time are absent again. */
export const planUnchanged = (stored: StoredItem[]): MissingPlan =>
  splitMissing(stored.filter((item) => isLive(item) && item.missing_pulls > 0));

/** Returns the ids of items whose record was absent and is among `presentIds`. */
export const listReturnedIds = (stored: StoredItem[], presentIds: ReadonlySet<string>): string[] =>
  stored.filter((item) => isLive(item) && item.missing_pulls > 0 && presentIds.has(item.record_id)).map(({ id }) => id);

/** Returns whether a catalog lacks so many known rows that it is probably broken. */
export function isMissingTooManyRows(stored: StoredItem[], presentIds: ReadonlySet<string>): boolean {
  const known = stored.filter(isLive).length;
  return known > 0 && listMissing(stored, presentIds).length / known >= missingShareMax;
}

export const isLive = (item: StoredItem): boolean => item.status !== 'retracted';

const listMissing = (stored: StoredItem[], presentIds: ReadonlySet<string>): StoredItem[] =>
  stored.filter((item) => isLive(item) && !presentIds.has(item.record_id));

/** The records of a pull: when the source last changed each, by id, and the ids of all records, whether or not the pull keeps them. */
type PulledRecords = { modifiedAt: ReadonlyMap<string, string | undefined>; presentIds: ReadonlySet<string> };

/** Retracts the parts that the newest version of a large record no longer has. */
export function planLostParts(stored: StoredItem[], { modifiedAt, presentIds }: PulledRecords): ItemAction[] {
  return stored.flatMap((item): ItemAction[] => {
    if (!isLive(item) || presentIds.has(item.record_id)) return [];
    const wholeId = findWholeId(item.record_id) ?? '';
    const isLost = modifiedAt.has(wholeId) && !isOlder(modifiedAt.get(wholeId), item);
    return isLost ? [{ kind: 'vanish', stored: item }] : [];
  });
}

type MissingPlan = { vanished: ItemAction[]; absentIds: string[] };

function splitMissing(missing: StoredItem[]): MissingPlan {
  const isVanished = (item: StoredItem): boolean => item.missing_pulls + 1 >= absentPullsMax;
  return {
    vanished: missing.filter(isVanished).map((stored) => ({ kind: 'vanish', stored })),
    absentIds: missing.filter((item) => !isVanished(item)).map(({ id }) => id),
  };
}

const isOlder = (modifiedAt: string | undefined, { record_modified_at: known }: StoredItem): boolean =>
  known !== null && modifiedAt !== undefined && Date.parse(modifiedAt) < known.getTime();

function planRecord(candidate: ItemCandidate, stored: StoredItem | undefined): ItemAction | undefined {
  const { record } = candidate;
  if (!stored) return { kind: 'add', candidate, generation: 1 };
  if (stored.held_back) return undefined;
  if (stored.status === 'retracted') {
    // A source cannot undo a retraction. A record that returns becomes a new item beside the tombstone.
    const hasVanished = stored.missing_pulls >= absentPullsMax;
    const hasReturned =
      !record.withdrawn &&
      !isOlder(record.modifiedAt, stored) &&
      (hasVanished || candidate.recordHash !== stored.record_hash);
    return hasReturned ? { kind: 'add', candidate, generation: stored.generation + 1, follows: stored.id } : undefined;
  }
  if (isOlder(record.modifiedAt, stored)) return undefined;
  if (record.withdrawn) return { kind: 'withdraw', stored, candidate };
  const cause = candidate.recordHash === stored.record_hash ? 'reanalysis' : 'source';
  if (candidate.poolId !== stored.pool_id) return { kind: 'move', stored, candidate, cause };
  return candidate.contentHash === stored.content_hash ? undefined : { kind: 'correct', stored, candidate, cause };
}
