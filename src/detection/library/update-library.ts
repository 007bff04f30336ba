import { isDeepStrictEqual } from 'node:util';
import { asDryRun, inOrg } from '../../platform/db/db.ts';
import { AppError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/http/caller.ts';
import {
  diffFields,
  hasTestChanges,
  toTestSet,
  toUpdateBody,
  type FieldChange,
  type FileFields,
} from '../as-code/file-fields.ts';
import type { UpdateDetection } from '../detections/record/detection-input.schema.ts';
import { putTests } from '../detections/test-cases.ts';
import { updateDetection, type UpdateDetectionDeps } from '../detections/update-detection.ts';
import { findEntries } from './install-library.ts';
import { type LibraryEntry, loadLibrary } from './load-library.ts';
import { storeInstall } from './library-installs.store.ts';
import { readInstalls, type CurrentInstall, type ListLibraryDeps } from './list-library.ts';
import type { UpdateRequest, UpdateResult } from './library.schema.ts';
import { toShippedFields, versionOf } from './library-version.ts';

export type UpdateLibraryDeps = UpdateDetectionDeps & ListLibraryDeps;
type Result = UpdateResult['results'][number];

/**
 * Brings installed detections to the library's version, field by field. A field that the organization edited keeps its value and is reported.
 * Without `ids`, updates every detection that has a new version.
 */
export async function updateLibrary(
  deps: UpdateLibraryDeps,
  caller: Caller,
  { ids, dryRun = false }: UpdateRequest,
): Promise<UpdateResult> {
  const installs = await readInstalls(deps, caller);
  const entries = ids
    ? findEntries(ids)
    : [...loadLibrary().values()].filter((entry) => isOutdated(entry, installs.get(entry.id)));
  const updateDeps = dryRun ? { ...deps, db: asDryRun(deps.db) } : deps;
  const results: Result[] = [];
  for (const entry of entries) {
    const current = installs.get(entry.id);
    results.push(current ? await updateOne(updateDeps, caller, entry, current) : failed(entry, 'It is not installed.'));
  }
  return { dryRun, results };
}

const isOutdated = (entry: LibraryEntry, current: CurrentInstall | undefined): boolean =>
  current !== undefined && current.install.version !== versionOf(entry);

const failed = ({ id }: LibraryEntry, detail: string): Result => ({
  id,
  outcome: 'failed',
  detectionId: null,
  detail,
  changes: [],
  kept: [],
});

async function updateOne(
  deps: UpdateLibraryDeps,
  caller: Caller,
  entry: LibraryEntry,
  { install, fields }: CurrentInstall,
): Promise<Result> {
  const { detectionId } = install;
  const shipped = toShippedFields(entry, {
    datasets: install.datasets,
    connectionId: install.fields['connectionId'] as string | undefined,
  });
  const { changes, kept } = mergeVersions(install.fields, shipped, fields);
  const common = { id: entry.id, detectionId, detail: null };
  if (!isOutdated(entry, { install, fields })) return { ...common, outcome: 'unchanged', changes: [], kept: [] };
  try {
    const next: FileFields = { ...fields, ...Object.fromEntries(changes.map(({ field, after }) => [field, after])) };
    const input = toUpdateBody(changes, next) as UpdateDetection;
    if (Object.keys(input).length > 0) await updateDetection(deps, caller, { id: detectionId, input });
    if (hasTestChanges(changes)) await putTests(deps, caller, { id: detectionId }, toTestSet(next));
    const updated = { ...install, version: versionOf(entry), fields: shipped };
    await inOrg(deps.db, caller.orgId, (tx) => storeInstall(tx, caller.orgId, updated, deps.clock()));
    return { ...common, outcome: 'updated', changes, kept };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { ...failed(entry, error.message), detectionId, changes, kept };
  }
}

/**
 * Returns what a new version changes in a detection: `changes` to fields that the organization left as they were shipped, and `kept`, the
 * fields that both sides changed. Equal changes on both sides are neither.
 */
export function mergeVersions(
  before: FileFields,
  shipped: FileFields,
  current: FileFields,
): { changes: FieldChange[]; kept: FieldChange[] } {
  const edited = new Set(diffFields(before, current).map(({ field }) => field));
  const candidates = diffFields(before, shipped)
    .map(({ field, after }) => ({ field, before: current[field], after }))
    .filter((change) => !isDeepStrictEqual(change.before, change.after));
  return {
    changes: candidates.filter(({ field }) => !edited.has(field)),
    kept: candidates.filter(({ field }) => edited.has(field)),
  };
}
