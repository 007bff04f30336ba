import { builtinDetections } from '../detections/builtin/registry.ts';
import type { BuiltinDetection } from '../detections/builtin/builtin.ts';
import { bodyOf, testsOf } from '../detections/builtin/portable.ts';
import type { FeedItem } from '../feed/schema.ts';
import { rationaleOf, type Dataset, type Proposal } from './proposal.ts';

const shipped: BuiltinDetection[] = Object.values(builtinDetections);

/** Shipped detections for the techniques that an item names, exact sub-techniques first, as far as the organization has the logs they read. */
export function fromTechniques(item: FeedItem, datasets: readonly Dataset[]): Proposal[] {
  const names = new Set(datasets.map(({ name }) => name));
  const readable = shipped.filter((one) => [one.dataset, ...(one.alsoReads ?? [])].every((name) => names.has(name)));
  const matches = item.classification.attack.flatMap((attack) => {
    const id = (attack.subTechnique ?? attack.technique).toLowerCase();
    return readable.flatMap((detection) => {
      const tags = detection.tags.filter((tag) => tag.startsWith('attack.')).map((tag) => tag.slice('attack.'.length));
      const isExact = tags.includes(id);
      // A report that names the family only is about any of its members.
      const isFamily = attack.subTechnique === undefined && tags.some((tag) => tag.startsWith(`${id}.`));
      return isExact || isFamily ? [{ attack, detection, rank: isExact ? 0 : 1 }] : [];
    });
  });
  return matches
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ attack, detection }) => proposalOf(item, attack, detection));
}

function proposalOf(
  item: FeedItem,
  attack: FeedItem['classification']['attack'][number],
  detection: BuiltinDetection,
): Proposal {
  const technique = `${attack.subTechnique ?? attack.technique} (${attack.techniqueName})`;
  const index = /\[(\d+)\]$/.exec(attack.evidenceRef)?.[1];
  const passage = index === undefined ? undefined : item.provenance.supportingPassages[Number(index)]?.text;
  return {
    ...bodyOf(detection),
    tests: testsOf(detection),
    rationale: rationaleOf(item, `Finds ${technique} in ${detection.dataset}, a technique reported in`, passage),
    sourceItemIds: [item.id],
  };
}
