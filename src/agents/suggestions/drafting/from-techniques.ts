import type { FeedItem } from '../../../feed/model/item.schema.ts';
import type { Dataset } from './log-datasets.ts';
import { withSource, type Proposal } from '../proposal.ts';
import { readableShipped, shippedDraft, techniquesOf } from './shipped-drafts.ts';
import { templatesFor } from '../templates/compile-template.ts';

/**
 * Detections for the techniques that an item names, as far as the organization has the logs they read: shipped ones, exact
 * sub-techniques first, and where there is none the query templates of the technique.
 */
export function fromTechniques(item: FeedItem, datasets: readonly Dataset[]): Proposal[] {
  const readable = readableShipped(datasets);
  const found = item.classification.attack.flatMap((attack) => {
    const id = attack.subTechnique ?? attack.technique;
    const exact = readable.filter((one) => techniquesOf(one).includes(id));
    // A report that names the family only is about any of its members.
    const isFamily = attack.subTechnique === undefined;
    const family = isFamily ? readable.filter((one) => techniquesOf(one).some((own) => own.startsWith(`${id}.`))) : [];
    const drafts = [
      ...exact.map((detection) => ({ rank: 0, draft: shippedDraft(detection, id) })),
      ...family.map((detection) => ({ rank: 1, draft: shippedDraft(detection, id) })),
      ...(exact.length > 0 ? [] : templatesFor(id, datasets).map((draft) => ({ rank: 2, draft }))),
    ];
    return drafts.map((one) => ({ ...one, attack, id }));
  });
  return found
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ draft, attack, id }) =>
      withSource(
        draft,
        item,
        `Finds ${id} (${attack.techniqueName}) in ${draft.reads}, a technique reported in`,
        attack.evidenceRef,
      ),
    );
}
