import type { FeedItem } from '../../../feed/model/item.schema.ts';
import type { LogDataset } from './log-kinds.ts';
import { toProposal, type Proposal } from '../proposal.ts';
import { listTechniqueIds } from '../../../detection/library/library-entry.ts';
import { draftShippedDetection, listReadableDetections } from './shipped-drafts.ts';
import { draftTemplatesFor } from '../templates/compile-template.ts';

/**
 * Proposes detections for an item's techniques whose logs exist: shipped detections for the exact technique, then for its sub-techniques, then
 * query templates for a technique without an exact shipped detection.
 */
export function proposeForTechniques(item: FeedItem, datasets: readonly LogDataset[]): Proposal[] {
  const readable = listReadableDetections(datasets);
  const proposals = item.classification.attack.flatMap((attack) => {
    const id = attack.subTechnique ?? attack.technique;
    const exact = readable.filter((one) => listTechniqueIds(one).includes(id));
    // A report about a parent technique can be about any of its sub-techniques.
    const isParent = attack.subTechnique === undefined;
    const family = isParent
      ? readable.filter((one) => listTechniqueIds(one).some((techniqueId) => techniqueId.startsWith(`${id}.`)))
      : [];
    const drafts = [
      ...exact.map((detection) => ({ rank: 0, draft: draftShippedDetection(detection, id) })),
      ...family.map((detection) => ({ rank: 1, draft: draftShippedDetection(detection, id) })),
      ...(exact.length > 0 ? [] : draftTemplatesFor(id, datasets).map((draft) => ({ rank: 2, draft }))),
    ];
    return drafts.map((one) => ({ ...one, attack, id }));
  });
  return proposals
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ draft, attack, id }) =>
      toProposal(
        draft,
        item,
        `Detects ${id} (${attack.techniqueName}) in ${draft.reads}, a technique reported in`,
        attack.evidenceRef,
      ),
    );
}
