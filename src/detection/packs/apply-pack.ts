import { asDryRun, inOrg } from '../../platform/db/db.ts';
import { AppError, appError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/http/caller.ts';
import {
  findUnresettableFields,
  hasTestChanges,
  InvalidFieldsError,
  parseFields,
  toFileFields,
  toTestSet,
  toUpdateBody,
  withoutTests,
  type FileFields,
} from '../as-code/file-fields.ts';
import { prepareDetection, storeNewDetection } from '../detections/create-detection.ts';
import { findAgent } from '../detections/detection-views.store.ts';
import { deleteDetection } from '../detections/life-cycle.ts';
import type { CreateDetection, UpdateDetection } from '../detections/record/detection-input.schema.ts';
import { toRecord } from '../detections/record/detection-record.ts';
import { findTests, storeTests } from '../detections/test-cases.store.ts';
import { putTests } from '../detections/test-cases.ts';
import { updateDetection, type UpdateDetectionDeps } from '../detections/update-detection.ts';
import { comparePack, type InstalledDetection, type PackStep } from './compare-pack.ts';
import { deletePackInstall, listPackInstalls, lockPack, storePackInstall } from './pack-installs.store.ts';
import type { ApplyPack, PackDetection, PackResult } from './packs.schema.ts';

export type ApplyPackDeps = UpdateDetectionDeps;
type PackKey = { pack: string; version: string };

/**
 * Brings the detections that an organization has from a pack to the state of the pack, each in transactions of its own, so that one that fails
 * does not stop the others. Throws 400 with a pointer for fields that are not valid.
 */
export async function applyPack(
  deps: ApplyPackDeps,
  caller: Caller,
  { pack, ...request }: ApplyPack & { pack: string },
): Promise<Omit<PackResult, 'organization'>> {
  const { version, dryRun = false, force = false, prune = false } = request;
  const targets = parseDetections(request.detections);
  const installed = await readInstalled(deps, caller, pack);
  const packDeps = dryRun ? { ...deps, db: asDryRun(deps.db) } : deps;
  const results: PackDetection[] = [];
  for (const file of [...new Set([...targets.keys(), ...installed.keys()])].toSorted()) {
    const [target, current] = [targets.get(file), installed.get(file)];
    const step = comparePack(target, current, { force, prune });
    const { outcome, detectionId, detail } = await runStep(
      packDeps,
      caller,
      { pack, version },
      { file, target, current, step },
    );
    const { state, changes, kept } = step;
    const id = dryRun && outcome === 'created' ? null : detectionId;
    results.push({ file, detectionId: id, state, outcome, changes, kept, detail });
  }
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

/** Returns the detections that the organization has from a pack, with their present fields, by file. */
async function readInstalled(
  { db, clock }: ApplyPackDeps,
  { orgId }: Caller,
  pack: string,
): Promise<Map<string, InstalledDetection>> {
  const now = clock();
  return inOrg(db, orgId, async (tx) => {
    const found = new Map<string, InstalledDetection>();
    for (const [file, install] of await listPackInstalls(tx, orgId, pack)) {
      const agent = await findAgent(tx, { orgId, now }, install.detectionId);
      const isPresent = agent !== undefined && agent.deleted_at === null;
      const tests = isPresent ? await findTests(tx, { orgId, detectionId: install.detectionId }) : undefined;
      found.set(file, { install, current: tests && toFileFields(toRecord(agent!), tests) });
    }
    return found;
  });
}

type Work = { file: string; target: FileFields | undefined; current: InstalledDetection | undefined; step: PackStep };
type StepResult = Pick<PackDetection, 'outcome' | 'detectionId' | 'detail'>;

async function runStep(deps: ApplyPackDeps, caller: Caller, key: PackKey, work: Work): Promise<StepResult> {
  const { step, current, target, file } = work;
  const detectionId = current?.install.detectionId ?? null;
  try {
    if (step.action === 'create') return await create(deps, caller, key, { file, fields: target! });
    if (step.action === 'update') await update(deps, caller, key, work);
    if (step.action === 'delete') await deleteDetection(deps, caller, detectionId!);
    if (step.action === 'delete' || step.action === 'forget')
      await inOrg(deps.db, caller.orgId, (tx) => deletePackInstall(tx, caller.orgId, key.pack, file));
    const outcomes = { update: 'updated', delete: 'deleted', forget: 'none', none: 'none' } as const;
    const isChanged = step.action !== 'update' || step.changes.length > 0;
    return { outcome: isChanged ? outcomes[step.action] : 'none', detectionId, detail: step.detail };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { outcome: 'failed', detectionId, detail: error.message };
  }
}

async function create(
  deps: ApplyPackDeps,
  caller: Caller,
  { pack, version }: PackKey,
  { file, fields }: { file: string; fields: FileFields },
): Promise<StepResult> {
  const { orgId } = caller;
  const prepared = await prepareDetection(deps, caller, withoutTests(fields) as CreateDetection);
  const { id, updated_at: now } = prepared.agent;
  return inOrg(deps.db, orgId, async (tx): Promise<StepResult> => {
    await lockPack(tx, orgId, pack);
    const other = (await listPackInstalls(tx, orgId, pack)).get(file);
    const agent = other && (await findAgent(tx, { orgId, now }, other.detectionId));
    if (other && agent?.deleted_at === null)
      return { outcome: 'none', detectionId: other.detectionId, detail: 'Another request has just created it.' };
    await storeNewDetection(tx, caller, prepared);
    await storeTests(tx, { orgId, detectionId: id }, toTestSet(fields), now);
    await storePackInstall(tx, { orgId, pack }, { file, detectionId: id, version, fields }, now);
    return { outcome: 'created', detectionId: id, detail: null };
  });
}

async function update(
  deps: ApplyPackDeps,
  caller: Caller,
  { pack, version }: PackKey,
  { file, target, current, step: { changes } }: Work,
): Promise<void> {
  const { orgId } = caller;
  const { detectionId } = current!.install;
  const unresettable = findUnresettableFields(changes);
  if (unresettable.length > 0)
    throw appError('conflict', `${unresettable.join(', ')} cannot be removed once set. Specify a value.`);
  const next: FileFields = { ...current!.current };
  for (const { field, after } of changes) next[field] = after;
  const input = toUpdateBody(changes, next) as UpdateDetection;
  if (Object.keys(input).length > 0) await updateDetection(deps, caller, { id: detectionId, input });
  if (hasTestChanges(changes)) await putTests(deps, caller, { id: detectionId }, toTestSet(next));
  await inOrg(deps.db, orgId, (tx) =>
    storePackInstall(tx, { orgId, pack }, { file, detectionId, version, fields: target! }, deps.clock()),
  );
}
