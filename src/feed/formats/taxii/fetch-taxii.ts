import { FetchStatusError } from '../../../platform/lib/outbound-http/fetch.ts';
import type { FetchSession, FetchSessionResult, FetchedDocument } from '../fetch-session.ts';
import { parseInstant, type SkippedEntry } from '../../model/source-record.ts';
import type { SourceDocument } from '../source-document.ts';
import { joinPages, type TaxiiPageDigest, type JoinedPages } from './page-digest.ts';
import { fetchTaxiiResponse, findObjectEndpoints } from './taxii-endpoints.ts';

/** How the rest of a list is asked for: by the server's word for it or, where it gives none, by the date of what came last (TAXII 2.1, 3.5). */
type Next = { next: string } | { added_after: string };
/**
 * How far a collection is read. `next` goes on where the bounds of a pull cut a list; `tail` is the hash of what the overlap brought last,
 * which is nothing new when it comes again.
 */
type Place = { addedAfter?: string | undefined; next?: Next | undefined; tail?: string };
type Read = { read: JoinedPages; place: Place; whole: boolean };

const pageLimit = '1000';
const pagesMax = 10_000;
// Servers that date objects before they publish them, and clocks that differ.
const overlapMs = 10 * 60_000;

/**
 * Reads what was added to the collections since the last pull. Where the new objects change or join older ones, the collection is read
 * again as a whole: an item is made of objects that belong together, and half of them would be a wrong item.
 */
export async function fetchTaxii(context: FetchSession): Promise<FetchSessionResult> {
  const places = { ...((context.cursor ?? {}) as { places?: Record<string, Place> }).places };
  const parts: SourceDocument[] = [];
  const skipped: SkippedEntry[] = [];
  let more = false;
  let first: unknown;
  const endpoints = await findObjectEndpoints(context);
  for (const url of endpoints) {
    if (!context.hasRoom()) {
      more = true;
      break;
    }
    try {
      const before = places[url] ?? {};
      const { read, place, whole } = await readNew(context, url, before);
      if (read.count > 0) parts.push({ name: url, url, bytes: read.bytes });
      if (!whole && before.addedAfter !== undefined)
        skipped.push({ entry: url, reason: 'too large to be read as a whole; only what is new was read' });
      places[url] = place;
      more ||= place.next !== undefined;
    } catch (error) {
      first ??= error;
      skipped.push({ entry: url, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  if (parts.length === 0 && skipped.length === endpoints.length) throw first;
  return { parts, cursor: { places }, unchanged: 0, skipped, more };
}

async function readNew(context: FetchSession, url: string, before: Place): Promise<Read> {
  const added = await readPages(context, url, before).catch((error: unknown) => {
    // A server does not remember for ever where a list was left.
    if (before.next === undefined || !(error instanceof FetchStatusError) || ![400, 404, 410].includes(error.status))
      throw error;
    return readPages(context, url, { ...before, next: undefined });
  });
  const isFirst = before.addedAfter === undefined;
  const tail = added.read.hash;
  if (!isFirst) added.place.tail = tail;
  if (before.tail === tail) return { ...added, read: { ...added.read, count: 0 }, whole: true };
  if (isFirst || added.read.alone) return { ...added, whole: true };
  const all = await readPages(context, url, {});
  return all.place.next === undefined
    ? { ...all, place: { ...all.place, tail }, whole: true }
    : { ...added, whole: false };
}

async function readPages(context: FetchSession, url: string, from: Place): Promise<Read> {
  const pages: TaxiiPageDigest[] = [];
  let { next } = from;
  let last: string | undefined = from.addedAfter;
  for (let page = 0; page < pagesMax; page += 1) {
    if (page > 0 && !context.hasRoom())
      return { read: joinPages(pages), place: { addedAfter: from.addedAfter, next }, whole: false };
    const address = new URL(url);
    const query = {
      limit: pageLimit,
      ...(from.addedAfter === undefined ? {} : { added_after: overlapped(from.addedAfter) }),
      ...next,
    };
    for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
    const answer = await fetchTaxiiResponse(context, address.href);
    const addedLast = lastOf(answer);
    const read = (await context.digest([answer])) as TaxiiPageDigest;
    pages.push(read);
    last = later(last, addedLast);
    next = nextOf(read, { addedLast, asked: address.searchParams.get('added_after') });
    if (next === undefined) {
      const place = { addedAfter: last ?? context.now.toISOString() };
      return { read: joinPages(pages), place, whole: true };
    }
  }
  throw new Error(`the collection has more than ${pagesMax} pages`);
}

function lastOf({ headers }: FetchedDocument): string | undefined {
  const last = headers['x-taxii-date-added-last'];
  return typeof last === 'string' ? last : undefined;
}

function nextOf(
  { more, next }: TaxiiPageDigest,
  page: { addedLast: string | undefined; asked: string | null },
): Next | undefined {
  if (!more) return undefined;
  if (next !== undefined) return { next };
  if (page.addedLast === undefined || page.addedLast === page.asked)
    throw new Error('the server says that there is more and not where');
  return { added_after: page.addedLast };
}

const overlapped = (time: string): string => new Date(Date.parse(time) - overlapMs).toISOString();

function later(known: string | undefined, given: unknown): string | undefined {
  const time = parseInstant(given);
  return time && (known === undefined || time > known) ? time : known;
}
