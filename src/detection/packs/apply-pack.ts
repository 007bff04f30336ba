import { inOrg } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { toRecord } from '../detections/record/detection-record.ts';
import { readDetection } from '../detections/read-detections.ts';
import { findTests } from '../detections/test-cases.store.ts';
import type { UpdateDetectionDeps } from '../detections/update-detection.ts';
import {
  diffFields,
  InvalidFieldsError,
  parseFields,
  toFileFields,
  type FileFields,
  describeUnresettable,
  mergeVersions,
} from '../managed/file-fields.ts';
import { syncDetections, syncStep, type Origin, type SyncStep } from '../managed/sync-detections.ts';
import {
  deletePackInstall,
  findFromPack,
  findPackInstall,
  listPackInstalls,
  storePackInstallSql,
  type PackInstall,
} from './pack-installs.store.ts';
import type { ApplyPack, DetectionPack, PackResult, PackDetection } from './packs.schema.ts';

type PackItem = { key: string; target: FileFields | undefined; applied: PackInstall | undefined };

/**
 * Brings the detections that an organization has from a pack to the state of the pack, each in transactions of its own, so that one that fails
 * does not stop the others. Throws 400 with a pointer for fields that are not valid.
 */
export async function applyPack(
  deps: UpdateDetectionDeps,
  caller: Caller,
  { pack, ...request }: ApplyPack & { pack: string },
): Promise<Omit<PackResult, 'organization'>> {
  const { orgId } = caller;
  const { version, dryRun = false, force = false, prune = false } = request;
  const targets = parseDetections(request.detections);
  const installs = await inOrg(deps.db, orgId, (tx) => listPackInstalls(tx, orgId, pack));
  const files = [...new Set([...targets.keys(), ...installs.keys()])].toSorted();
  const items = files.map((key) => ({ key, target: targets.get(key), applied: installs.get(key) }));
  const origin: Origin<PackItem, PackStep> = {
    lock: `pack ${orgId} ${pack}`,
    hasTests: true,
    plan: async ({ target, applied: install }, readCurrent) =>
      comparePack(target, install && { install, current: await readCurrent() }, { force, prune }),
    find: (tx, files) => findFromPack(tx, { orgId, pack }, files),
    storeSql: ({ key: file }, applied, now) => storePackInstallSql({ orgId, pack }, { ...applied, file, version }, now),
    forget: (tx, file) => deletePackInstall(tx, { orgId, pack }, file),
  };
  const synced = await syncDetections(deps, caller, origin, { items, dryRun });
  const results = synced.map(({ item: { key: file }, step, outcome, detectionId, error }) => {
    const { state, action, changes, kept, detail } = step;
    const note = action === 'create' && outcome === 'none' ? 'Another request has just created it.' : detail;
    return { file, detectionId, state, outcome, changes, kept, detail: error?.message ?? note };
  });
  return { pack, version, dryRun, results };
}

function parseDetections(detections: ApplyPack['detections']): Map<string, FileFields> {
  const problems: { pointer: string; code: string; detail: string }[] = [];
  const parsed = Object.entries(detections).flatMap(([file, raw]): [string, FileFields][] => {
    try {
      return [[file, parseFields(raw)]];
    } catch (error) {
      if (!(error instanceof InvalidFieldsError)) throw error;
      for (const { path, message } of error.problems)
        problems.push({
          pointer: ['/detections', file, ...path.map(String)].join('/'),
          code: 'invalid',
          detail: message,
        });
      return [];
    }
  });
  if (problems.length > 0) throw appError('validation_failed', problems[0]!.detail, { errors: problems.slice(0, 100) });
  return new Map(parsed);
}

/** A detection of a pack in an organization. `current` is undefined if the organization deleted the detection. */
type InstalledDetection = { install: PackInstall; current: FileFields | undefined };

/** How a detection differs from its pack, and what applying the pack does with it. */
type PackStep = SyncStep & { state: PackDetection['state'] };

type Options = { force: boolean; prune: boolean };

/**
 * Compares a detection of an organization with the pack, three ways: what was applied last, what the pack has (`target`, undefined if it
 * no longer has the file), and what the organization has now. What the organization changed stays, unless `force` is set.
 */
function comparePack(
  target: FileFields | undefined,
  installed: InstalledDetection | undefined,
  options: Options,
): PackStep {
  if (target && !installed) return toStep('missing', 'create', { fields: target });
  const { install, current } = installed!;
  if (!target) return compareExtra(install, current, options);
  if (!current && options.force) return toStep('deleted', 'create', { fields: target });
  if (!current) return toStep('deleted', 'none', { detail: 'The organization deleted it. --force creates it again.' });
  const edited = new Set(diffFields(install.fields, current).map(({ field }) => field));
  const own = diffFields(target, current).filter(({ field }) => edited.has(field));
  const changes = options.force ? diffFields(current, target) : mergeVersions(install.fields, target, current).changes;
  const isOutdated = diffFields(install.fields, target).length > 0;
  const state = own.length > 0 ? 'changed' : isOutdated ? 'outdated' : 'unchanged';
  const differences = { changes, kept: options.force ? [] : own };
  const problem = describeUnresettable(changes);
  if (problem !== undefined) return toStep(state, 'fail', { ...differences, detail: problem });
  const isUpdate = changes.length > 0 || isOutdated;
  return toStep(state, isUpdate ? 'update' : 'none', { ...differences, fields: target });
}

function compareExtra(install: PackInstall, current: FileFields | undefined, { force, prune }: Options): PackStep {
  if (!current) return toStep('extra', prune ? 'forget' : 'none');
  if (!prune) return toStep('extra', 'none', { detail: 'The pack no longer has it. --prune deletes it.' });
  const kept = diffFields(install.fields, current);
  if (kept.length === 0 || force) return toStep('extra', 'delete');
  return toStep('extra', 'none', { kept, detail: 'The organization changed it. --force deletes it.' });
}

const toStep = (state: PackStep['state'], action: SyncStep['action'], more?: Partial<SyncStep>): PackStep => ({
  ...syncStep(action, more),
  state,
});

/** Returns the pack that a detection comes from, and what the organization changed in it. Throws 404 for an unknown detection. */
export function readDetectionPack(
  { db, clock }: Pick<UpdateDetectionDeps, 'db' | 'clock'>,
  { orgId }: Caller,
  id: string,
): Promise<{ pack: DetectionPack | null }> {
  return inOrg(db, orgId, async (tx) => {
    const agent = await readDetection(tx, { orgId, now: clock() }, id);
    const install = await findPackInstall(tx, orgId, id);
    if (!install) return { pack: null };
    const tests = await findTests(tx, { orgId, detectionId: id });
    const { pack: name, file, version, fields, appliedAt } = install;
    const changes = diffFields(fields, toFileFields(toRecord(agent), tests));
    return { pack: { name, file, version, appliedAt: appliedAt.toISOString(), changes } };
  });
}
