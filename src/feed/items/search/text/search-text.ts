import type { FeedItem } from '../../../model/item.schema.ts';
import { buckets } from '../../../model/vocabulary.ts';
import { hasUnspacedText } from './unspaced-text.ts';

const headMaxChars = 100_000;
const bodyMaxChars = 150_000;

/** The parts of an item that full-text search covers besides the title. The head counts more than the body. */
export type SearchText = { searchHead: string; searchBody: string };

type SearchedItem = Pick<FeedItem, 'summary' | 'iocs' | 'externalId' | 'classification' | 'affectedProducts'> & {
  event: Pick<FeedItem['event'], 'title'>;
};

/**
 * Returns the searched text of an item. Head: summary, id in the source, names, products and normalized indicator values, the first 100,000
 * UTF-16 units. Body: the first 150,000 units of the stored text, of a structured record only its prose.
 */
export function toSearchText(item: SearchedItem, { storedText, isProse }: SearchedText): SearchText {
  const { summary = '', externalId = '', event, iocs, classification, affectedProducts } = item;
  const values = buckets.flatMap((bucket) => iocs[bucket].map(({ normalizedValue }) => normalizedValue));
  const head = [summary, externalId, ...listNames({ classification, affectedProducts }), ...values];
  const body = isProse ? storedText : selectProse(storedText, [event.title, summary]);
  return {
    searchHead: head.join('\n').slice(0, headMaxChars).toWellFormed(),
    searchBody: body.slice(0, bodyMaxChars).toWellFormed(),
  };
}

/** Returns the names of actors and malware with their aliases, and the products. */
export function listNames({
  classification,
  affectedProducts,
}: Pick<SearchedItem, 'classification' | 'affectedProducts'>): string[] {
  const names = [...classification.actor, ...classification.malware].flatMap(({ name, aliases }) => [name, ...aliases]);
  return [...new Set([...names, ...affectedProducts.map(({ vendor, product }) => `${vendor} ${product}`)])];
}

/** `storedText` has one field per line if it is not prose. */
type SearchedText = { storedText: string; isProse: boolean };

const proseWordsMin = 4;
const ids = /(?:\b[a-z][a-z\d-]*--)?\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b(?:, )?/gi;

/**
 * Returns the prose of a structured record: values of at least four words besides ids, or in scripts without spaces, each once, and further lines of a text, without the
 * `known` texts. To index all other fields, such as patterns, would take most of the time of a pull.
 */
function selectProse(storedText: string, known: string[]): string {
  const seen = new Set(known);
  const kept: string[] = [];
  for (let start = 0, length = 0; start < storedText.length && length < bodyMaxChars;) {
    const newline = storedText.indexOf('\n', start);
    const end = newline === -1 ? storedText.length : newline;
    const value = readProse(storedText.slice(start, end));
    start = end + 1;
    if (value === '' || seen.has(value)) continue;
    seen.add(value);
    kept.push(value);
    length += value.length + 1;
  }
  return kept.join('\n');
}

/** Returns the prose of a line, or an empty text. The line of a field starts with its path, which has no spaces. */
function readProse(line: string): string {
  const colon = line.indexOf(': ');
  if (colon === -1 || line.lastIndexOf(' ', colon) !== -1) return line;
  const value = line.slice(colon + 2);
  if (!hasWords(value)) return '';
  const text = value.replaceAll(ids, '');
  return hasWords(text) ? text : '';
}

/** Whether a value has as many words as prose, or is of a script that is written without spaces. */
function hasWords(text: string): boolean {
  let at = -1;
  for (let spaces = 1; spaces < proseWordsMin; spaces += 1) {
    at = text.indexOf(' ', at + 1);
    if (at === -1) return hasUnspacedText(text);
  }
  return true;
}
