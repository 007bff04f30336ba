import {
  fetchEntries,
  fetchList,
  pickValidators,
  type IndexCursor,
  type DocumentIndex,
  type Validators,
} from '../fetch-entries.ts';
import type { FetchSession, FetchSessionResult, FetchedDocument } from '../fetch-session.ts';
import { FetchStatusError } from '../../../platform/lib/outbound-http/fetch.ts';
import type { SkippedEntry } from '../../model/source-record.ts';
import { listedDocumentsMax, type ProviderDocument } from './provider-document.ts';

/** So many lists of a provider are asked for by one pull; the next ones have their turn a minute later. */
const listsAtOnce = 50;
const wellKnown = '/.well-known/csaf/provider-metadata.json';

type Provider = Extract<ProviderDocument, { kind: 'provider' }> & Validators;
/** `turn`: the place of the list that the next pull begins with. */
type Cursor = IndexCursor & { provider?: Provider; turn?: number };

/**
 * Reads what a CSAF provider publishes (CSAF 2.0, section 7): from its domain, its provider-metadata.json, a ROLIE feed, changes.csv or
 * index.txt; or the one document at the address. What has not changed since all of it was read is not sent again.
 */
export async function fetchCsaf(context: FetchSession): Promise<FetchSessionResult> {
  const { pathname } = new URL(context.url);
  const address = pathname === '/' ? new URL(wellKnown, context.url).href : context.url;
  const { lists, provider } = (context.cursor ?? {}) as Cursor;
  const found = await context.fetch(address, {
    accept: 'application/json, text/csv;q=0.9, */*;q=0.1',
    ...pickValidators(provider ?? lists?.[address] ?? {}),
  });
  if (!found) return provider ? collectLists(context, provider) : fetchEntries(context, none(address));
  const head = await readHead(context, found);
  if (head.kind === 'provider') return collectLists(context, { ...head, ...pickValidators(found) });
  if (head.kind === 'list') return fetchEntries(context, { entries: head.entries, lists: { [address]: found } });
  const part = { name: found.url.split('/').at(-1) || 'document', bytes: found.bytes, url: found.url };
  const cursor: Cursor = { seen: { [address]: '' }, lists: { [address]: pickValidators(found) } };
  return { parts: [part], cursor, unchanged: 0, skipped: [], more: false };
}

const readHead = async (context: FetchSession, found: FetchedDocument): Promise<ProviderDocument> =>
  (await context.digest([found])) as ProviderDocument;

const none = (address: string): DocumentIndex => ({ entries: [], lists: { [address]: undefined } });

/** Reads the lists whose turn it is; those of the others, and of a list that cannot be read, stay known. */
async function collectLists(context: FetchSession, provider: Provider): Promise<FetchSessionResult> {
  const { turn = 0 } = (context.cursor ?? {}) as Cursor;
  const from = turn < provider.lists.length ? turn : 0;
  const index: DocumentIndex = { entries: [], lists: {}, isPart: provider.lists.length > listsAtOnce };
  const skipped: SkippedEntry[] = [];
  let first: unknown;
  for (const url of provider.lists.slice(from, from + listsAtOnce)) {
    try {
      await addList(context, { url, isFeed: provider.areFeeds }, index);
    } catch (error) {
      first ??= error;
      index.isPart = true;
      skipped.push({ entry: url.slice(0, 300), reason: error instanceof Error ? error.message : String(error) });
    }
  }
  // Where there are more lists, those that cannot be read must not keep the others from their turn.
  if (Object.keys(index.lists).length === 0 && provider.lists.length <= listsAtOnce) throw first;
  const collection = await fetchEntries(context, index);
  const next = collection.more ? from : from + listsAtOnce;
  const isLast = next >= provider.lists.length;
  const cursor: Cursor = { ...collection.cursor, provider, turn: isLast ? 0 : next };
  return { ...collection, cursor, skipped: [...skipped, ...collection.skipped], more: collection.more || !isLast };
}

async function addList(
  context: FetchSession,
  { url, isFeed }: { url: string; isFeed: boolean },
  index: DocumentIndex,
): Promise<void> {
  const [address, found] = isFeed
    ? ([url, await fetchList(context, url, { accept: 'application/json' })] as const)
    : await fetchDirectory(context, url.replace(/\/?$/, '/'));
  if (found) {
    const head = await readHead(context, found);
    if (head.kind !== 'list') throw new Error('neither a CSAF document nor a list of some');
    if (index.entries.length + head.entries.length > listedDocumentsMax)
      throw new Error(`the lists of one pull name more than ${listedDocumentsMax} documents`);
    index.entries = index.entries.concat(head.entries);
  }
  index.lists[address] = found;
}

/** changes.csv says what has changed; index.txt, where there is no other, only what there is. */
async function fetchDirectory(context: FetchSession, base: string): Promise<[string, FetchedDocument | undefined]> {
  try {
    return [`${base}changes.csv`, await fetchList(context, `${base}changes.csv`, { accept: 'text/csv' })];
  } catch (error) {
    if (!(error instanceof FetchStatusError) || ![403, 404, 410].includes(error.status)) throw error;
    return [`${base}index.txt`, await fetchList(context, `${base}index.txt`, { accept: 'text/plain' })];
  }
}
