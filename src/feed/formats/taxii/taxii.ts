import type { SourceFormat } from '../source-format.ts';
import type { SourceDocument, FetchSession, FetchSessionResult, FetchedDocument } from '../fetch-session.ts';
import { digestTaxiiPage, joinPages, type TaxiiPageDigest, type JoinedPages } from './page-digest.ts';
import { buildDrafts, toSkipped } from '../read-parts.ts';
import { taxiiSightings } from '../send-sightings.ts';
import { draftStix } from '../stix/stix.ts';
import { FetchStatusError } from '../../../platform/lib/outbound-http/fetch.ts';
import { parseInstant, type SkippedEntry } from '../../model/source-record.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';
import {
  asObjects,
  isObject,
  parseJsonBytes,
  asText,
  asTexts,
  type JsonObject,
} from '../../../platform/lib/json/json-values.ts';

/** A TAXII 2.1 server: discovery, an API root or a collection. Each ungrouped indicator is its own item, so that it can change independently. */
export const taxii: SourceFormat = {
  label: 'TAXII 2.1 server',
  defaults: { reliability: 0.6, schedule: '0 * * * *' },
  fetch: fetchTaxii,
  digest: ([page]) => digestTaxiiPage(page!),
  parse: (parts, context) => buildDrafts(draftStix(parts, context, 'each')),
  draft: (parts, context) => draftStix(parts, context, 'each'),
  sightings: taxiiSightings,
};

/** The query for the next page: the server's `next` value or, without one, the date of the last object (TAXII 2.1, section 3.5). */
type NextPage = { next: string } | { added_after: string };
/**
 * The progress in a collection. `next` continues a list that the bounds of a pull cut. `tail` is the hash of the last objects from the overlap,
 * which are not new if they are returned again. After a first list it is the hash of all of it, and `known` has the hashes of its last objects,
 * because the server alone knows which of them are in the overlap.
 */
type Progress = { addedAfter?: string | undefined; next?: NextPage | undefined; tail?: string; known?: string[] };
/** `failure` is the error that cut the first list of a collection after its first page. */
type CollectionRead = { pages: JoinedPages; progress: Progress; isComplete: boolean; failure?: Error };

const pageLimit = '1000';
const pagesMax = 10_000;
// Covers servers that date objects before they publish them and clock differences.
const overlapMs = 10 * 60_000;
const knownMax = 1_000;

/**
 * Fetches the objects added to the collections since the last pull. If new objects change or refer to older ones, the whole collection is
 * fetched again, because an item needs all of its objects.
 */
async function fetchTaxii(session: FetchSession): Promise<FetchSessionResult> {
  const places = { ...((session.cursor ?? {}) as { places?: Record<string, Progress> }).places };
  const parts: SourceDocument[] = [];
  const skipped: SkippedEntry[] = [];
  let more = false;
  let retryAfterMs: number | undefined;
  let firstError: unknown;
  const endpoints = await findObjectEndpoints(session);
  for (const url of endpoints) {
    if (!session.hasRoom()) {
      more = true;
      break;
    }
    try {
      const before = places[url] ?? {};
      const { pages, progress, isComplete, failure } = await fetchNew(session, url, before);
      if (pages.count > 0) parts.push({ name: url, url, bytes: pages.bytes });
      if (failure) skipped.push(toSkipped(url, failure));
      firstError ??= failure;
      if (!isComplete && before.addedAfter !== undefined)
        skipped.push({
          entry: url,
          reason: 'the collection is too large to be read completely, so only new objects were read',
        });
      places[url] = progress;
      const delayMs = failure instanceof FetchStatusError ? failure.retryAfterMs : undefined;
      retryAfterMs ??= delayMs;
      more ||= progress.next !== undefined && delayMs === undefined;
    } catch (error) {
      firstError ??= error;
      skipped.push(toSkipped(url, error));
    }
  }
  if (parts.length === 0 && skipped.length === endpoints.length) throw firstError;
  return { parts, cursor: { places }, unchanged: 0, skipped, more, retryAfterMs };
}

async function fetchNew(session: FetchSession, url: string, before: Progress): Promise<CollectionRead> {
  const added = await fetchPages(session, url, before).catch((error: unknown) => {
    // A server may forget its `next` value.
    if (before.next === undefined || !(error instanceof FetchStatusError) || ![400, 404, 410].includes(error.status))
      throw error;
    return fetchPages(session, url, { ...before, next: undefined });
  });
  const isFirst = before.addedAfter === undefined;
  const tail = added.pages.hash;
  added.progress.tail = tail;
  if (isFirst) added.progress.known = added.pages.objectHashes.slice(-knownMax);
  const known = new Set(before.known);
  if (before.tail === tail || added.pages.objectHashes.every((hash) => known.has(hash)))
    return { ...added, pages: { ...added.pages, count: 0 }, isComplete: true };
  if (isFirst || added.pages.isStandalone) return { ...added, isComplete: true };
  const all = await fetchPages(session, url, {});
  if (all.failure) throw all.failure;
  return all.progress.next === undefined
    ? { ...all, progress: { ...all.progress, tail }, isComplete: true }
    : { ...added, isComplete: false };
}

/**
 * Fetches pages up to the bounds of the pull. An error after the first page of a first list cuts the list there, so that the next pull
 * continues with the failed page and even a slow server is read completely in the end.
 */
async function fetchPages(session: FetchSession, url: string, from: Progress): Promise<CollectionRead> {
  const pages: TaxiiPageDigest[] = [];
  const { addedAfter } = from;
  let { next } = from;
  let last: string | undefined = addedAfter;
  const cut = () => ({ pages: joinPages(pages), progress: { addedAfter, next }, isComplete: false });
  for (let page = 0; page < pagesMax; page += 1) {
    if (page > 0 && !session.hasRoom()) return cut();
    const address = pageAddress(url, addedAfter, next);
    const fetched = await fetchPage(session, address).catch(asError);
    if (fetched instanceof Error) {
      if (page === 0 || addedAfter !== undefined) throw fetched;
      return { ...cut(), failure: fetched };
    }
    const { digest, addedLast } = fetched;
    pages.push(digest);
    last = latestOf(last, addedLast);
    next = findNextPage(digest, { addedLast, addedAfter: address.searchParams.get('added_after') });
    if (next === undefined) {
      const progress = { addedAfter: last ?? session.now.toISOString() };
      return { pages: joinPages(pages), progress, isComplete: true };
    }
  }
  throw new ExternalError(`the collection has more than ${pagesMax} pages`);
}

function pageAddress(url: string, addedAfter: string | undefined, next: NextPage | undefined): URL {
  const address = new URL(url);
  const query = {
    limit: pageLimit,
    ...(addedAfter === undefined ? {} : { added_after: subtractOverlap(addedAfter) }),
    ...next,
  };
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
  return address;
}

type Page = { digest: TaxiiPageDigest; addedLast: string | undefined };

async function fetchPage(session: FetchSession, address: URL): Promise<Page> {
  const response = await fetchTaxiiResponse(session, address.href);
  return { digest: (await session.digest([response])) as TaxiiPageDigest, addedLast: readDateAddedLast(response) };
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

function readDateAddedLast({ headers }: FetchedDocument): string | undefined {
  const last = headers['x-taxii-date-added-last'];
  return typeof last === 'string' ? last : undefined;
}

function findNextPage(
  { more, next }: TaxiiPageDigest,
  page: { addedLast: string | undefined; addedAfter: string | null },
): NextPage | undefined {
  if (!more) return undefined;
  if (next !== undefined) return { next };
  if (page.addedLast === undefined || page.addedLast === page.addedAfter)
    throw new ExternalError('the server reports more objects without a next page');
  return { added_after: page.addedLast };
}

const subtractOverlap = (time: string): string => new Date(Date.parse(time) - overlapMs).toISOString();

function latestOf(known: string | undefined, value: unknown): string | undefined {
  const time = parseInstant(value);
  return time && (known === undefined || time > known) ? time : known;
}

const mediaType = 'application/taxii+json;version=2.1';
const collectionsMax = 50;
const rootsMax = 10;
// Discovery documents are parsed in the main thread.
const discoveryMaxBytes = 1024 * 1024;

/** Returns the object endpoints of the readable collections at a source's address: a collection, an API root or discovery. */
async function findObjectEndpoints(session: FetchSession): Promise<string[]> {
  const url = new URL(session.url);
  const [collection] = /^.*\/collections\/[^/]+\//.exec(`${url.pathname.replace(/\/$/, '')}/`) ?? [];
  if (collection) return [new URL(`${collection}objects/`, url).href];
  const head = await readJson(session, session.url);
  const roots = asTexts(head['api_roots']);
  const preferred = asText(head['default']);
  const bases = roots.length === 0 ? [session.url] : preferred ? [preferred] : roots;
  const endpoints: string[] = [];
  for (const base of bases.slice(0, rootsMax)) {
    const root = new URL(base, session.url).href.replace(/\/?$/, '/');
    const listed = Array.isArray(head['collections']) ? head : await readJson(session, `${root}collections/`);
    const list = Array.isArray(head['collections']) ? root : `${root}collections/`;
    for (const entry of asObjects(listed['collections'])) {
      const id = asText(entry['id'])?.trim();
      if (id && entry['can_read'] !== false) endpoints.push(`${list}${encodeURIComponent(id)}/objects/`);
    }
  }
  if (endpoints.length === 0) throw new ExternalError('the server has no readable collection');
  if (endpoints.length > collectionsMax)
    throw new ExternalError(`the server has more than ${collectionsMax} collections`);
  return endpoints;
}

async function readJson(session: FetchSession, url: string): Promise<JsonObject> {
  const body = parseJsonBytes((await fetchTaxiiResponse(session, url, discoveryMaxBytes)).bytes);
  if (!isObject(body)) throw new ExternalError('the response is not a TAXII response');
  return body;
}

/** Fetches a document of a TAXII server. Throws an Error if it has another media type. */
async function fetchTaxiiResponse(session: FetchSession, url: string, bytesMax?: number): Promise<FetchedDocument> {
  const found = (await session.fetch(url, { accept: mediaType, ...(bytesMax ? { bytesMax } : {}) }))!;
  const type = found.contentType?.toLowerCase() ?? '';
  if (!/^application\/(?:taxii\+json|vnd\.oasis\.(?:taxii|stix)\+json|json)\b/.test(type))
    throw new ExternalError(`the response is not a TAXII response (${type.slice(0, 60) || 'no content type'})`);
  return found;
}
