import type { Db } from '../../../platform/db/db.ts';

/** The row that a page ends with: the next one begins below it. */
export type Mark = { at: Date; id: string };

const marksMax = 20_000;
const marksByDb = new WeakMap<Db, Map<string, Mark>>();

/**
 * Where pages that were made end, by the view, the filters and how many rows lie before the next one. Whoever reads page after page
 * then never scans the pages before again; a mark of an older view is never asked for.
 */
export function marksOf(db: Db): { get: (key: string) => Mark | undefined; put: (key: string, mark: Mark) => void } {
  const marks = marksByDb.get(db) ?? new Map<string, Mark>();
  marksByDb.set(db, marks);
  return {
    get: (key) => marks.get(key),
    put(key, mark) {
      if (marks.size >= marksMax) marks.clear();
      marks.set(key, mark);
    },
  };
}
