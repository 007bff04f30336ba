import { basename, dirname, join } from 'node:path';

const extensions = { text: 'events', typed: 'columns', published: 'parquet' };

/**
 * Returns the path of a segment's file, whose folder is relative to the organization's. The extensions, but for those of files for other engines,
 * are none that the engine knows: DuckDB opens a file whose name a query uses as a table only if the name ends like `.csv` or `.parquet`, so no
 * query can open a segment by its name.
 */
export const segmentPath = (folder: string, id: string, kind: keyof typeof extensions): string =>
  join(folder, `${id}.${extensions[kind]}`);

/** Ends the names of files that are incomplete. */
export const partialSuffix = '.partial';

/** Returns the path of a file while it is written, which is outside of the folders that other engines read. */
export const partialPath = (id: string): string => `${id}${partialSuffix}`;

const datasetFolder = (dataset: string): string => `dataset=${dataset}`;

/** Returns whether a path is one for other engines. */
export const isPublished = (path: string): boolean => path.startsWith(datasetFolder(''));

/** Stands for the hour of files with events of several hours. A number, because engines derive the type of the column from its values. */
const severalHours = '24';

/**
 * Returns the folder for files that other engines read, which is that of a day, or of an hour of it. Dataset names consist of characters that
 * need no escaping. The engine could open these files by name, but `checkCteName` accepts no name with a dot.
 */
export function publishedFolder(dataset: string, at: Date, per: 'hour' | 'day'): string {
  const [date, time] = at.toISOString().split('T') as [string, string];
  return join(datasetFolder(dataset), `date=${date}`, `hour=${per === 'hour' ? time.slice(0, 2) : severalHours}`);
}

/** Returns the folders of the hour and the day of a file for other engines, innermost first, or an empty list for another file. */
export function partitionFolders(path: string): string[] {
  const hour = dirname(path);
  const day = dirname(hour);
  return basename(hour).startsWith('hour=') && basename(day).startsWith('date=') ? [hour, day] : [];
}

/** Returns the path of the list of the files that other engines read. They ignore names that begin with an underscore. */
export const manifestPath = (dataset: string): string => join(datasetFolder(dataset), '_manifest.json');

/** Returns the path of a file relative to the manifest of its dataset. */
export const pathInManifest = (dataset: string, path: string): string => path.slice(datasetFolder(dataset).length + 1);
