import type { ServiceClient } from './service-client.ts';
import { diffFields, hasTestChanges, hashFields, type FileFields } from '../managed/file-fields.ts';
import { writeLock, type Lock } from './folder.ts';
import type { ServiceDetection, PlanStep } from './plan.ts';

export type FolderApplyResult = { done: number; failed: { file: string; reason: string }[] };

/**
 * Applies a plan file by file and writes the lock after each step, so that an interrupted run can be repeated. If a step fails,
 * the remaining steps still run. The caller must not pass plans with conflicts.
 */
export async function applyFolderPlan(
  folder: string,
  service: ServiceClient,
  lock: Lock,
  steps: readonly PlanStep[],
): Promise<FolderApplyResult> {
  const next: Lock = { ...lock };
  const failed: FolderApplyResult['failed'] = [];
  let done = 0;
  for (const step of steps) {
    try {
      const isChange = await applyStep(service, next, step);
      done += isChange ? 1 : 0;
    } catch (error) {
      failed.push({ file: step.file, reason: (error as Error).message });
    }
    if (step.kind !== 'same') writeLock(folder, next);
  }
  // Steps without changes matter too, for renamed files and for a folder that is applied for the first time.
  if (steps.length > 0) writeLock(folder, next);
  return { done, failed };
}

async function applyStep(service: ServiceClient, lock: Lock, step: PlanStep): Promise<boolean> {
  switch (step.kind) {
    case 'create':
      await recordWithTests(service, lock, step, await service.create(step.fields));
      return true;
    case 'update':
      await recordWithTests(service, lock, step, await service.update(step.id, step));
      return true;
    case 'delete':
      await service.remove(step.id, step.known);
      delete lock[step.file];
      return true;
    case 'same':
      recordState(lock, step, { id: step.id, fields: step.known });
      return false;
    case 'forget':
      delete lock[step.file];
      return false;
    case 'orphan':
      return false;
    case 'conflict':
      throw new Error(step.reason);
  }
}

type FileState = { file: string; fields: FileFields };

/**
 * Stores the tests if they differ, and records the new state. The state is also recorded before the tests are stored: if the
 * service refuses them, the next run must not create the detection again or mistake it for changed by others.
 */
async function recordWithTests(
  service: ServiceClient,
  lock: Lock,
  step: FileState,
  detection: ServiceDetection,
): Promise<void> {
  recordState(lock, { file: step.file, fields: detection.fields }, detection);
  const isComplete = !hasTestChanges(diffFields(detection.fields, step.fields));
  recordState(lock, step, isComplete ? detection : await service.putTests(detection, step.fields));
}

function recordState(lock: Lock, { file, fields }: FileState, detection: ServiceDetection): void {
  lock[file] = { id: detection.id, file: hashFields(fields), service: hashFields(detection.fields) };
}
