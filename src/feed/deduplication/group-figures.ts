import type { FeedItem } from '../model/item.schema.ts';
import { severities } from '../model/vocabulary.ts';
import { confidence } from '../model/source-record.ts';

type Mapping = FeedItem['classification']['mappings'][number];
const shared = new Set(['cve', 'cwe']);
const mappingsMax = 1_000;

/**
 * The root's document with the figures of its group (spec/feed.md, "Identity and change"): the worst severity, the confidence of all
 * publishers together, the CVEs and CWEs of all. `members` are the documents of the others, each by itself.
 */
export function withFigures(root: FeedItem, members: FeedItem[]): FeedItem {
  const all = [root, ...members];
  return {
    ...root,
    event: {
      ...root.event,
      severity: worstOf(all),
      confidence: corroborated(all),
    },
    classification: { ...root.classification, mappings: mappingsOf(root, members) },
  };
}

/** A document with the floor of its own CVE: no lower than what the catalogues of exploited vulnerabilities among `listed` say of it. */
export function withFloor(item: FeedItem, listed: FeedItem[]): FeedItem {
  const same = listed.filter(({ canonicalKey }) => canonicalKey === item.canonicalKey);
  return { ...item, event: { ...item.event, severity: worstOf([item, ...same]) } };
}

const worstOf = (items: FeedItem[]): FeedItem['event']['severity'] =>
  items.map(({ event }) => event.severity).reduce((a, b) => (severities.indexOf(a) >= severities.indexOf(b) ? a : b));

/** One minus the chance that every publisher is wrong; two items of one publisher count as its surer one. */
function corroborated(items: FeedItem[]): number {
  const byPublisher = new Map<string, number>();
  for (const { source, event } of items) {
    const publisher = source.publisher.normalize('NFC').trim().toLowerCase();
    byPublisher.set(publisher, Math.max(event.confidence, byPublisher.get(publisher) ?? 0));
  }
  return confidence(1 - [...byPublisher.values()].reduce((doubt, sure) => doubt * (1 - sure), 1));
}

function mappingsOf(root: FeedItem, members: FeedItem[]): Mapping[] {
  const mappings = new Map(root.classification.mappings.map((mapping) => [nameOf(mapping), mapping]));
  const added = members
    .flatMap(({ classification }) => classification.mappings.filter(({ framework }) => shared.has(framework)))
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  for (const mapping of added) {
    const known = mappings.get(nameOf(mapping));
    if (!known && mappings.size >= mappingsMax) continue;
    mappings.set(nameOf(mapping), known && known.confidence >= mapping.confidence ? known : mapping);
  }
  return [...mappings.values()];
}

const nameOf = ({ framework, id }: Mapping): string => `${framework} ${id}`;
