import type { DigestInput, FetchSession, FetchSessionResult } from '../fetch-session.ts';
import { asObject, parseJsonBytes } from '../../../platform/lib/json/json-values.ts';
import type { SourceDocument } from '../source-document.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

const dayMs = 24 * 3_600_000;
/** The longest range that the service accepts (NVD CVE API 2.0, lastModStartDate). */
const rangeMaxMs = 120 * dayMs;
/** The service publishes changes some time after their own timestamp. */
const overlapMs = 2 * 3_600_000;
// The service allows 5 requests in 30 seconds, or 50 with a key.
const requestIntervalMs = { withoutKey: 6_000, withKey: 600 };
const pageSize = '2000';

/** The start of the unread time and, within a range, the progress of the last pull. */
type NvdCursor = { from: string; to?: string; startIndex?: number; total?: number };

/**
 * Fetches the changes since the last pull page by page, in ranges of at most 120 days. The first pull fetches the last 120 days. Query
 * parameters of the source's address restrict the result. The next pull continues a range that the bounds of this one cut.
 */
export async function fetchNvd(session: FetchSession): Promise<FetchSessionResult> {
  const now = session.now.getTime();
  let cursor = (session.cursor as NvdCursor | undefined) ?? { from: new Date(now - rangeMaxMs).toISOString() };
  const parts: SourceDocument[] = [];
  for (let requests = 0; ; requests += 1) {
    const to = cursor.to ?? new Date(Math.min(now, Date.parse(cursor.from) + rangeMaxMs)).toISOString();
    const startIndex = cursor.startIndex ?? 0;
    if (requests > 0) await session.pause(requestIntervalMs[session.hasCredential ? 'withKey' : 'withoutKey']);
    if (!session.hasRoom())
      return { parts, cursor: { ...cursor, to, startIndex }, unchanged: 0, skipped: [], more: true };
    const page = await fetchPage(session, { from: cursor.from, to, startIndex });
    if (page.count > 0) parts.push(page.part);
    // A record that changes during the pull leaves the range, and the following records move up.
    const removed = Math.max(0, (cursor.total ?? page.total) - page.total);
    const next = removed > 0 ? Math.max(0, startIndex - removed) : startIndex + page.count;
    if (page.count + removed > 0 && next < page.total)
      cursor = { from: cursor.from, to, startIndex: next, total: page.total };
    else if (Date.parse(to) < now) cursor = { from: to };
    else break;
  }
  return { parts, cursor: { from: new Date(now - overlapMs).toISOString() }, unchanged: 0, skipped: [], more: false };
}

async function fetchPage(
  session: FetchSession,
  { from, to, startIndex }: { from: string; to: string; startIndex: number },
): Promise<NvdPageDigest & { part: SourceDocument }> {
  const url = new URL(session.url);
  url.searchParams.set('lastModStartDate', from);
  url.searchParams.set('lastModEndDate', to);
  url.searchParams.set('startIndex', String(startIndex));
  if (!url.searchParams.has('resultsPerPage')) url.searchParams.set('resultsPerPage', pageSize);
  const fetched = (await session.fetch(url.href, { accept: 'application/json' }))!;
  const digest = (await session.digest([fetched])) as NvdPageDigest;
  return { ...digest, part: { name: `${from} ${startIndex}`, bytes: fetched.bytes } };
}

/** The number of records on a page and in its range. */
type NvdPageDigest = { count: number; total: number };

/** Throws an Error if the document is not a page of the API. */
export function digestNvdPage({ bytes }: DigestInput): NvdPageDigest {
  const { vulnerabilities, totalResults: total } = asObject(parseJsonBytes(bytes));
  if (!Array.isArray(vulnerabilities) || typeof total !== 'number')
    throw new ExternalError('the response is not a page of the CVE API');
  return { count: vulnerabilities.length, total };
}
