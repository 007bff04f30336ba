import type { Tx } from '../../platform/db/db.ts';
import type { FeedItem, ItemHighlight, ItemHighlights } from '../model/item.schema.ts';
import { buckets } from '../model/vocabulary.ts';
import { replaceTypographic } from './search-terms/characters.ts';
import type { FullTextQuery } from './search-terms/search-query.ts';
import { listNames } from './search-terms/search-text.ts';
import { type Headlines, type HighlightedText, marks, passageChars, readHeadlines } from './items.store.ts';

/** A document with very many indicators would take longer to read than the rest of the page. */
const documentMaxChars = 1_000_000;
const listMaxChars = 20_000;
const linesMax = 3;

/** Returns where the items of a page match a search, by item ID. Items that match elsewhere, such as by their ID in the source, are left out. */
export async function highlightItems(tx: Tx, docs: string[], query: FullTextQuery): Promise<ItemHighlights> {
  const items = docs.filter((doc) => doc.length <= documentMaxChars).map(toHighlightedText);
  const found = await readHeadlines(tx, items, query);
  const byId = new Map(items.map((item) => [item.id, item]));
  const highlights = found.map((row) => {
    const item = byId.get(row.id)!;
    return [row.id, toHighlights(markRuns(restore(row, item), item, query.runs), item)] as const;
  });
  return Object.fromEntries(highlights.filter(([, list]) => list.length > 0));
}

function toHighlightedText(doc: string): HighlightedText {
  const item = JSON.parse(doc) as FeedItem;
  const { id, version = 1, event, summary = '', iocs } = item;
  const values = buckets.flatMap((bucket) => iocs[bucket].map(({ normalizedValue }) => normalizedValue));
  const toList = (lines: string[]): string => lines.join('\n').slice(0, listMaxChars);
  return { id, version, title: event.title, summary, names: toList(listNames(item)), indicators: toList(values) };
}

/** Puts the typographic characters of the item back into its headlines. Excerpts of the text, which are not at hand, keep the plain ones. */
const restore = (row: Headlines, { title, summary, names }: HighlightedText): Headlines => ({
  ...row,
  title: row.title && restoreCharacters(row.title, title),
  summary: row.summary && restoreCharacters(row.summary, summary),
  names: row.names && restoreCharacters(row.names, names),
});

const anyMark = new RegExp(`[${Object.values(marks).join('')}]`, 'g');

const isMark = (character: string): boolean => Object.values<string>(marks).includes(character);

/** Replaces the characters of a marked excerpt of a text by those that the text has at its place. */
function restoreCharacters(excerpt: string, text: string): string {
  const original = text.replaceAll(anyMark, '');
  let place = replaceTypographic(original).indexOf(excerpt.replaceAll(anyMark, ''));
  if (place === -1) return excerpt;
  return Array.from({ length: excerpt.length }, (_, index) =>
    isMark(excerpt[index]!) ? excerpt[index]! : original[place++]!,
  ).join('');
}

/** Adds marks around runs of characters of scripts without spaces, which are words of the index only as pairs of characters. */
function markRuns(row: Headlines, { title, summary, names }: HighlightedText, runs: string[]): Headlines {
  if (runs.length === 0) return row;
  const mark = (text: string): string => markAll(text, runs);
  const orPassage = (headline: string | null, passage: string | null): string | null => {
    const marked = mark(headline ?? '');
    return marked.includes(marks.start) ? marked : mark(passage ?? '');
  };
  return {
    ...row,
    title: mark(row.title ?? title),
    summary: orPassage(row.summary, passageOf(summary, runs)),
    text: orPassage(row.text, row.passage),
    names: mark(row.names ?? names),
  };
}

/** Marks every occurrence of the runs outside of other marks. */
function markAll(text: string, runs: string[]): string {
  const marked = `${marks.start}[^${marks.stop}]*${marks.stop}`;
  const pattern = new RegExp(`${marked}|${runs.toSorted((a, b) => b.length - a.length).join('|')}`, 'gu');
  return text.replace(pattern, (found) =>
    found.startsWith(marks.start) ? found : `${marks.start}${found}${marks.stop}`,
  );
}

/** Returns the part of a text around the first of the runs. */
function passageOf(text: string, runs: string[]): string {
  const places = runs.map((run) => text.indexOf(run)).filter((place) => place >= 0);
  const start = Math.max(Math.min(...places) - passageChars.before, 0);
  return places.length === 0 ? '' : text.slice(start, start + passageChars.all).toWellFormed();
}

function toHighlights({ title, summary, text, names, indicators }: Headlines, item: HighlightedText): ItemHighlight[] {
  const titles = toExcerpts('title', title).filter((one) => textOf(one) === item.title);
  const summaries = toExcerpts('summary', summary);
  const isRepeated = (one: ItemHighlight): boolean =>
    [item.title, item.summary].some((known) => known.includes(textOf(one)));
  const texts = toExcerpts('text', text).filter((one) => !isRepeated(one));
  const found = [...titles, ...summaries, ...texts];
  const lists = [found, toLines('name', names), toLines('indicator', indicators)];
  return lists.find((list) => list.length > 0) ?? [];
}

const toLines = (field: ItemHighlight['field'], headline: string | null): ItemHighlight[] =>
  toExcerpts(field, (headline ?? '').replaceAll('\n', marks.next)).slice(0, linesMax);

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
    const last = segments.at(-1);
    // The parts of a value such as a CVE id match one by one.
    if (end > 0 && last?.isMatch) last.text += part.slice(0, end);
    else if (end > 0) segments.push({ text: part.slice(0, end), isMatch: true });
    const rest = part.slice(end + 1);
    if (rest !== '') segments.push({ text: rest, isMatch: false });
  }
  return segments;
}

const textOf = ({ segments }: ItemHighlight): string => segments.map(({ text }) => text).join('');
