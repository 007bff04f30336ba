import { z } from 'zod';
import { fieldError } from './errors.ts';
import { isInstant } from './instant.ts';
import { text } from './text/bounded-text.ts';

/** The query of every list that interface.md does not fix: `limit` 1-200 and an opaque `cursor`. */
export const PageQuery = z.object({
  limit: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a whole number from 1 to 200')
    .optional(),
  cursor: text({ max: 500 }).optional(),
});
export type PageQuery = z.infer<typeof PageQuery>;

/** Where a page ends: the time and id of its last row. */
export type Mark = { at: Date; id: string };

export type PageRequest = { limit: number; after: Mark | null };

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Of lists whose marks are no UUIDs. */
export const plainMark = /^\w{1,100}$/;

/** Reads limit and cursor. Throws a 400 that names the one that is wrong: `idForm` is what a mark's id looks like. */
export function pageRequest(query: PageQuery, idForm = uuid): PageRequest {
  const limit = query.limit === undefined ? 50 : Number(query.limit);
  if (limit < 1 || limit > 200)
    throw fieldError('query/limit', 'out_of_range', 'limit must be a whole number from 1 to 200.');
  return { limit, after: query.cursor === undefined ? null : cursorMark(query.cursor, idForm) };
}

function cursorMark(cursor: string, idForm: RegExp): Mark {
  const mark = readMark(cursor, idForm);
  if (!mark)
    throw fieldError('query/cursor', 'invalid_cursor', 'cursor must be a nextCursor that an earlier page gave.');
  return mark;
}

/** A mark as an opaque word for an address. */
export const markText = ({ at, id }: Mark): string => Buffer.from(`${at.toISOString()} ${id}`).toString('base64url');

/** The mark that such a word stands for; undefined for one that was made up. */
export function readMark(text: string, idForm = uuid): Mark | undefined {
  const [at = '', id = ''] = Buffer.from(text, 'base64url').toString().split(' ');
  return isInstant(at) && idForm.test(id) ? { at: new Date(at), id } : undefined;
}

/** Cuts `found` (fetched with limit + 1, newest first) to the page and names the next one. */
export function pageOf<T>(found: T[], limit: number, mark: (row: T) => Mark): { page: T[]; nextCursor: string | null } {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  if (found.length <= limit || last === undefined) return { page, nextCursor: null };
  return { page, nextCursor: markText(mark(last)) };
}
