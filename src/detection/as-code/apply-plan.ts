import type { Service } from './service-client.ts';
import { changesOf, changesTests, hashOfFields, type Fields } from './detection-fields-file.ts';
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
  // Also for what was the same: a file that got another name, a folder that is applied for the first time.
  if (steps.length > 0) writeLock(folder, next);
  return { done, failed };
}

async function applyStep(service: Service, lock: Lock, step: Step): Promise<boolean> {
  switch (step.kind) {
    case 'create':
      await finish(service, lock, step, await service.create(step.fields));
      return true;
    case 'update':
      await finish(service, lock, step, await service.update(step.id, step));
      return true;
    case 'delete':
      await service.remove(step.id, step.known);
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

type Written = { file: string; fields: Fields };

/** Its tests, where they differ. Noted before them too: were they refused, it would be made a second time, or look changed by others. */
async function finish(service: Service, lock: Lock, step: Written, made: Known): Promise<void> {
  note(lock, { file: step.file, fields: made.fields }, made);
  const isWhole = !changesTests(changesOf(made.fields, step.fields));
  note(lock, step, isWhole ? made : await service.putTests(made, step.fields));
}

function note(lock: Lock, { file, fields }: Written, known: Known): void {
  lock[file] = { id: known.id, file: hashOfFields(fields), service: hashOfFields(known.fields) };
}
