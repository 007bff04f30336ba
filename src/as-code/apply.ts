import type { Service } from './client.ts';
import { hashOfFields } from './fields.ts';
import { writeLock, type Lock } from './folder.ts';
import type { Known, Step } from './plan.ts';

export type Applied = { done: number; failed: { file: string; reason: string }[] };

/**
 * Carries a plan out, file by file; the lock is written after each, so that a broken run can be repeated. A step that fails leaves the
 * others to go on. Conflicts are the caller's to refuse before.
 */
export async function applySteps(
  folder: string,
  service: Service,
  lock: Lock,
  steps: readonly Step[],
): Promise<Applied> {
  const next: Lock = { ...lock };
  const failed: Applied['failed'] = [];
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
  // Also for what was the same: a folder that is applied for the first time has no lock yet.
  if (JSON.stringify(next) !== JSON.stringify(lock)) writeLock(folder, next);
  return { done, failed };
}

async function applyStep(service: Service, lock: Lock, step: Step): Promise<boolean> {
  switch (step.kind) {
    case 'create':
      note(lock, step, await service.create(step.fields));
      return true;
    case 'update':
      note(lock, step, await service.update(step.id, step));
      return true;
    case 'delete':
      await service.remove(step.id);
      delete lock[step.file];
      return true;
    case 'same':
      note(lock, step, { id: step.id, fields: step.known });
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

function note(lock: Lock, { file, fields }: Extract<Step, { fields: unknown }>, known: Known): void {
  lock[file] = { id: known.id, file: hashOfFields(fields), service: hashOfFields(known.fields) };
}
