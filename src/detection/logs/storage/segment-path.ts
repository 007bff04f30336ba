import { join } from 'node:path';

/**
 * Returns the path of a segment's file in the organization's log folder. The extensions are none that the engine knows: DuckDB opens a file
 * whose name a query uses as a table only if the name ends like `.csv` or `.parquet`, so no query can open a segment by its name.
 */
export function segmentPath(dataset: string, id: string, format: 'text' | 'parquet'): string {
  return join(dataset, `${id}.${format === 'text' ? 'events' : 'columns'}`);
}
