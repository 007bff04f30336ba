import type { Tx } from '../../../platform/db/db.ts';
import type { FeedItem } from '../../model/item.schema.ts';
import { buckets } from '../../model/vocabulary.ts';
import type { FullTextQuery } from '../search/search-query.ts';
import { marks, readHeadlines, type Headlines, type HighlightedText } from './headlines.store.ts';
import type { ItemHighlight, ItemHighlights } from '../../model/item-highlights.ts';

/** A document with very many indicators would take longer to read than the rest of the page. */
const documentMaxChars = 1_000_000;
const indicatorsMaxChars = 20_000;
const indicatorsMax = 3;

/** Returns where the items of a page match a search, by item ID. Items that match elsewhere, such as by their ID in the source, are left out. */
export async function highlightItems(tx: Tx, docs: string[], query: FullTextQuery): Promise<ItemHighlights> {
  const items = docs.filter((doc) => doc.length <= documentMaxChars).map(toHighlightedText);
  const found = await readHeadlines(tx, items, query);
  const byId = new Map(items.map((item) => [item.id, item]));
  const highlights = found.map((row) => [row.id, toHighlights(row, byId.get(row.id)!)] as const);
  return Object.fromEntries(highlights.filter(([, list]) => list.length > 0));
}

function toHighlightedText(doc: string): HighlightedText {
  const { id, version = 1, event, summary = '', iocs } = JSON.parse(doc) as FeedItem;
  const values = buckets.flatMap((bucket) => iocs[bucket].map(({ normalizedValue }) => normalizedValue));
  return { id, version, title: event.title, summary, indicators: values.join('\n').slice(0, indicatorsMaxChars) };
}

function toHighlights({ title, summary, text, indicators }: Headlines, item: HighlightedText): ItemHighlight[] {
  const titles = toExcerpts('title', title).filter((one) => textOf(one) === item.title);
  const summaries = toExcerpts('summary', summary);
  const isRepeated = (one: ItemHighlight): boolean =>
    [item.title, item.summary].some((known) => known.includes(textOf(one)));
  const texts = toExcerpts('text', text).filter((one) => !isRepeated(one));
  const found = [...titles, ...summaries, ...texts];
  return found.length > 0
    ? found
    : toExcerpts('indicator', (indicators ?? '').replaceAll('\n', marks.next)).slice(0, indicatorsMax);
}

/** Splits a headline into its excerpts. Those without a match are left out. */
const toExcerpts = (field: ItemHighlight['field'], headline: string | null): ItemHighlight[] =>
  (headline ?? '')
    .split(marks.next)
    .filter((excerpt) => excerpt.includes(marks.start))
    .map((excerpt) => ({ field, segments: toSegments(field === 'title' ? excerpt : excerpt.trim()) }));

function toSegments(excerpt: string): ItemHighlight['segments'] {
  const segments: ItemHighlight['segments'] = [];
  for (const part of excerpt.split(marks.start)) {
    const end = part.indexOf(marks.stop);
    if (end > 0) segments.push({ text: part.slice(0, end), isMatch: true });
    const rest = part.slice(end + 1);
    if (rest !== '') segments.push({ text: rest, isMatch: false });
  }
  return segments;
}

const textOf = ({ segments }: ItemHighlight): string => segments.map(({ text }) => text).join('');
