import { createHash } from 'node:crypto';
import type { FeedItem } from '../../model/item.schema.ts';
import { buckets } from '../../model/vocabulary.ts';
import type { Part, SourceRecord } from '../../model/source-record.ts';

/** The parts of an item whose change makes a version (spec/feed.md, "version"), each as one comparable text. */
function contentOf(item: FeedItem, storedText: string): Record<string, string> {
  const { event, source, iocs } = item;
  const values = buckets.flatMap((bucket) =>
    iocs[bucket].map(({ type, normalizedValue }) => `${type} ${normalizedValue}`),
  );
  return {
    storedText: storedText.normalize('NFC').replaceAll(/\s+/g, ' ').trim(),
    title: event.title,
    severity: event.severity,
    indicators: values.toSorted().join('\n'),
    classification: JSON.stringify(item.classification),
    affectedProducts: JSON.stringify(item.affectedProducts),
    publisher: source.publisher,
    tlp: source.tlp,
    // Corrected is what a change leads to, not a change.
    status: event.status === 'retracted' ? 'retracted' : 'live',
  };
}

export function contentHash(item: FeedItem, storedText: string): string {
  return sha256(JSON.stringify(contentOf(item, storedText)));
}

/** Names of the parts that differ between two versions. */
export function changedParts(
  before: { item: FeedItem; storedText: string },
  after: { item: FeedItem; storedText: string },
): string[] {
  const [old, now] = [contentOf(before.item, before.storedText), contentOf(after.item, after.storedText)];
  return Object.keys(now).filter((name) => old[name] !== now[name]);
}

/** Of what the source itself said, whatever this program makes of it. */
export function recordHash(record: SourceRecord): string {
  const text = record.storedText.normalize('NFC').replaceAll(/\s+/g, ' ').trim();
  return sha256(JSON.stringify([text, record.withdrawn, record.tlp ?? null, record.publisher ?? null]));
}

export function bytesHash(parts: Part[]): string {
  const hash = createHash('sha256');
  for (const { name, bytes } of parts) hash.update(`${parts.length > 1 ? name : ''}\n${bytes.length}\n`).update(bytes);
  return hash.digest('hex');
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
