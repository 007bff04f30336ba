import { LRUCache } from 'lru-cache';
import type { PageCursor } from '../../../platform/lib/page-request.ts';

/**
 * The row before each page, keyed by snapshot, filters and offset. A client that reads page after page then never makes the database scan
 * the earlier pages again.
 */
export type PageCursors = LRUCache<string, PageCursor>;

export const createPageCursors = (): PageCursors => new LRUCache({ max: 20_000 });
