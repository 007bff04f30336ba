import type { SkippedEntry } from '../model/source-record.ts';
import { findWholeId } from '../model/part-id.ts';
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

export type PullPlan = {
  actions: ItemAction[];
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

/** Counts the source's records, each once. If `error` is set, the pull was not good and changed no item. */
export type PullResult = {
  added: number;
  corrected: number;
  retracted: number;
  unchanged: number;
  skipped: SkippedEntry[];
  error?: string;
};

/** Returns the result of a plan of which these actions were applied. */
export function resultOf({ records, unread, skipped }: PullPlan, applied: ItemAction[]): PullResult {
  const count = (matches: (action: ItemAction) => boolean): number => applied.filter(matches).length;
  const added = count(({ kind }) => kind === 'add');
  const corrected = count(
    (action) => (action.kind === 'correct' || action.kind === 'move') && action.cause === 'source',
  );
  const withdrawn = count(({ kind }) => kind === 'withdraw');
  const vanished = count(({ kind }) => kind === 'vanish');
  const unchanged = unread + records - added - corrected - withdrawn;
  return { added, corrected, retracted: withdrawn + vanished, unchanged, skipped };
}

export const emptyResult: PullResult = { added: 0, corrected: 0, retracted: 0, unchanged: 0, skipped: [] };

const absentPullsMax = 2;
const missingShareMax = 0.05;

/** Plans the changes of a pull. */
export function planPull(pull: {
  stored: StoredItem[];
  candidates: ItemCandidate[];
  /** Ids of records that the pull contains but `candidates` does not. */
  presentIds: ReadonlySet<string>;
  /** Whether a record that is neither in `candidates` nor in `presentIds` has been removed from the source. */
  isCatalog: boolean;
  /** The number of records that the source reports as unchanged, which were not fetched. */
  unread: number;
  skipped: SkippedEntry[];
}): PullPlan {
  const { candidates } = pull;
  const presentIds = new Set([...pull.presentIds, ...candidates.map(({ record }) => record.recordId)]);
  const missing = pull.isCatalog ? listMissing(pull.stored, presentIds) : [];
  const returned = pull.stored.filter(
    (item) => isLive(item) && item.missing_pulls > 0 && presentIds.has(item.record_id),
  );
  const { vanished, absentIds } = splitMissing(missing);
  return {
    actions: [
      ...planRecords(pull.stored, candidates),
      ...vanished,
      ...listLostParts(pull.stored, { candidates, presentIds }),
    ],
    returnedIds: returned.map(({ id }) => id),
    absentIds,
    records: candidates.length,
    unread: pull.unread,
    skipped: pull.skipped,
  };
}

/** Plans the changes of the items whose records the pull has. */
export function planRecords(stored: StoredItem[], candidates: ItemCandidate[]): ItemAction[] {
  const storedByRecord = new Map(stored.map((item) => [item.record_id, item]));
  return candidates.flatMap((one) => planRecord(one, storedByRecord.get(one.record.recordId)) ?? []);
}

/** Plans a good pull whose documents did not change: records that were absent last time are absent again. */
export function planUnchangedPull(stored: StoredItem[], records: number): PullPlan {
  const { vanished, absentIds } = splitMissing(stored.filter((item) => isLive(item) && item.missing_pulls > 0));
  return { actions: vanished, returnedIds: [], absentIds, records: 0, unread: records, skipped: [] };
}

/** Returns whether a catalog lacks so many known rows that it is probably broken. */
export function isMissingTooManyRows(stored: StoredItem[], presentIds: ReadonlySet<string>): boolean {
  const known = stored.filter(isLive).length;
  return known > 0 && listMissing(stored, presentIds).length / known >= missingShareMax;
}

export const isLive = (item: StoredItem): boolean => item.status !== 'retracted';

const listMissing = (stored: StoredItem[], presentIds: ReadonlySet<string>): StoredItem[] =>
  stored.filter((item) => isLive(item) && !presentIds.has(item.record_id));

/** Retracts the parts that the newest version of a large record no longer has. */
function listLostParts(
  stored: StoredItem[],
  { candidates, presentIds }: { candidates: ItemCandidate[]; presentIds: ReadonlySet<string> },
): ItemAction[] {
  const wholes = new Map(candidates.map((candidate) => [candidate.record.recordId, candidate]));
  return stored.flatMap((item): ItemAction[] => {
    if (!isLive(item) || presentIds.has(item.record_id)) return [];
    const whole = wholes.get(findWholeId(item.record_id) ?? '');
    return whole && !isOlder(whole, item) ? [{ kind: 'vanish', stored: item }] : [];
  });
}

function splitMissing(missing: StoredItem[]): { vanished: ItemAction[]; absentIds: string[] } {
  const isVanished = (item: StoredItem): boolean => item.missing_pulls + 1 >= absentPullsMax;
  return {
    vanished: missing.filter(isVanished).map((stored) => ({ kind: 'vanish', stored })),
    absentIds: missing.filter((item) => !isVanished(item)).map(({ id }) => id),
  };
}

const isOlder = ({ record: { modifiedAt } }: ItemCandidate, { record_modified_at: known }: StoredItem): boolean =>
  known !== null && modifiedAt !== undefined && Date.parse(modifiedAt) < known.getTime();

function planRecord(candidate: ItemCandidate, stored: StoredItem | undefined): ItemAction | undefined {
  const { record } = candidate;
  if (!stored) return { kind: 'add', candidate, generation: 1 };
  if (stored.held_back) return undefined;
  if (stored.status === 'retracted') {
    // A source cannot undo a retraction. A record that returns becomes a new item beside the tombstone.
    const hasVanished = stored.missing_pulls >= absentPullsMax;
    const hasReturned =
      !record.withdrawn && !isOlder(candidate, stored) && (hasVanished || candidate.recordHash !== stored.record_hash);
    return hasReturned ? { kind: 'add', candidate, generation: stored.generation + 1, follows: stored.id } : undefined;
  }
  if (isOlder(candidate, stored)) return undefined;
  if (record.withdrawn) return { kind: 'withdraw', stored, candidate };
  const cause = candidate.recordHash === stored.record_hash ? 'reanalysis' : 'source';
  if (candidate.poolId !== stored.pool_id) return { kind: 'move', stored, candidate, cause };
  return candidate.contentHash === stored.content_hash ? undefined : { kind: 'correct', stored, candidate, cause };
}
