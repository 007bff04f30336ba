import type { DatasetList } from '../log-store/catalog/datasets.schema.ts';
import { listWindowsPaths } from '../log-engine/functions/windows-fields.ts';
import type { LibraryEntry } from './library-entry.ts';
import type { LibraryDetection } from './library.schema.ts';
import type { DatasetNames } from './library-version.ts';

/** The columns of each dataset, in lower case. */
export type KnownColumns = ReadonlyMap<string, ReadonlySet<string>>;

export const readKnownColumns = ({ datasets }: DatasetList): KnownColumns =>
  new Map(datasets.map(({ name, columns }) => [name, new Set(columns.map((column) => column.name.toLowerCase()))]));

/** Returns the datasets and fields that a shipped detection needs, and which of them an organization's logs have had. */
export function checkLogs(
  { datasets }: LibraryEntry,
  names: DatasetNames,
  known: KnownColumns,
): Pick<LibraryDetection, 'datasets' | 'isReady'> {
  const checked = Object.entries(datasets).map(([name, fields]) => {
    const dataset = names[name] ?? name;
    const columns = known.get(dataset);
    return {
      name,
      dataset,
      isPresent: columns !== undefined,
      fields: fields.map((field) => ({
        name: field,
        isPresent: columns !== undefined && hasField(columns, name, field),
      })),
    };
  });
  return { datasets: checked, isReady: checked.every(({ fields }) => fields.every(({ isPresent }) => isPresent)) };
}

/** Describes what the logs lack, or returns null. */
export function describeMissing({ datasets }: Pick<LibraryDetection, 'datasets'>): string | null {
  const missing = datasets.flatMap(({ dataset, isPresent, fields }) =>
    isPresent
      ? fields.filter((field) => !field.isPresent).map((field) => `${dataset} has had no field ${field.name}`)
      : [`the dataset ${dataset} has had no event`],
  );
  return missing.length === 0 ? null : `It finds nothing yet: ${missing.join('; ')}.`;
}

/**
 * Returns whether a dataset has a field. A field of a Windows event has several names, and an object's field also counts if only the object
 * is known.
 */
function hasField(columns: ReadonlySet<string>, dataset: string, field: string): boolean {
  const paths = dataset === 'windows' ? listWindowsPaths(field) : [field];
  return paths.some((path) => columns.has(path.toLowerCase()) || hasWithin(columns, path.toLowerCase()));
}

const hasWithin = (columns: ReadonlySet<string>, path: string): boolean =>
  [...columns].some((column) => column.startsWith(`${path}.`));
