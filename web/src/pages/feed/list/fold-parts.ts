import type { FeedItem } from '../../../api/feed.ts';
import { severityOf, statusOf } from '../item-fields.ts';

/** A row of the list: an item, or the neighboring parts of one long document. */
export type FeedEntry = {
  /** The id of its first item in the list. */
  id: string;
  /** Parts are in the order of the document. */
  items: FeedItem[];
  /** The title of the document and the number of its parts, of which some may be elsewhere or not loaded. */
  document?: { title: string; count: number };
};

/** Long lists, reports and events become items with titles such as `Block list (3 of 512)`. */
const partTitle = /^(.*) \((\d+) of (\d+)\)$/s;

type Part = { title: string; number: number; count: number };

/** Returns which part of a document an item is, by its title. */
export function readPart({ event }: FeedItem): Part | undefined {
  const [, title, number, count] = partTitle.exec(event.title) ?? [];
  return title === undefined ? undefined : { title, number: Number(number), count: Number(count) };
}

const keyOf = (item: FeedItem, { title, count }: Part): string =>
  [item.source.name, item.source.publisher, title, count, severityOf(item), statusOf(item)].join('\n');

/** Folds neighboring parts of one document into one entry. A part without such a neighbor stays as it is. */
export function foldParts(items: readonly FeedItem[]): FeedEntry[] {
  const entries: FeedEntry[] = [];
  let lastKey: string | undefined;
  for (const item of items) {
    const part = readPart(item);
    const key = part && keyOf(item, part);
    const last = entries.at(-1);
    if (part && last && key === lastKey) {
      last.document = { title: part.title, count: part.count };
      last.items.push(item);
    } else entries.push({ id: item.id, items: [item] });
    lastKey = key;
  }
  for (const { document, items: parts } of entries)
    if (document) parts.sort((a, b) => readPart(a)!.number - readPart(b)!.number);
  return entries;
}

/** Further parts of a document that has so many are loaded only on demand, because each has up to thousands of values. */
const partsLoaded = 100;

/** Returns whether many parts of the document are loaded and others are not. */
export const isLongDocument = (entry: FeedEntry | undefined): boolean =>
  entry?.document !== undefined && entry.items.length >= partsLoaded && entry.items.length < entry.document.count;
