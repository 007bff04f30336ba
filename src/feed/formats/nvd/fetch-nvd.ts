import type { FetchSession, FetchSessionResult, DigestInput } from '../fetch-session.ts';
import { isObject, parseJsonBytes } from '../../../platform/lib/json/json-values.ts';
import type { SourceDocument } from '../source-document.ts';

const dayMs = 24 * 3_600_000;
/** The longest range that the service answers (NVD CVE API 2.0, lastModStartDate). */
const windowMs = 120 * dayMs;
/** Changes are published a little after the time that they carry. */
const overlapMs = 2 * 3_600_000;
// 5 requests in 30 seconds, 50 with a key.
const paceMs = { without: 6_000, withKey: 600 };
const pageSize = '2000';

/** From when on is still to be read; within a range, how far the last pull came. */
type State = { from: string; to?: string; startIndex?: number; total?: number };

/**
 * Reads what changed since the last pull, in ranges of at most 120 days, page by page; the first pull reads the last 120 days. Other
 * parameters of the source's address narrow it. A range that the bounds of a pull cut is gone on with at the next.
 */
export async function fetchNvd(context: FetchSession): Promise<FetchSessionResult> {
  const now = context.now.getTime();
  let state = (context.cursor as State | undefined) ?? { from: new Date(now - windowMs).toISOString() };
  const parts: SourceDocument[] = [];
  let requests = 0;
  for (;;) {
    const to = state.to ?? new Date(Math.min(now, Date.parse(state.from) + windowMs)).toISOString();
    const startIndex = state.startIndex ?? 0;
    if (requests > 0) await context.pause(context.hasCredential ? paceMs.withKey : paceMs.without);
    if (!context.hasRoom())
      return { parts, cursor: { ...state, to, startIndex }, unchanged: 0, skipped: [], more: true };
    const page = await readPage(context, { from: state.from, to, startIndex });
    requests += 1;
    if (page.count > 0) parts.push(page.part);
    // What is changed meanwhile leaves the range, and what comes after it moves up.
    const gone = Math.max(0, (state.total ?? page.total) - page.total);
    const next = gone > 0 ? Math.max(0, startIndex - gone) : startIndex + page.count;
    if (page.count + gone > 0 && next < page.total)
      state = { from: state.from, to, startIndex: next, total: page.total };
    else if (Date.parse(to) < now) state = { from: to };
    else break;
  }
  return {
    parts,
    cursor: { from: new Date(now - overlapMs).toISOString() },
    unchanged: 0,
    skipped: [],
    more: false,
  };
}

async function readPage(
  context: FetchSession,
  { from, to, startIndex }: { from: string; to: string; startIndex: number },
): Promise<{ part: SourceDocument; count: number; total: number }> {
  const url = new URL(context.url);
  url.searchParams.set('lastModStartDate', from);
  url.searchParams.set('lastModEndDate', to);
  url.searchParams.set('startIndex', String(startIndex));
  if (!url.searchParams.has('resultsPerPage')) url.searchParams.set('resultsPerPage', pageSize);
  const found = (await context.fetch(url.href, { accept: 'application/json' }))!;
  const { count, total } = (await context.digest([found])) as PageDigest;
  return { part: { name: `${from} ${startIndex}`, bytes: found.bytes }, count, total };
}

type PageDigest = { count: number; total: number };

/** How many records a page has, and how many the range. Throws an Error for what is no page. */
export function digestNvdPage({ bytes }: DigestInput): PageDigest {
  const page = parseJsonBytes(bytes);
  const list = isObject(page) ? page['vulnerabilities'] : undefined;
  const total = isObject(page) ? page['totalResults'] : undefined;
  if (!Array.isArray(list) || typeof total !== 'number') throw new Error('the answer is no page of the CVE API');
  return { count: list.length, total };
}
