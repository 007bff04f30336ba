import { asObject, asTexts, parseJsonBytes, ownValue } from '../../../platform/lib/json/json-values.ts';
import type { SkippedEntry } from '../../model/source-record.ts';
import type { DigestInput } from '../fetch-session.ts';
import { identifyEntries, sha256, type IdentifiedEntry } from './read-feed.ts';

/** The stored state of a feed: the state of each entry that was read, and the keys of the entries that failed, in the order of their retries. */
export type FeedState = { seen?: Record<string, string> | undefined; failed?: string[] | undefined };

/** The entries of a feed that a pull reads. */
export type EntrySelection = {
  batch: IdentifiedEntry[];
  /** Whether the pages of the entries are read. Of a very large feed, its own texts are. */
  hasPages: boolean;
  /** The known states of the entries that are still in the feed. */
  seen: Record<string, string>;
  unchanged: number;
  /** Whether the feed has more new or changed entries than the batch, without those that failed before. */
  hasMore: boolean;
  /** These entries. Undefined if they are too large to be kept for the next pull. */
  rest: IdentifiedEntry[] | undefined;
  /** The keys of entries that failed before and are not in the batch. */
  failed: string[];
  skipped: SkippedEntry[];
  /** When a page is due although the feed does not change, as ISO text. */
  quietUntil: string;
};

/** A larger feed leaves no room for its pages. */
const feedWithPagesMaxBytes = 32 * 1024 * 1024;
/** One pull reads as many entries and as much of their text. The next one, a minute later, continues. */
const batchEntriesMax = 200;
const batchWithoutPagesMax = 2_000;
const batchMaxChars = 16_000_000;
/** Pages are fetched again daily for this long, because they are often corrected. Later only a change in the feed causes it. */
const rereadDays = 7;
const dayMs = 86_400_000;

/** Returns the state of a feed as the second document of `selectEntries`. */
export const packFeedState = (state: FeedState, now: Date): DigestInput => ({
  bytes: Buffer.from(JSON.stringify({ ...state, now: now.getTime() })),
  url: '',
  contentType: 'application/json',
});

/** Selects the new, changed and due entries of a feed. Those that failed before come last. */
export function selectEntries(feed: DigestInput, packedState: DigestInput): EntrySelection {
  const state = asObject(parseJsonBytes(packedState.bytes));
  const known = asObject(state['seen']) as Record<string, string>;
  const failed = new Set(asTexts(state['failed']));
  const hasPages = feed.bytes.length <= feedWithPagesMaxBytes;
  const entriesMax = hasPages ? batchEntriesMax : batchWithoutPagesMax;
  const retryable = new Set([...failed].slice(0, entriesMax));
  const now = new Date(Number(state['now']));
  const [fresh, retried] = [createBatch(entriesMax), createBatch(entriesMax)];
  const left = new Set<string>();
  const seen: Record<string, string> = {};
  let unchanged = 0;
  let quietMs = now.getTime() + rereadDays * dayMs;
  const skipped = identifyEntries(feed, (entry) => {
    const key = toStateKey(entry.recordId);
    const before = ownValue(known, key);
    if (before !== undefined) seen[key] = before;
    if (before === toState(entry, now)) unchanged += 1;
    else if (!failed.has(key)) fresh.add(entry);
    else {
      left.add(key);
      if (retryable.has(key)) retried.add(entry);
    }
    const days = countDays(entry, now);
    if (days < rereadDays) quietMs = Math.min(quietMs, Date.parse(entry.published!) + (days + 1) * dayMs);
  });
  const batch = [...fresh.entries, ...retried.entries].slice(0, entriesMax);
  for (const { recordId } of batch) left.delete(toStateKey(recordId));
  return {
    batch,
    hasPages,
    seen,
    unchanged,
    hasMore: fresh.isFull(),
    rest: fresh.rest(),
    failed: [...failed].filter((key) => left.has(key)),
    skipped,
    quietUntil: new Date(quietMs).toISOString(),
  };
}

/** Selects entries that an earlier pull kept. */
export function selectKeptEntries(kept: KeptEntries, state: FeedState): EntrySelection {
  const { hasPages, quietUntil } = kept;
  const batch = createBatch(hasPages ? batchEntriesMax : batchWithoutPagesMax);
  for (const entry of kept.entries) batch.add(entry);
  const { seen = {}, failed = [] } = state;
  const unchanged = Object.keys(seen).length;
  const { entries } = batch;
  return {
    batch: entries,
    hasPages,
    seen,
    unchanged,
    hasMore: batch.isFull(),
    rest: batch.rest(),
    failed,
    skipped: [],
    quietUntil,
  };
}

type Batch = {
  entries: IdentifiedEntry[];
  add: (entry: IdentifiedEntry) => void;
  isFull: () => boolean;
  /** The entries beyond the bounds. Undefined if they are too large to be kept. */
  rest: () => IdentifiedEntry[] | undefined;
};

/** Collects entries up to the bounds of a batch. */
function createBatch(entriesMax: number): Batch {
  const entries: IdentifiedEntry[] = [];
  const rest: IdentifiedEntry[] = [];
  let [chars, restChars, isFull] = [0, 0, false];
  return {
    entries,
    add(entry) {
      isFull ||= entries.length >= entriesMax || chars >= batchMaxChars;
      if (!isFull) {
        entries.push(entry);
        chars += (entry.content?.length ?? 0) + (entry.summary?.length ?? 0);
        return;
      }
      restChars += countChars(entry);
      if (restChars <= keptMaxChars) rest.push(entry);
    },
    isFull: () => isFull,
    rest: () => (restChars <= keptMaxChars ? rest : undefined),
  };
}

/** The key of an entry in the states of a feed, short because a feed may have many. */
export const toStateKey = (recordId: string): string => sha256(recordId).slice(0, 20);

/** Returns the hash of the entry in the feed and the number of daily fetches that are due. */
export const toState = (entry: IdentifiedEntry, now: Date): string =>
  `${entry.hash.slice(0, 20)} ${countDays(entry, now)}`;

function countDays({ published }: IdentifiedEntry, now: Date): number {
  const days = published ? Math.floor((now.getTime() - Date.parse(published)) / dayMs) : rereadDays;
  return Math.max(0, Math.min(rereadDays, days));
}

/** Entries of a downloaded feed that no pull has read yet, with the metadata of the feed's response. */
export type KeptEntries = {
  entries: IdentifiedEntry[];
  hasPages: boolean;
  /** The time of the download, as ISO text. */
  downloadedAt: string;
  quietUntil: string;
  etag: string | undefined;
  lastModified: string | undefined;
};

/** They are stored with the source, so more are not kept: the next pull downloads the feed again. */
export const keptMaxChars = 4_000_000;
// The pulls that read them follow each other every minute. After a longer pause, the feed itself is fetched again.
const keptMs = 3_600_000;

/** Returns the approximate size of an entry in characters. */
const countChars = ({ recordId, title, link, content, summary }: IdentifiedEntry): number =>
  [recordId, title, link, content, summary].reduce((sum, text) => sum + (text?.length ?? 0), 200);

// PostgreSQL reads the JSON that they are stored in, but not these characters.
const unreadable = /\\u(?:0000|d[89a-f])/;

/** Returns the entries to keep for the next pull, or undefined if there are none, they are too large, or they cannot be stored. */
export function keepEntries(kept: KeptEntries): KeptEntries | undefined {
  if (kept.entries.length === 0) return undefined;
  const text = JSON.stringify(kept);
  return text.length <= keptMaxChars && !unreadable.test(text) ? kept : undefined;
}

/** Returns whether the download is recent enough to use instead of the feed. */
export const areCurrent = ({ downloadedAt }: KeptEntries, now: Date): boolean =>
  now.getTime() - Date.parse(downloadedAt) < keptMs;
