import type { FeedItem } from '../../model/item.schema.ts';
import { buckets } from '../../model/vocabulary.ts';

const headMaxChars = 100_000;
const bodyMaxChars = 150_000;

/** The parts of an item that full-text search covers besides the title. The head counts more than the body. */
export type SearchText = { searchHead: string; searchBody: string };

type SearchedItem = Pick<FeedItem, 'summary' | 'iocs' | 'externalId'>;

/**
 * Returns the searched text of an item. Head: summary, id in the source and normalized indicator values, the first 100,000 UTF-16 units. Body:
 * the first 150,000 units of the stored text, of a structured record without what is not worth searching.
 */
export function toSearchText(item: SearchedItem, { storedText, isProse }: SearchedText): SearchText {
  const { summary = '', externalId = '', iocs } = item;
  const values = buckets.flatMap((bucket) => iocs[bucket].map(({ normalizedValue }) => normalizedValue));
  const body = isProse ? storedText : condenseFields(storedText, values);
  return {
    searchHead: [summary, externalId, ...values].join('\n').slice(0, headMaxChars).toWellFormed(),
    searchBody: body.slice(0, bodyMaxChars).toWellFormed(),
  };
}

/** `storedText` has one field per line if it is not prose. */
type SearchedText = { storedText: string; isProse: boolean };

const ids = /(?:\b[a-z][a-z\d-]*--)?\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b/gi;
const timestamp = /^(?:\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-][\d:]+)?|\d{9,})$/;
const separators = /[\s'"()[\],;=<>]+/;
const repeatedWordsMax = 3;

/**
 * Returns the fields of a structured record that a search may look for: without timestamps and ids, each path and each value once, and
 * without values of a few words that all occurred before, such as the pattern of a listed indicator. `known` are values that are searched
 * anyway. A large record consists mostly of such fields, and to index their words would take most of the time of a pull.
 */
function condenseFields(storedText: string, known: string[]): string {
  const words = new Set(known.map((value) => value.toLowerCase()));
  const seen = new Set<string>();
  const kept: string[] = [];
  let length = 0;
  for (let start = 0; start < storedText.length && length < bodyMaxChars;) {
    const newline = storedText.indexOf('\n', start);
    const end = newline === -1 ? storedText.length : newline;
    const line = readField(storedText.slice(start, end), seen);
    start = end + 1;
    if (line === '' || seen.has(line)) continue;
    seen.add(line);
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

/** Returns what to search of the line of a field: the value without ids, with its path if the path, apart from list positions, is new. */
function readField(line: string, seen: Set<string>): string {
  const colon = line.indexOf(': ');
  const value = line.slice(colon === -1 ? 0 : colon + 2).replaceAll(ids, '');
  if (!/[\p{L}\p{N}]/u.test(value) || timestamp.test(value)) return '';
  if (colon === -1) return value;
  const path = line.slice(0, colon).replaceAll(/\[\d+\]/g, '[]');
  if (seen.has(path)) return value;
  seen.add(path);
  return `${path}: ${value}`;
}
