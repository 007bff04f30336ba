import type { IdentifiedEntry } from './identify-entries.ts';

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
export const countChars = ({ recordId, title, link, content, summary }: IdentifiedEntry): number =>
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
