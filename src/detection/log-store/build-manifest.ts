import type { CatalogField } from './catalog/catalog.ts';
import { toEngineType } from './catalog/column-types.ts';
import { listStoredFields } from './catalog/stored-columns.ts';
import { pathInManifest } from './files/segment-path.ts';
import type { PublishedFile } from './manifest.store.ts';

/** The columns of every file. `_event` is the text of the event in JSON. */
const systemColumns = [
  { name: '_id', type: 'VARCHAR' },
  { name: '_time', type: 'TIMESTAMP' },
  { name: '_ingested', type: 'TIMESTAMP' },
  { name: '_event', type: 'JSON' },
];

/**
 * Returns the content of a manifest: the columns that files of the dataset have, and the files. `key` is the key of events whose values a column
 * has. A file has the first `columns` of the columns with a key. See docs/operate/parquet.md.
 */
export function buildManifest(dataset: string, fields: readonly CatalogField[], files: PublishedFile[]): string {
  const columns = listStoredFields(fields).map(({ name, stored }) => ({
    name: stored.name,
    type: toEngineType(stored.type),
    key: name,
  }));
  const manifest = {
    version: 1,
    dataset,
    rows: files.reduce((sum, { rows }) => sum + rows, 0),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    columns: [...systemColumns, ...columns],
    files: files.map(({ path, sha256, ...file }) => ({
      path: pathInManifest(dataset, path),
      ...file,
      ...(sha256 === null ? {} : { sha256 }),
    })),
  };
  return `${JSON.stringify(manifest, null, 1)}\n`;
}
