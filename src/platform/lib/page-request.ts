import { z } from 'zod';
import { integerMeta, isInstant } from './schema-parts.ts';
import { fieldError, type AppError } from './errors.ts';
import { boundedString } from './text/bounded-text.ts';

/** The query of every paged list: `limit` 1-200 and an opaque `cursor`. Lists with `page` and `perPage` do not use it. */
export const PageQuery = z.object({
  limit: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number from 1 to 200')
    .meta(integerMeta(1, 200))
    .optional()
    .describe('Most entries of the page. Default: 50.'),
  cursor: boundedString({ max: 500 }).optional().describe('`nextCursor` of the previous page.'),
});
export type PageQuery = z.infer<typeof PageQuery>;

/** The end of a page: the time and id of its last row. */
export type PageCursor = { at: Date; id: string };

export type PageRequest = { limit: number; after: PageCursor | null };

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The id pattern of lists whose ids are not UUIDs. */
export const plainIdPattern = /^\w{1,100}$/;

/** Validates limit and cursor. `idPattern` is the form of a row's id. Throws a 400 that points to the invalid parameter. */
export function readPageRequest(query: PageQuery, idPattern = uuidPattern): PageRequest {
  const limit = query.limit === undefined ? 50 : Number(query.limit);
  if (limit < 1 || limit > 200)
    throw fieldError('query/limit', 'out_of_range', 'limit must be a whole number from 1 to 200.');
  return { limit, after: query.cursor === undefined ? null : readCursor(query.cursor, idPattern) };
}

/** Returns the 400 for a cursor that no page of the list has returned. */
export const invalidCursor = (): AppError =>
  fieldError('query/cursor', 'invalid_cursor', 'cursor must be the nextCursor of an earlier page.');

function readCursor(text: string, idPattern: RegExp): PageCursor {
  const cursor = decodeCursor(text, idPattern);
  if (!cursor) throw invalidCursor();
  return cursor;
}

/** Encodes a cursor as opaque base64url text. */
export const encodeCursor = ({ at, id }: PageCursor): string =>
  Buffer.from(`${at.toISOString()} ${id}`).toString('base64url');

/** Decodes a cursor. Returns undefined if the text is not a valid cursor. */
export function decodeCursor(text: string, idPattern = uuidPattern): PageCursor | undefined {
  const [at = '', id = ''] = Buffer.from(text, 'base64url').toString().split(' ');
  return isInstant(at) && idPattern.test(id) ? { at: new Date(at), id } : undefined;
}

/** Cuts rows, fetched with limit + 1, to one page. `nextCursor` is null on the last page. */
export function toPage<T>(
  rows: T[],
  limit: number,
  cursorOf: (row: T) => PageCursor,
): { page: T[]; nextCursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  if (rows.length <= limit || last === undefined) return { page, nextCursor: null };
  return { page, nextCursor: encodeCursor(cursorOf(last)) };
}

/** The end of a page in a list with several sort orders: the sort value of its last row as text, and the row's id. */
type SortCursor = { sort: string; value: string; id: string };

const CursorText = z.tuple([z.string(), z.string(), z.guid()]);

export const encodeSortCursor = ({ sort, value, id }: SortCursor): string =>
  Buffer.from(JSON.stringify([sort, value, id])).toString('base64url');

/** Decodes a cursor. Returns undefined if the text is no cursor of this sort order. */
export function decodeSortCursor(text: string, sort: string): SortCursor | undefined {
  try {
    const [cursorSort, value, id] = CursorText.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    // PostgreSQL rejects this character in text.
    return cursorSort === sort && !value.includes('\u0000') ? { sort, value, id } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the entries of all pages of a list, or the first `max` of them. `readPage` receives the query of a page. `isCut` says whether the list has
 * more entries.
 */
export async function readAllPages<T>(
  readPage: (query: {
    limit: string;
    cursor?: string;
  }) => Promise<{ entries: readonly T[]; nextCursor: string | null }>,
  max = Infinity,
): Promise<{ entries: T[]; isCut: boolean }> {
  const all: T[] = [];
  let cursor: string | null = '';
  do {
    const page = await readPage({ limit: '200', ...(cursor && { cursor }) });
    all.push(...page.entries);
    cursor = page.nextCursor;
  } while (cursor !== null && all.length < max);
  return { entries: all.slice(0, max), isCut: cursor !== null || all.length > max };
}

type RangeQuery = { from?: string | undefined; to?: string | undefined };
type RangeOptions = { now: Date; defaultDays: number; maxDays: number };

const dayMs = 86_400_000;

/** Returns the range of a query with `from` and `to`: by default the last days before now. Throws a 400 if it is empty or too long. */
export function readTimeRange(
  { from: fromText, to: toText }: RangeQuery,
  { now, defaultDays, maxDays }: RangeOptions,
): { from: Date; to: Date } {
  const to = toText === undefined ? now : new Date(toText);
  const from = fromText === undefined ? new Date(to.getTime() - defaultDays * dayMs) : new Date(fromText);
  if (from >= to) throw fieldError('query/from', 'invalid_range', '`from` must be before `to`.');
  if (to.getTime() - from.getTime() > maxDays * dayMs)
    throw fieldError('query/from', 'range_too_long', `The range must be at most ${maxDays} days.`);
  return { from, to };
}
