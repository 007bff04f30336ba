import { z } from 'zod';

/** The end of a page in a list with several sort orders: the sort value of its last row as text, and the row's id. */
export type SortCursor = { sort: string; value: string; id: string };

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
