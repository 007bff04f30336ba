import type { DigestInput } from '../fetch-session.ts';
import type { IndexEntry } from '../fetch-entries.ts';
import {
  asObject,
  asObjects,
  asText,
  decodeUtf8,
  isObject,
  parseJsonText,
  type JsonObject,
} from '../../../platform/lib/json/json-values.ts';
import { parseInstant } from '../../model/source-record.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

/** The maximum for one list, and for all lists of one pull together. */
export const listedDocumentsMax = 100_000;

/** A document of a CSAF provider. */
export type ProviderDocument =
  | { kind: 'advisory' }
  /** The provider-metadata.json with the addresses of the ROLIE feeds or, without feeds, of the directories. */
  | { kind: 'provider'; lists: string[]; areFeeds: boolean }
  | { kind: 'list'; entries: IndexEntry[] };

/** Parses a provider-metadata.json, a ROLIE feed, changes.csv or index.txt and recognizes an advisory. Throws an Error for anything else. */
export function readProviderDocument(fetched: DigestInput): ProviderDocument {
  const text = decodeUtf8(fetched.bytes);
  const json = /^\s*\{/.test(text) ? parseJsonText(text) : undefined;
  if (!isObject(json)) return toList(readFileList(text, fetched.url));
  if (isObject(json['document'])) return { kind: 'advisory' };
  if (Array.isArray(json['distributions'])) return readMetadata(asObjects(json['distributions']));
  return toList(readRolieFeed(json, fetched.url));
}

/** A provider offers the same documents as ROLIE feeds, in directories, or both. Feeds are preferred. */
function readMetadata(distributions: JsonObject[]): ProviderDocument {
  const feeds = distributions
    .flatMap((distribution) => asObjects(asObject(distribution['rolie'])['feeds']))
    .flatMap((feed) => asText(feed['url']) ?? []);
  const directories = distributions.flatMap((distribution) => asText(distribution['directory_url']) ?? []);
  const lists = [...new Set(feeds.length > 0 ? feeds : directories)];
  if (lists.length === 0) throw new ExternalError('the provider metadata contains no feed and no directory');
  return { kind: 'provider', lists, areFeeds: feeds.length > 0 };
}

function toList(entries: IndexEntry[]): ProviderDocument {
  if (entries.length === 0)
    throw new ExternalError('the document is neither a CSAF document nor a list of CSAF documents');
  if (entries.length > listedDocumentsMax)
    throw new ExternalError(`the index contains more than ${listedDocumentsMax} documents`);
  return { kind: 'list', entries };
}

const readRolieFeed = (json: JsonObject, base: string): IndexEntry[] =>
  asObjects(asObject(json['feed'])['entry']).flatMap((entry) => {
    const self = asObjects(entry['link']).find(({ rel }) => rel === 'self');
    const content = asText(asObject(entry['content'])['src']);
    return toEntry(base, content ?? asText(self?.['href']), asText(entry['updated']));
  });

/** Reads changes.csv, which has a path and a time per line, or index.txt, which has only paths. */
const readFileList = (text: string, base: string): IndexEntry[] =>
  text.split(/\r?\n/, listedDocumentsMax + 1).flatMap((line) => {
    const [path = '', time] = line.split(',').map((cell) => cell.trim().replaceAll(/^"|"$/g, ''));
    return /\.json$/i.test(path) ? toEntry(base, path, time) : [];
  });

function toEntry(base: string, path: string | undefined, time: string | undefined): IndexEntry[] {
  if (!path || path.length > 2_000 || !URL.canParse(path, base)) return [];
  const url = new URL(path, base).href;
  return [{ id: url, url, version: parseInstant(time) }];
}
