import type { FeedItem } from '../model/item.schema.ts';
import { roundConfidence } from '../model/source-record.ts';
import { severities } from '../model/vocabulary.ts';

type Mapping = FeedItem['classification']['mappings'][number];
const sharedFrameworks = new Set(['cve', 'cwe']);
const mappingsMax = 1_000;

/**
 * Returns the root's document with the figures of its group (spec/feed.md, "Identity and change"): the highest severity, the combined
 * confidence of all publishers, and the CVEs and CWEs of all members. `members` are the other members' own documents.
 */
export function applyGroupFigures(root: FeedItem, members: FeedItem[]): FeedItem {
  const items = [root, ...members];
  return {
    ...root,
    event: { ...root.event, severity: highestSeverity(items), confidence: combineConfidence(items) },
    classification: { ...root.classification, mappings: mergeMappings(root, members) },
  };
}

/** Raises the severity of an item to that of the exploited-vulnerability catalog entries for the same CVE. */
export function applySeverityFloor(item: FeedItem, exploited: FeedItem[]): FeedItem {
  const sameCve = exploited.filter(({ canonicalKey }) => canonicalKey === item.canonicalKey);
  return { ...item, event: { ...item.event, severity: highestSeverity([item, ...sameCve]) } };
}

const highestSeverity = (items: FeedItem[]): FeedItem['event']['severity'] =>
  items.map(({ event }) => event.severity).reduce((a, b) => (severities.indexOf(a) >= severities.indexOf(b) ? a : b));

/** Returns one minus the probability that all publishers are wrong. Each publisher counts once, with its highest confidence. */
function combineConfidence(items: FeedItem[]): number {
  const byPublisher = new Map<string, number>();
  for (const { source, event } of items) {
    const publisher = source.publisher.normalize('NFC').trim().toLowerCase();
    byPublisher.set(publisher, Math.max(event.confidence, byPublisher.get(publisher) ?? 0));
  }
  return roundConfidence(1 - [...byPublisher.values()].reduce((doubt, confidence) => doubt * (1 - confidence), 1));
}

function mergeMappings(root: FeedItem, members: FeedItem[]): Mapping[] {
  const mappings = new Map(root.classification.mappings.map((mapping) => [nameOf(mapping), mapping]));
  const added = members
    .flatMap(({ classification }) => classification.mappings.filter(({ framework }) => sharedFrameworks.has(framework)))
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  for (const mapping of added) {
    const existing = mappings.get(nameOf(mapping));
    if (!existing && mappings.size >= mappingsMax) continue;
    mappings.set(nameOf(mapping), existing && existing.confidence >= mapping.confidence ? existing : mapping);
  }
  return [...mappings.values()];
}

const nameOf = ({ framework, id }: Mapping): string => `${framework} ${id}`;
