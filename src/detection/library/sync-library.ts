import { inOrg } from '../../platform/db/db.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import { didYouMean } from '../../platform/lib/text/nearest-names.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { listDatasets, type ListDatasetsDeps } from '../log-query/datasets/list-datasets.ts';
import { mergeVersions } from '../managed/file-fields.ts';
import { syncDetections, syncStep, type Origin } from '../managed/sync-detections.ts';
import type { UpdateDetectionDeps } from '../detections/update-detection.ts';
import { findInstalled, listInstalls, storeInstallSql, type LibraryInstall } from './library-installs.store.ts';
import { toShippedFields, versionOf, type DatasetNames } from './load-library.ts';
import type { InstallRequest, InstallResult, UpdateRequest, UpdateResult } from './library.schema.ts';
import { checkLogs, describeMissing, readKnownColumns } from './list-library.ts';
import { loadLibrary, type LibraryEntry } from './load-library.ts';

export type SyncLibraryDeps = UpdateDetectionDeps & ListDatasetsDeps;

type LibraryItem = { key: string; entry: LibraryEntry; datasets: DatasetNames; applied: LibraryInstall | undefined };

/**
 * Creates a detection with its tests for each shipped detection that is not installed, in a transaction of its own. With a connection, a
 * detection whose query cannot run there fails. Throws 400 for unknown ids
 * and for datasets that none of the detections reads.
 */
export async function installLibrary(
  deps: SyncLibraryDeps,
  caller: Caller,
  { ids, datasets = {}, connectionId, dryRun = false }: InstallRequest,
): Promise<InstallResult> {
  const { orgId } = caller;
  const entries = findEntries(ids);
  checkDatasetNames(entries, datasets);
  const known = readKnownColumns(await listDatasets(deps, orgId));
  const installs = await inOrg(deps.db, orgId, (tx) => listInstalls(tx, orgId));
  const items = entries.map((entry) => ({ key: entry.id, entry, datasets, applied: installs.get(entry.id) }));
  const origin = openLibrary(orgId, ({ entry, applied }) =>
    applied ? syncStep('none') : syncStep('create', { fields: toShippedFields(entry, { datasets, connectionId }) }),
  );
  const request = { items, dryRun, mustRun: connectionId !== undefined };
  const outcomes = { created: 'installed', none: 'unchanged', failed: 'failed' } as const;
  const results = (await syncDetections(deps, caller, origin, request)).map(
    ({ item: { entry }, outcome, detectionId, error }) => ({
      id: entry.id,
      outcome: outcomes[outcome as keyof typeof outcomes],
      detectionId,
      detail: error?.message ?? (connectionId ? null : describeMissing(checkLogs(entry, datasets, known))),
    }),
  );
  return { dryRun, results };
}

/**
 * Brings installed detections to the library's version, field by field. A field that the organization edited keeps its value and is reported.
 * Without `ids`, updates every detection that has a new version.
 */
export async function updateLibrary(
  deps: SyncLibraryDeps,
  caller: Caller,
  { ids, dryRun = false }: UpdateRequest,
): Promise<UpdateResult> {
  const { orgId } = caller;
  const installs = await inOrg(deps.db, orgId, (tx) => listInstalls(tx, orgId));
  const entries = ids
    ? findEntries(ids)
    : [...loadLibrary().values()].filter((entry) => isOutdated(entry, installs.get(entry.id)));
  const items = entries.map((entry) => {
    const applied = installs.get(entry.id);
    return { key: entry.id, entry, datasets: applied?.datasets ?? {}, applied };
  });
  const origin = openLibrary(orgId, async ({ entry, datasets, applied }, readCurrent) => {
    if (applied && !isOutdated(entry, applied)) return syncStep('none');
    const current = applied && (await readCurrent());
    if (!current) return syncStep('fail', { detail: 'It is not installed.' });
    const connectionId = applied.fields['connectionId'] as string | undefined;
    const fields = toShippedFields(entry, { datasets, connectionId });
    return syncStep('update', { fields, ...mergeVersions(applied.fields, fields, current) });
  });
  const results = (await syncDetections(deps, caller, origin, { items, dryRun })).map(
    ({ item: { key: id }, step: { action, changes, kept, detail }, outcome, detectionId, error }) => {
      const isUpdated = action === 'update' && outcome !== 'failed';
      const shown = outcome === 'failed' ? 'failed' : isUpdated ? 'updated' : 'unchanged';
      return { id, outcome: shown, detectionId, detail: error?.message ?? detail, changes, kept } as const;
    },
  );
  return { dryRun, results };
}

const openLibrary = (orgId: OrgId, plan: Origin<LibraryItem>['plan']): Origin<LibraryItem> => ({
  lock: `library ${orgId}`,
  hasTests: true,
  plan,
  find: (tx, libraryIds) => findInstalled(tx, orgId, libraryIds),
  storeSql: ({ entry, datasets }, applied, now) =>
    storeInstallSql(orgId, { ...applied, libraryId: entry.id, version: versionOf(entry), datasets }, now),
});

const isOutdated = (entry: LibraryEntry, install: LibraryInstall | undefined): boolean =>
  install !== undefined && install.version !== versionOf(entry);

/** Returns the shipped detections with these ids. Throws 400 that names the nearest id for an unknown one. */
function findEntries(ids: readonly string[]): LibraryEntry[] {
  const library = loadLibrary();
  return [...new Set(ids)].map((id) => {
    const entry = library.get(id);
    if (entry) return entry;
    const hint = didYouMean(id, library.keys());
    throw fieldError(`/ids/${ids.indexOf(id)}`, 'unknown_id', `The library has no detection ${id}${hint}`);
  });
}

function checkDatasetNames(entries: readonly LibraryEntry[], datasets: DatasetNames): void {
  const read = new Set(entries.flatMap((entry) => Object.keys(entry.datasets)));
  const unknown = Object.keys(datasets).find((name) => !read.has(name));
  if (unknown !== undefined)
    throw fieldError(
      `/datasets/${unknown}`,
      'unknown_dataset',
      `None of these detections reads a dataset ${unknown}${didYouMean(unknown, read)}`,
    );
}
