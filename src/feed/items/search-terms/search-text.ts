import type { FeedItem } from '../../model/item.schema.ts';
import { buckets } from '../../model/vocabulary.ts';
import { hasUnspacedText } from './characters.ts';

const headMaxChars = 100_000;
const bodyMaxChars = 150_000;

/** The text of an item that full-text search covers. The title counts more than the head, and the head more than the body. */
export type SearchText = { searchTitle: string; searchHead: string; searchBody: string };

type SearchedItem = Pick<FeedItem, 'summary' | 'iocs' | 'externalId' | 'classification' | 'affectedProducts'> & {
  event: Pick<FeedItem['event'], 'title'>;
  source: Pick<FeedItem['source'], 'publisher'>;
};

/**
 * Returns the searched text of an item. Title: also the id in the source. Head: summary, names, products and normalized indicator values, the first
 * 100,000 UTF-16 units. Body: publisher, ids of CVEs and techniques, words of the source's format, and the stored text, of a structured record only its prose, the
 * first 150,000 units.
 */
export function toSearchText(item: SearchedItem, { storedText, isProse, formatWords = '' }: SearchedText): SearchText {
  const { summary = '', externalId = '', event, iocs, classification, affectedProducts, source } = item;
  const values = buckets.flatMap((bucket) => iocs[bucket].map(({ normalizedValue }) => normalizedValue));
  const cves = classification.mappings.flatMap(({ framework, id }) =>
    framework === 'cve' && id !== externalId ? [id] : [],
  );
  const techniques = classification.attack.map(({ technique, subTechnique }) => subTechnique ?? technique);
  const head = [summary, ...listNames({ classification, affectedProducts }), ...values];
  const text = isProse ? storedText : selectProse(storedText, [event.title, summary]);
  const body = [source.publisher, ...cves, ...techniques, formatWords, text].filter((part) => part !== '').join('\n');
  return {
    searchTitle: [event.title, externalId].join('\n').toWellFormed(),
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

/** `storedText` has one field per line if it is not prose. `formatWords` are those of the source's format. */
type SearchedText = { storedText: string; isProse: boolean; formatWords?: string };

const proseWordsMin = 4;
/** Descriptions that MISP copies from its galaxies. They describe a technique or a name in general, with examples of others. */
const referencePath = /\bGalaxyCluster\[\d+\]\.(?:description|meta)\b/;
const ids = /(?:\b[a-z][a-z\d-]*--)?\b[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}\b(?:, )?/gi;

/**
 * Returns the prose of a structured record: values of at least four words besides ids, or in scripts without spaces, each once, and further lines of a text, without the
 * `known` texts. To index all other fields, such as patterns, would take most of the time of a pull.
 */
function selectProse(storedText: string, known: string[]): string {
  const seen = new Set(known);
  const mayBeUnspaced = hasUnspacedText(storedText);
  const kept: string[] = [];
  let isReference = false;
  for (let start = 0, length = 0; start < storedText.length && length < bodyMaxChars;) {
    const newline = storedText.indexOf('\n', start);
    const end = newline === -1 ? storedText.length : newline;
    const line = storedText.slice(start, end);
    start = end + 1;
    const pathLength = measurePath(line);
    if (pathLength > 0) isReference = referencePath.test(line.slice(0, pathLength));
    if (isReference) continue;
    const value = pathLength > 0 ? readProse(line.slice(pathLength + 2), mayBeUnspaced) : line;
    if (value === '' || seen.has(value)) continue;
    seen.add(value);
    kept.push(value);
    length += value.length + 1;
  }
  return kept.join('\n');
}

/** Returns the length of the path at the start of a line, which has no spaces, or 0 if the line continues a text. */
function measurePath(line: string): number {
  const space = line.indexOf(' ');
  return space > 0 && line[space - 1] === ':' ? space - 1 : 0;
}

/** Returns the prose of a value, or an empty text. */
function readProse(value: string, mayBeUnspaced: boolean): string {
  if (!hasWords(value, mayBeUnspaced)) return '';
  const text = value.replaceAll(ids, '');
  return hasWords(text, mayBeUnspaced) ? text : '';
}

/** Returns whether a value has as many words as prose, or is of a script that is written without spaces, if it `mayBeUnspaced`. */
function hasWords(text: string, mayBeUnspaced: boolean): boolean {
  let at = -1;
  for (let spaces = 1; spaces < proseWordsMin; spaces += 1) {
    at = text.indexOf(' ', at + 1);
    if (at === -1) return mayBeUnspaced && hasUnspacedText(text);
  }
  return true;
}
