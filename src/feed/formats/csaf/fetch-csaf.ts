import {
  fetchEntries,
  fetchList,
  pickValidators,
  type DocumentIndex,
  type IndexCursor,
  type Validators,
  type IndexEntry,
} from '../fetch-entries.ts';
import type { FetchedDocument, FetchSession, FetchSessionResult, DigestInput } from '../fetch-session.ts';
import { FetchStatusError } from '../../../platform/lib/outbound-http/fetch.ts';
import { type SkippedEntry, parseInstant } from '../../model/source-record.ts';
import { toSkipped } from '../read-parts.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';
import {
  asObject,
  asObjects,
  asText,
  decodeUtf8,
  isObject,
  parseJsonText,
  type JsonObject,
} from '../../../platform/lib/json/json-values.ts';

/** The number of a provider's lists that one pull fetches. The next pull, a minute later, continues. */
const listsPerPull = 50;
const wellKnownPath = '/.well-known/csaf/provider-metadata.json';

type Provider = Extract<ProviderDocument, { kind: 'provider' }> & Validators;
/** `turn` is the index of the list with which the next pull begins. */
type CsafCursor = IndexCursor & { provider?: Provider; turn?: number };

/**
 * Fetches the documents of a CSAF provider (CSAF 2.0, section 7) from its domain, provider-metadata.json, ROLIE feed, changes.csv or
 * index.txt, or the single document at the address. Requests are conditional once all documents of a list have been read.
 */
export async function fetchCsaf(session: FetchSession): Promise<FetchSessionResult> {
  const { pathname } = new URL(session.url);
  const address = pathname === '/' ? new URL(wellKnownPath, session.url).href : session.url;
  const { lists, provider } = (session.cursor ?? {}) as CsafCursor;
  const fetched = await session.fetch(address, {
    accept: 'application/json, text/csv;q=0.9, */*;q=0.1',
    ...pickValidators(provider ?? lists?.[address] ?? {}),
  });
  if (!fetched)
    return provider
      ? fetchLists(session, provider)
      : fetchEntries(session, { entries: [], lists: { [address]: undefined } });
  const document = await digest(session, fetched);
  if (document.kind === 'provider') return fetchLists(session, { ...document, ...pickValidators(fetched) });
  if (document.kind === 'list')
    return fetchEntries(session, { entries: document.entries, lists: { [address]: fetched } });
  const part = { name: fetched.url.split('/').at(-1) || 'document', bytes: fetched.bytes, url: fetched.url };
  const cursor: CsafCursor = { seen: { [address]: '' }, lists: { [address]: pickValidators(fetched) } };
  return { parts: [part], cursor, unchanged: 0, skipped: [], more: false };
}

const digest = async (session: FetchSession, fetched: FetchedDocument): Promise<ProviderDocument> =>
  (await session.digest([fetched])) as ProviderDocument;

/** Fetches the next lists of a provider. The cursor preserves the state of the other lists and of lists that fail. */
async function fetchLists(session: FetchSession, provider: Provider): Promise<FetchSessionResult> {
  const { turn = 0 } = (session.cursor ?? {}) as CsafCursor;
  const start = turn < provider.lists.length ? turn : 0;
  const index: DocumentIndex = { entries: [], lists: {}, isPart: provider.lists.length > listsPerPull };
  const skipped: SkippedEntry[] = [];
  let firstError: unknown;
  for (const url of provider.lists.slice(start, start + listsPerPull)) {
    try {
      await addList(session, { url, isFeed: provider.areFeeds }, index);
    } catch (error) {
      firstError ??= error;
      index.isPart = true;
      skipped.push(toSkipped(url.slice(0, 300), error));
    }
  }
  // If the provider has more lists, a batch of failing ones must not keep the next batch from being read.
  if (Object.keys(index.lists).length === 0 && provider.lists.length <= listsPerPull) throw firstError;
  const result = await fetchEntries(session, index);
  const next = result.more ? start : start + listsPerPull;
  const isComplete = next >= provider.lists.length;
  const cursor: CsafCursor = { ...result.cursor, provider, turn: isComplete ? 0 : next };
  return { ...result, cursor, skipped: [...skipped, ...result.skipped], more: result.more || !isComplete };
}

async function addList(
  session: FetchSession,
  list: { url: string; isFeed: boolean },
  index: DocumentIndex,
): Promise<void> {
  const [address, fetched] = list.isFeed
    ? ([list.url, await fetchList(session, list.url, { accept: 'application/json' })] as const)
    : await fetchDirectory(session, list.url.replace(/\/?$/, '/'));
  if (fetched) {
    const document = await digest(session, fetched);
    if (document.kind !== 'list')
      throw new ExternalError('the document is neither a CSAF document nor a list of CSAF documents');
    if (index.entries.length + document.entries.length > listedDocumentsMax)
      throw new ExternalError(`the lists of one pull contain more than ${listedDocumentsMax} documents`);
    index.entries = index.entries.concat(document.entries);
  }
  index.lists[address] = fetched;
}

/** Fetches a directory's changes.csv or, if there is none, its index.txt, which has no times. */
async function fetchDirectory(session: FetchSession, base: string): Promise<[string, FetchedDocument | undefined]> {
  try {
    return [`${base}changes.csv`, await fetchList(session, `${base}changes.csv`, { accept: 'text/csv' })];
  } catch (error) {
    if (!(error instanceof FetchStatusError) || ![403, 404, 410].includes(error.status)) throw error;
    return [`${base}index.txt`, await fetchList(session, `${base}index.txt`, { accept: 'text/plain' })];
  }
}

/** The maximum for one list, and for all lists of one pull together. */
const listedDocumentsMax = 100_000;

/** A document of a CSAF provider. */
type ProviderDocument =
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
