import type { Evidence } from '../../detection/detections/record/detection.schema.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import type { DetectionDraft } from './draft.ts';

/** A draft with the reason for suggesting it and the feed items behind it. */
export type Proposal = DetectionDraft & { rationale: string; sourceItemIds: string[]; evidence: Evidence[] };

const passageMaxChars = 500;

/** Adds the rationale to a draft: the reason, the item's title and publisher, and the cited passage with its reference. */
export function toProposal(draft: DetectionDraft, item: FeedItem, reason: string, evidenceRef?: string): Proposal {
  const passage = evidenceRef === undefined ? undefined : findPassage(item, evidenceRef);
  const quoted = passage === undefined ? '' : ` It says: “${[...passage].slice(0, passageMaxChars).join('')}”`;
  return {
    ...draft,
    rationale: `${reason} “${item.event.title}” (${item.source.publisher}).${quoted}`,
    sourceItemIds: [item.id],
    evidence: passage === undefined ? [] : [{ itemId: item.id, evidenceRef: evidenceRef! }],
  };
}

function findPassage(item: FeedItem, evidenceRef: string): string | undefined {
  const index = /\[(\d+)\]$/.exec(evidenceRef)?.[1];
  return index === undefined ? undefined : item.provenance.supportingPassages[Number(index)]?.text;
}
