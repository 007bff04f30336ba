import type { FeedItem } from '../../model/item.schema.ts';
import { buckets } from '../../model/vocabulary.ts';

const headMaxChars = 100_000;
const bodyMaxChars = 150_000;

/** The parts of an item that full-text search covers besides the title. The head counts more than the body. */
export type SearchText = { searchHead: string; searchBody: string };

type SearchedItem = Pick<FeedItem, 'summary' | 'iocs' | 'externalId'> & { event: Pick<FeedItem['event'], 'title'> };

/**
 * Returns the searched text of an item. Head: summary, id in the source and normalized indicator values, the first 100,000 UTF-16 units. Body:
 * the first 150,000 units of the stored text, of a structured record without what is not worth searching.
 */
export function toSearchText(item: SearchedItem, { storedText, isProse }: SearchedText): SearchText {
  const { summary = '', externalId = '', event, iocs } = item;
  const { title } = event;
  const values = buckets.flatMap((bucket) => iocs[bucket].map(({ normalizedValue }) => normalizedValue));
  const body = isProse ? storedText : condenseFields(storedText, { values, texts: [title, summary] });
  return {
    searchHead: [summary, externalId, ...values].join('\n').slice(0, headMaxChars).toWellFormed(),
    searchBody: body.slice(0, bodyMaxChars).toWellFormed(),
  };
}

/** `storedText` has one field per line if it is not prose. */
type SearchedText = { storedText: string; isProse: boolean };

const ids = /(?:\b[a-z][a-z\d-]*--)?\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b/gi;
const timestamp = /^(?:\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+)?|\d{9,})$/;
const letterOrDigit = /[\p{L}\p{N}]/u;
const separators = /[\s'"()[\],;=<>]+/;
const repeatedWordsMax = 3;

type KnownTexts = { values: string[]; texts: string[] };

/**
 * Returns the fields of a structured record that a search may look for: without timestamps and ids, each path and each value once, and
 * without values of a few words that all occurred before, such as the pattern of a listed indicator. The known values and texts are searched
 * anyway. A large record consists mostly of such fields, and to index their words would take most of the time of a pull.
 */
function condenseFields(storedText: string, { values, texts }: KnownTexts): string {
  const words = new Set(values.map((value) => value.toLowerCase()));
  const seen = new Set(texts);
  const kept: string[] = [];
  let length = 0;
  for (let start = 0; start < storedText.length && length < bodyMaxChars;) {
    const newline = storedText.indexOf('\n', start);
    const end = newline === -1 ? storedText.length : newline;
    const { path, value } = splitField(storedText.slice(start, end));
    start = end + 1;
    if (!letterOrDigit.test(value) || timestamp.test(value) || seen.has(value)) continue;
    seen.add(value);
    const line = path === '' || seen.has(path) ? value : `${path}: ${value}`;
    seen.add(path);
    const lineWords = line
      .toLowerCase()
      .split(separators)
      .filter((word) => word !== '');
    const news = lineWords.filter((word) => !words.has(word));
    if (news.length === 0 && lineWords.length <= repeatedWordsMax) continue;
    for (const word of news) words.add(word);
    kept.push(line);
    length += line.length + 1;
  }
  return kept.join('\n');
}

/** Splits the line of a field into its path, without list positions, and its value, without ids. A further line of a text has no path. */
function splitField(line: string): { path: string; value: string } {
  const colon = line.indexOf(': ');
  const path = colon === -1 ? '' : line.slice(0, colon).replaceAll(/\[\d+\]/g, '[]');
  return { path, value: line.slice(colon === -1 ? 0 : colon + 2).replaceAll(ids, '') };
}
