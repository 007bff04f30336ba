import { z } from 'zod';
import { fieldError } from './errors.ts';

/** The query of every list that interface.md does not fix: `limit` 1-200 and an opaque `cursor`. */
export const PageQuery = z.object({
  limit: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number from 1 to 200')
    .optional(),
  cursor: z.string().max(500).optional(),
});
export type PageQuery = z.infer<typeof PageQuery>;

/** Where a page ends: the time and id of its last row. */
export type Mark = { at: Date; id: string };

export type PageRequest = { limit: number; after: Mark | null };

/** Reads limit and cursor. Throws a 400 that names the one that is wrong. */
export function pageRequest(query: PageQuery): PageRequest {
  const limit = query.limit === undefined ? 50 : Number(query.limit);
  if (limit < 1 || limit > 200)
    throw fieldError('query/limit', 'out_of_range', 'limit must be a whole number from 1 to 200.');
  return { limit, after: query.cursor === undefined ? null : markOf(query.cursor) };
}

function markOf(cursor: string): Mark {
  const [at, id] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const date = new Date(at ?? '');
  if (!id || id.length > 100 || Number.isNaN(date.getTime())) {
    throw fieldError('query/cursor', 'invalid_cursor', 'cursor must be a nextCursor that an earlier page gave.');
  }
  return { at: date, id };
}

/** Cuts `found` (fetched with limit + 1, newest first) to the page and names the next one. */
export function pageOf<T>(found: T[], limit: number, mark: (row: T) => Mark): { page: T[]; nextCursor: string | null } {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  if (found.length <= limit || last === undefined) return { page, nextCursor: null };
  const { at, id } = mark(last);
  return { page, nextCursor: Buffer.from(`${at.toISOString()} ${id}`).toString('base64url') };
}
