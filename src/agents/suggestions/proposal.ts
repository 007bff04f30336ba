import type { Evidence } from '../../detection/detections/record/detection.schema.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import type { Draft } from './draft.ts';

/** A draft, and the report that asks for it. */
export type Proposal = Draft & { rationale: string; sourceItemIds: string[]; evidence: Evidence[] };

const passageMax = 500;

/** Where a suggestion comes from, in words and as a reference: the item, what it says, and the passage. */
export function withSource(draft: Draft, item: FeedItem, reason: string, evidenceRef?: string): Proposal {
  const passage = evidenceRef === undefined ? undefined : passageOf(item, evidenceRef);
  const quoted = passage === undefined ? '' : ` It says: “${[...passage].slice(0, passageMax).join('')}”`;
  return {
    ...draft,
    rationale: `${reason} “${item.event.title}” (${item.source.publisher}).${quoted}`,
    sourceItemIds: [item.id],
    evidence: passage === undefined ? [] : [{ itemId: item.id, evidenceRef: evidenceRef! }],
  };
}

function passageOf(item: FeedItem, evidenceRef: string): string | undefined {
  const index = /\[(\d+)\]$/.exec(evidenceRef)?.[1];
  return index === undefined ? undefined : item.provenance.supportingPassages[Number(index)]?.text;
}
