import { collectEntries, type Entry } from '../collect-entries.ts';
import type { CollectContext, Collection, Document } from '../collect.ts';
import { decodeUtf8, isObject, objectsOf, parseJsonText, textOf, type JsonObject } from '../extract/json.ts';
import { instant, type Skipped } from '../record.ts';

const entriesMax = 50_000;
const feedsMax = 50;
const wellKnown = '/.well-known/csaf/provider-metadata.json';

type Index = { entries: Entry[]; skipped: Skipped[] };

/**
 * Reads what a CSAF provider publishes (CSAF 2.0, section 7): from its domain, its provider-metadata.json, a ROLIE feed, changes.csv or
 * index.txt; or the one document at the address.
 */
export async function collectCsaf(context: CollectContext): Promise<Collection> {
  const { pathname } = new URL(context.url);
  const address = pathname === '/' ? new URL(wellKnown, context.url).href : context.url;
  const known = (context.cursor ?? {}) as { etag?: string };
  const found = await context.fetch(address, {
    accept: 'application/json, text/csv;q=0.9, */*;q=0.1',
    etag: known.etag,
  });
  if (!found) return { parts: [], cursor: context.cursor, unchanged: 1, skipped: [], more: false };
  const head = headOf(found);
  if (isObject(head) && isObject(head['document'])) {
    const part = { name: found.url.split('/').at(-1) || 'document', bytes: found.bytes, url: found.url };
    return { parts: [part], cursor: { etag: found.etag }, unchanged: 0, skipped: [], more: false };
  }
  const { entries, skipped } =
    isObject(head) && Array.isArray(head['distributions'])
      ? await readDistributions(context, objectsOf(head['distributions']))
      : { entries: entriesOf(found, head), skipped: [] };
  const collection = await collectEntries(context, bounded(entries));
  return { ...collection, skipped: [...skipped, ...collection.skipped] };
}

/** JSON where the document is JSON, undefined for lists in plain text. */
function headOf(found: Document): unknown {
  const text = decodeUtf8(found.bytes);
  return /^\s*\{/.test(text) ? parseJsonText(text) : undefined;
}

/** A provider offers the same documents as ROLIE feeds or in directories, or both: the feeds are read where there are any. */
async function readDistributions(context: CollectContext, distributions: JsonObject[]): Promise<Index> {
  const feeds = distributions
    .flatMap((one) => (isObject(one['rolie']) ? objectsOf(one['rolie']['feeds']) : []))
    .map((feed) => textOf(feed['url']))
    .filter((url) => url !== undefined);
  const directories = distributions.map((one) => textOf(one['directory_url'])).filter((url) => url !== undefined);
  const index: Index = { entries: [], skipped: [] };
  let first: unknown;
  for (const url of (feeds.length > 0 ? feeds : directories).slice(0, feedsMax)) {
    try {
      index.entries.push(...(feeds.length > 0 ? await readFeed(context, url) : await readDirectory(context, url)));
    } catch (error) {
      first ??= error;
      index.skipped.push({ entry: url.slice(0, 300), reason: error instanceof Error ? error.message : String(error) });
    }
  }
  if (index.entries.length === 0) throw first ?? new Error('the provider names no feed and no directory');
  return index;
}

async function readFeed(context: CollectContext, url: string): Promise<Entry[]> {
  const found = (await context.fetch(url, { accept: 'application/json' }))!;
  return entriesOf(found, headOf(found));
}

async function readDirectory(context: CollectContext, url: string): Promise<Entry[]> {
  const base = url.endsWith('/') ? url : `${url}/`;
  const found = await context
    .fetch(`${base}changes.csv`, { accept: 'text/csv' })
    .catch(() => context.fetch(`${base}index.txt`, { accept: 'text/plain' }));
  return entriesOf(found!, undefined);
}

function entriesOf(found: Document, head: unknown): Entry[] {
  const entries = isObject(head) ? rolieEntries(found, head) : listEntries(found);
  if (entries.length === 0) throw new Error('neither a CSAF document nor a list of some');
  return entries;
}

function rolieEntries(found: Document, head: JsonObject): Entry[] {
  const feed = isObject(head['feed']) ? head['feed'] : {};
  return objectsOf(feed['entry']).flatMap((entry) => {
    const self = objectsOf(entry['link']).find(({ rel }) => rel === 'self');
    const content = isObject(entry['content']) ? textOf(entry['content']['src']) : undefined;
    return entryOf(found, content ?? textOf(self?.['href']), textOf(entry['updated']));
  });
}

/** changes.csv has the path and the time of each document, index.txt the path alone. */
function listEntries(found: Document): Entry[] {
  const lines = decodeUtf8(found.bytes).split(/\r?\n/, entriesMax + 1);
  return lines.flatMap((line) => {
    const [path = '', time] = line.split(',').map((cell) => cell.trim().replaceAll(/^"|"$/g, ''));
    return /\.json$/i.test(path) ? entryOf(found, path, time) : [];
  });
}

function entryOf(found: Document, path: string | undefined, time: string | undefined): Entry[] {
  if (!path || path.length > 2_000 || !URL.canParse(path, found.url)) return [];
  const url = new URL(path, found.url).href;
  return [{ id: url, url, mark: instant(time) }];
}

function bounded(entries: Entry[]): Entry[] {
  if (entries.length > entriesMax) throw new Error(`the index names more than ${entriesMax} documents`);
  return entries;
}
