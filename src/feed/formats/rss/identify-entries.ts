import { createHash } from 'node:crypto';
import { toStorableText } from '../../../platform/lib/text/bounded-text.ts';
import type { SkippedEntry } from '../../model/source-record.ts';
import type { DigestInput } from '../fetch-session.ts';
import type { FeedEntry } from './feed-entry.ts';
import { scanFeed } from './read-feed.ts';

/** An entry with its id in the source. `hash` changes with its text. */
export type IdentifiedEntry = FeedEntry & { recordId: string; hash: string };

export const idMaxChars = 500;
const skippedMax = 500;

/** Passes on the entries of a feed, of several with the same id only the first. Returns the entries that were skipped. */
export function identifyEntries(
  document: Pick<DigestInput, 'bytes'> & Partial<DigestInput>,
  onEntry: (entry: IdentifiedEntry) => void,
): SkippedEntry[] {
  const skipped: SkippedEntry[] = [];
  const seen = new Set<string>();
  let unlisted = 0;
  const skip = (entry: string, reason: string): void => {
    if (skipped.length < skippedMax) skipped.push({ entry, reason });
    else unlisted += 1;
  };
  const { omitted } = scanFeed(document, (entry) => {
    const hash = hashEntry(entry);
    const id = toStorableText(entry.id ?? entry.link ?? hash);
    const recordId = id.length > idMaxChars ? sha256(id) : id;
    if (seen.has(recordId)) skip(recordId, 'occurs in the feed more than once');
    else if (!entry.title && !entry.link && !entry.content && !entry.summary) skip(recordId, 'is empty');
    else {
      seen.add(recordId);
      onEntry({ ...entry, recordId, hash });
    }
  });
  if (unlisted > 0) skipped.push({ entry: `${unlisted} entries`, reason: 'are empty or occur more than once' });
  if (omitted > 0) skipped.push({ entry: `${omitted} entries`, reason: 'the feed exceeds the entry limit' });
  return skipped;
}

const hashEntry = ({ id, link, title, published, updated, content, summary }: FeedEntry): string =>
  sha256(JSON.stringify([id, link, title, published, updated, content, summary]));

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
