import type { FeedItem } from '../feed/schema.ts';
import type { CreateSuggestion } from '../detections/input.ts';
import type { TestSet } from '../detections/test-schema.ts';

/** A dataset of the organization's log store, with its columns; those inside objects by dotted names. */
export type Dataset = { name: string; columns: readonly { name: string }[] };

/** A suggestion in the making; `tests`: what proves it. */
export type Proposal = CreateSuggestion & { detectionQuery: string; tests?: TestSet };

const passageMax = 500;

/** Where a suggestion comes from, in words: the item, what it says, and the passage. */
export function rationaleOf(item: FeedItem, reason: string, passage: string | undefined): string {
  const quoted = passage === undefined ? '' : ` It says: “${[...passage].slice(0, passageMax).join('')}”`;
  return `${reason} “${item.event.title}” (${item.source.publisher}).${quoted}`;
}
