import type { DigestInput } from '../fetch-session.ts';
import type { IndexEntry } from '../fetch-entries.ts';
import {
  decodeUtf8,
  isObject,
  asObjects,
  parseJsonText,
  asText,
  type JsonObject,
} from '../../../platform/lib/json/json-values.ts';
import { parseInstant } from '../../model/source-record.ts';

/** Documents that a list may name, and all lists that one pull reads together. */
export const listedDocumentsMax = 100_000;

/** What stands at an address of a provider. */
export type ProviderDocument =
  | { kind: 'advisory' }
  /** A provider's own description: the addresses of its ROLIE feeds, or of its directories where it has none. */
  | { kind: 'provider'; lists: string[]; areFeeds: boolean }
  | { kind: 'list'; entries: IndexEntry[] };

/** Reads an advisory's kind, a provider-metadata.json, a ROLIE feed, changes.csv or index.txt. Throws an Error for anything else. */
export function readProviderDocument(found: DigestInput): ProviderDocument {
  const text = decodeUtf8(found.bytes);
  const json = /^\s*\{/.test(text) ? parseJsonText(text) : undefined;
  if (!isObject(json)) return listOf(listEntries(text, found.url));
  if (isObject(json['document'])) return { kind: 'advisory' };
  if (Array.isArray(json['distributions'])) return readProvider(asObjects(json['distributions']));
  return listOf(rolieEntries(json, found.url));
}

/** A provider offers the same documents as ROLIE feeds or in directories, or both: the feeds are read where there are any. */
function readProvider(distributions: JsonObject[]): ProviderDocument {
  const feeds = distributions
    .flatMap((one) => (isObject(one['rolie']) ? asObjects(one['rolie']['feeds']) : []))
    .map((feed) => asText(feed['url']))
    .filter((url) => url !== undefined);
  const directories = distributions.map((one) => asText(one['directory_url'])).filter((url) => url !== undefined);
  const lists = [...new Set(feeds.length > 0 ? feeds : directories)];
  if (lists.length === 0) throw new Error('the provider names no feed and no directory');
  return { kind: 'provider', lists, areFeeds: feeds.length > 0 };
}

function listOf(entries: IndexEntry[]): ProviderDocument {
  if (entries.length === 0) throw new Error('neither a CSAF document nor a list of some');
  if (entries.length > listedDocumentsMax) throw new Error(`the index names more than ${listedDocumentsMax} documents`);
  return { kind: 'list', entries };
}

function rolieEntries(json: JsonObject, base: string): IndexEntry[] {
  const feed = isObject(json['feed']) ? json['feed'] : {};
  return asObjects(feed['entry']).flatMap((entry) => {
    const self = asObjects(entry['link']).find(({ rel }) => rel === 'self');
    const content = isObject(entry['content']) ? asText(entry['content']['src']) : undefined;
    return entryOf(base, content ?? asText(self?.['href']), asText(entry['updated']));
  });
}

/** changes.csv has the path and the time of each document, index.txt the path alone. */
function listEntries(text: string, base: string): IndexEntry[] {
  return text.split(/\r?\n/, listedDocumentsMax + 1).flatMap((line) => {
    const [path = '', time] = line.split(',').map((cell) => cell.trim().replaceAll(/^"|"$/g, ''));
    return /\.json$/i.test(path) ? entryOf(base, path, time) : [];
  });
}

function entryOf(base: string, path: string | undefined, time: string | undefined): IndexEntry[] {
  if (!path || path.length > 2_000 || !URL.canParse(path, base)) return [];
  const url = new URL(path, base).href;
  return [{ id: url, url, version: parseInstant(time) }];
}
