import { inOrg } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { diffFields, type FileFields } from '../managed/file-fields.ts';
import { readFields } from '../managed/sync-detections.ts';
import { listDatasets, type ListDatasetsDeps } from '../log-query/datasets/list-datasets.ts';
import { listTechniqueIds, type LibraryEntry, loadLibrary, versionOf, type DatasetNames } from './load-library.ts';
import { listInstalls, type LibraryInstall } from './library-installs.store.ts';
import type { LibraryDetection, LibraryList } from './library.schema.ts';
import { listWindowsPaths } from '../log-engine/sql/windows-fields.ts';

type ListLibraryDeps = ListDatasetsDeps & { clock: Clock };

/** Returns the shipped detections by log source, with the fields that the organization's logs lack for each, and whether it is installed. */
export async function listLibrary(deps: ListLibraryDeps, caller: Caller): Promise<LibraryList> {
  const known = readKnownColumns(await listDatasets(deps, caller.orgId));
  const installs = await readInstalls(deps, caller);
  const bySource = Map.groupBy(loadLibrary().values(), ({ logSource }) => `${logSource.product}\n${logSource.service}`);
  const logSources = [...bySource]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, entries]) => toLogSource(entries, installs, known));
  return { total: loadLibrary().size, logSources };
}

function toLogSource(
  entries: readonly LibraryEntry[],
  installs: ReadonlyMap<string, CurrentInstall>,
  known: KnownColumns,
): LibraryList['logSources'][number] {
  const { product, service } = entries[0]!.logSource;
  const detections = entries.map((entry) => toLibraryDetection(entry, installs.get(entry.id), known));
  return {
    product,
    service,
    setup: [...new Set(entries.flatMap(({ logSource }) => logSource.setup ?? []))],
    isReady: detections.some(({ isReady }) => isReady),
    detections,
  };
}

function toLibraryDetection(
  entry: LibraryEntry,
  current: CurrentInstall | undefined,
  known: KnownColumns,
): LibraryDetection {
  const { id, body, severity, noise, references } = entry;
  const version = versionOf(entry);
  return {
    id,
    name: body.name,
    description: body.description ?? '',
    category: body.detectionCategory,
    severity,
    techniques: listTechniqueIds(entry),
    tags: body.tags ?? [],
    noise,
    references,
    version,
    ...checkLogs(entry, current?.install.datasets ?? {}, known),
    installed: current
      ? {
          detectionId: current.install.detectionId,
          version: current.install.version,
          isCurrent: current.install.version === version,
          editedFields: diffFields(current.install.fields, current.fields).map(({ field }) => field),
        }
      : null,
  };
}

/** An installed detection with the fields and tests that it has now. */
type CurrentInstall = { install: LibraryInstall; fields: FileFields };

/** Returns the installed detections with their present fields, by library id. */
function readInstalls({ db, clock }: ListLibraryDeps, { orgId }: Caller): Promise<Map<string, CurrentInstall>> {
  const now = clock();
  return inOrg(db, orgId, async (tx) => {
    const current = new Map<string, CurrentInstall>();
    for (const [libraryId, install] of await listInstalls(tx, orgId)) {
      const fields = await readFields(tx, { orgId, now }, install.detectionId);
      if (fields) current.set(libraryId, { install, fields });
    }
    return current;
  });
}

/** The columns of each dataset, in lower case. */
export type KnownColumns = ReadonlyMap<string, ReadonlySet<string>>;

type KnownDatasets = { datasets: readonly { name: string; columns: readonly { name: string }[] }[] };

export const readKnownColumns = ({ datasets }: KnownDatasets): KnownColumns =>
  new Map(datasets.map(({ name, columns }) => [name, new Set(columns.map((column) => column.name.toLowerCase()))]));

/** Returns the datasets and fields that a shipped detection needs, and which of them an organization's logs have had. */
export function checkLogs(
  { datasets }: Pick<LibraryEntry, 'datasets'>,
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
export function hasField(columns: ReadonlySet<string>, dataset: string, field: string): boolean {
  const paths = dataset === 'windows' ? listWindowsPaths(field) : [field];
  return paths.some((path) => columns.has(path.toLowerCase()) || hasWithin(columns, path.toLowerCase()));
}

const hasWithin = (columns: ReadonlySet<string>, path: string): boolean =>
  [...columns].some((column) => column.startsWith(`${path}.`));
