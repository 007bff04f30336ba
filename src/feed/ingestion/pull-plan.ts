import type { Tlp } from '../model/vocabulary.ts';
import type { Skipped, SourceRecord } from '../model/source-record.ts';

/** An item that the feed holds of a source: the latest generation of its record. */
export type HeldItem = {
  id: string;
  record_id: string;
  generation: number;
  status: 'active' | 'corrected' | 'retracted';
  version: number;
  content_hash: string;
  record_hash: string;
  record_modified_at: Date | null;
  missing_pulls: number;
  /** A person took it back: its source says nothing of it any more until the person takes that back. */
  held_back: boolean;
  pool_id: string;
  severity: string;
  publisher: string;
  source_name: string;
  platforms: string[];
  created_at: Date;
  added_to_feed_at: Date;
};

/** A record with what the feed would make of it. */
export type Candidate = { record: SourceRecord; recordHash: string; contentHash: string; poolId: string };

export type Action =
  | { kind: 'add'; candidate: Candidate; generation: number; follows?: string }
  | { kind: 'correct'; held: HeldItem; candidate: Candidate; cause: 'source' | 'reanalysis' }
  | { kind: 'withdraw'; held: HeldItem; candidate: Candidate }
  /** The audience changes: a tombstone without content stays for the old one. */
  | { kind: 'move'; held: HeldItem; candidate: Candidate; cause: 'source' | 'reanalysis' }
  /** Absent from two good pulls. */
  | { kind: 'vanish'; held: HeldItem }
  | Tighten;

/** The source's own marking is stricter now than what the item has, whether the source still holds it or not. */
export type Tighten = { kind: 'tighten'; held: HeldItem; tlp: Tlp; poolId: string; isLatest: boolean };

export type Plan = {
  actions: Action[];
  /** Ids of items whose record is back, and of those absent for the first time. */
  back: string[];
  absent: string[];
  /** How many records the pull held. */
  records: number;
  result: PullResult;
};

/** Records of the source itself, each counted once. `error` says why a pull was not good; it then changed nothing. */
export type PullResult = {
  added: number;
  corrected: number;
  retracted: number;
  unchanged: number;
  skipped: Skipped[];
  error?: string;
};

const absentPullsMax = 2;
const lacksShareMax = 0.05;

/** What a pull changes. `catalogue` says that a record absent from `candidates` and `present` is gone from the source. */
export function planPull(given: {
  held: HeldItem[];
  candidates: Candidate[];
  present: ReadonlySet<string>;
  catalogue: boolean;
  /** Records that the source says have not changed; they were not read. */
  unread: number;
  skipped: Skipped[];
}): Plan {
  const { candidates, catalogue } = given;
  const held = new Map(given.held.map((item) => [item.record_id, item]));
  const actions: Action[] = [];
  for (const candidate of candidates) {
    const action = actionFor(candidate, held.get(candidate.record.recordId));
    if (action) actions.push(action);
  }
  const seen = new Set([...given.present, ...candidates.map(({ record }) => record.recordId)]);
  const missing = catalogue ? missingOf(given.held, seen) : [];
  const back = given.held.filter((item) => isLive(item) && item.missing_pulls > 0 && seen.has(item.record_id));
  const { vanished, absent } = ageMissing(missing);
  actions.push(...vanished);
  const result = countResult(actions, candidates.length, given.skipped);
  return {
    actions,
    back: back.map(({ id }) => id),
    absent,
    records: candidates.length,
    result: { ...result, unchanged: result.unchanged + given.unread },
  };
}

/** What a repeated good pull changes: what lacked last time lacks again. */
export function planRepeat(held: HeldItem[], records: number): Plan {
  const { vanished, absent } = ageMissing(held.filter((item) => isLive(item) && item.missing_pulls > 0));
  return {
    actions: vanished,
    back: [],
    absent,
    records,
    result: { ...countResult(vanished, 0, []), unchanged: records },
  };
}

/** Whether a catalogue lacks so many known rows that it is not to be believed. */
export function lacksTooMany(held: HeldItem[], seen: ReadonlySet<string>): boolean {
  const known = held.filter(isLive).length;
  return known > 0 && missingOf(held, seen).length / known >= lacksShareMax;
}

const isLive = (item: HeldItem): boolean => item.status !== 'retracted';

const missingOf = (held: HeldItem[], seen: ReadonlySet<string>): HeldItem[] =>
  held.filter((item) => isLive(item) && !seen.has(item.record_id));

function ageMissing(missing: HeldItem[]): { vanished: Action[]; absent: string[] } {
  const isGone = (item: HeldItem): boolean => item.missing_pulls + 1 >= absentPullsMax;
  return {
    vanished: missing.filter(isGone).map((item) => ({ kind: 'vanish', held: item })),
    absent: missing.filter((item) => !isGone(item)).map(({ id }) => id),
  };
}

function actionFor(candidate: Candidate, held: HeldItem | undefined): Action | undefined {
  const { record } = candidate;
  if (!held) return { kind: 'add', candidate, generation: 1 };
  const isOlder =
    held.record_modified_at !== null &&
    record.modifiedAt !== undefined &&
    Date.parse(record.modifiedAt) < held.record_modified_at.getTime();
  if (held.held_back) return undefined;
  if (held.status === 'retracted') {
    // Retracted is final for machines: a record that returns is a new item beside the tombstone.
    const vanished = held.missing_pulls >= absentPullsMax;
    const returns = !record.withdrawn && !isOlder && (vanished || candidate.recordHash !== held.record_hash);
    return returns ? { kind: 'add', candidate, generation: held.generation + 1, follows: held.id } : undefined;
  }
  if (isOlder) return undefined;
  if (record.withdrawn) return { kind: 'withdraw', held, candidate };
  const cause = candidate.recordHash === held.record_hash ? 'reanalysis' : 'source';
  if (candidate.poolId !== held.pool_id) return { kind: 'move', held, candidate, cause };
  return candidate.contentHash === held.content_hash ? undefined : { kind: 'correct', held, candidate, cause };
}

function countResult(actions: Action[], records: number, skipped: Skipped[]): PullResult {
  const count = (fits: (action: Action) => boolean): number => actions.filter(fits).length;
  const added = count(({ kind }) => kind === 'add');
  const corrected = count(
    (action) => (action.kind === 'correct' || action.kind === 'move') && action.cause === 'source',
  );
  const withdrawn = count(({ kind }) => kind === 'withdraw');
  const vanished = count(({ kind }) => kind === 'vanish');
  return {
    added,
    corrected,
    retracted: withdrawn + vanished,
    unchanged: records - added - corrected - withdrawn,
    skipped,
  };
}
