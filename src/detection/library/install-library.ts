import { asDryRun, inOrg } from '../../platform/db/db.ts';
import { AppError, fieldError } from '../../platform/lib/errors.ts';
import { didYouMean } from '../../platform/lib/text/nearest-names.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { toTestSet, withoutTests } from '../as-code/file-fields.ts';
import { prepareDetection, storeNewDetection, type CreateDetectionDeps } from '../detections/create-detection.ts';
import type { CreateDetection } from '../detections/record/detection-input.schema.ts';
import { storeTests } from '../detections/test-cases.store.ts';
import { listDatasets, type ListDatasetsDeps } from '../log-query/datasets/list-datasets.ts';
import { type LibraryEntry, loadLibrary } from './load-library.ts';
import { listInstalls, lockLibraryId, storeInstall } from './library-installs.store.ts';
import { checkLogs, describeMissing, readKnownColumns } from './list-library.ts';
import type { InstallRequest, InstallResult } from './library.schema.ts';
import { toShippedFields, versionOf, type DatasetNames, type InstallChoice } from './library-version.ts';

export type InstallLibraryDeps = CreateDetectionDeps & ListDatasetsDeps;
type Result = InstallResult['results'][number];

/**
 * Creates a detection with its tests for each shipped detection that is not installed, in a transaction of its own. With a connection, a
 * detection whose query cannot run there fails. Throws 400 for unknown ids
 * and for datasets that none of the detections reads.
 */
export async function installLibrary(
  deps: InstallLibraryDeps,
  caller: Caller,
  { ids, datasets = {}, connectionId, dryRun = false }: InstallRequest,
): Promise<InstallResult> {
  const entries = findEntries(ids);
  checkDatasetNames(entries, datasets);
  const known = readKnownColumns(await listDatasets(deps, caller.orgId));
  const installDeps = dryRun ? { ...deps, db: asDryRun(deps.db) } : deps;
  const results: Result[] = [];
  for (const entry of entries) {
    const result = await installOne(installDeps, caller, entry, { datasets, connectionId });
    // A dry run has rolled back the detection.
    const detectionId = dryRun && result.outcome === 'installed' ? null : result.detectionId;
    results.push({
      ...result,
      detectionId,
      detail: result.detail ?? (connectionId ? null : describeMissing(checkLogs(entry, datasets, known))),
    });
  }
  return { dryRun, results };
}

/** Returns the shipped detections with these ids. Throws 400 that names the nearest id for an unknown one. */
export function findEntries(ids: readonly string[]): LibraryEntry[] {
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

async function installOne(
  deps: InstallLibraryDeps,
  caller: Caller,
  entry: LibraryEntry,
  choice: InstallChoice,
): Promise<Result> {
  const { orgId } = caller;
  const fields = toShippedFields(entry, choice);
  try {
    const mustRun = choice.connectionId !== undefined;
    const prepared = await prepareDetection(deps, caller, withoutTests(fields) as CreateDetection, mustRun);
    const { agent } = prepared;
    return await inOrg(deps.db, orgId, async (tx): Promise<Result> => {
      await lockLibraryId(tx, orgId, entry.id);
      const installed = (await listInstalls(tx, orgId)).get(entry.id);
      if (installed) return { id: entry.id, outcome: 'unchanged', detectionId: installed.detectionId, detail: null };
      await storeNewDetection(tx, caller, prepared);
      await storeTests(tx, { orgId, detectionId: agent.id }, toTestSet(fields), agent.updated_at);
      const install = {
        libraryId: entry.id,
        detectionId: agent.id,
        version: versionOf(entry),
        fields,
        datasets: choice.datasets,
      };
      await storeInstall(tx, orgId, install, agent.updated_at);
      return { id: entry.id, outcome: 'installed', detectionId: agent.id, detail: null };
    });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { id: entry.id, outcome: 'failed', detectionId: null, detail: error.message };
  }
}
