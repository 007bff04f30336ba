import type { CreateDetection } from '../../detection/detections/record/detection-input.schema.ts';
import type { TestCase } from '../../detection/detections/test-cases.schema.ts';
import type { Evidence } from '../../detection/detections/record/detection.schema.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';

/** The kinds of source that a draft is built from. */
export const draftBases = ['shipped', 'template', 'indicators', 'model'] as const;
type DraftBasis = { kind: (typeof draftBases)[number]; id: string };

/** A detection that can be suggested. */
export type DetectionDraft = {
  /** Identifies duplicates: two drafts with the same key count as the same suggestion, whatever their text. */
  key: string;
  basis: DraftBasis;
  technique: string | null;
  /** The data that the query reads, for display. */
  reads: string;
  body: CreateDetection;
  tests: TestCase[];
};

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
