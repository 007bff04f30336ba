import { extractItem } from '../../../src/feed/extraction/extract-item.ts';
import { findRelationships, type Relationship } from '../../../src/feed/exports/relationships/find-relationships.ts';
import type { FeedItem } from '../../../src/feed/model/item.schema.ts';

/** Extracts an item from a text like a pull, and returns the relationships that the text states. */
export const readRelationships = (text: string, title = 'A report'): Relationship[] =>
  findRelationships(...extractFrom(text, title));

/** Lists the relationships that a text states as `source type target`. */
export const listRelationships = (text: string, title?: string): string[] =>
  readRelationships(text, title).map(
    ({ type, source, target }) => `${source.name.replace(/^\w+ /, '')} ${type} ${target.name}`,
  );

/** Extracts an item from a text. Returns it with the text that it stores. */
export function extractFrom(text: string, title = 'A report'): [FeedItem, string] {
  const { storedText, passages, severity, language, ...content } = extractItem({ text, title });
  const supportingPassages = passages.map((charSpan) => ({
    text: storedText.slice(charSpan.start, charSpan.end),
    sourceUrl: '',
    charSpan,
  }));
  const item = { ...content, source: { language }, event: { title, severity }, provenance: { supportingPassages } };
  return [item as unknown as FeedItem, storedText];
}

export const withoutTechniques = (list: string[]): string[] => list.filter((one) => !/ T\d{4}/.test(one));
