import { rehearse } from '../../../platform/db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import { AppError } from '../../../platform/lib/errors.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import type { BulkRequest, BulkResult } from './bulk.schema.ts';
import { deleteDetection, restoreDetection } from '../life-cycle.ts';
import { getDetection, getDetections } from '../read-detections.ts';
import type { Detection } from '../record/detection.schema.ts';
import { updateDetection } from '../update-detection.ts';

type BulkDeps = Pick<Deps, 'db' | 'clock' | 'checkQuery' | 'checkTests'>;
type Result = BulkResult['results'][number];

const atOnceMax = 1000;

/** One action on many detections, each by itself: one that fails leaves the others done. A dry run does all of it and undoes it. */
export async function changeDetections(deps: BulkDeps, caller: Caller, request: BulkRequest): Promise<BulkResult> {
  const { dryRun = false, ids, filter = {} } = request;
  const on = dryRun ? { ...deps, db: rehearse(deps.db) } : deps;
  const found = ids ?? (await getDetections(deps, caller, filter)).detections.map(({ id }) => id);
  const results: Result[] = [];
  for (const id of [...new Set(found)].slice(0, atOnceMax)) results.push(await changeOne(on, caller, id, request));
  return { dryRun, results, more: ids === undefined && found.length > atOnceMax };
}

async function changeOne(deps: BulkDeps, caller: Caller, id: string, request: BulkRequest): Promise<Result> {
  let name: string | null = null;
  try {
    const before = await getDetection(deps, caller, id);
    name = before.name;
    const after = await act(deps, caller, before, request);
    const isSame = after.updatedAt === before.updatedAt;
    return { id, name, outcome: isSame ? 'unchanged' : 'changed', code: null, detail: null };
  } catch (error) {
    return { id, name, outcome: 'failed', ...reasonOf(error) };
  }
}

function act(
  deps: BulkDeps,
  caller: Caller,
  before: Detection,
  { action, tags = [] }: BulkRequest,
): Promise<Detection> {
  const { id } = before;
  switch (action) {
    case 'enable':
    case 'disable':
      return updateDetection(deps, caller, { id, input: { enabled: action === 'enable' } });
    case 'delete':
      return deleteDetection(deps, caller, id);
    case 'restore':
      return restoreDetection(deps, caller, id);
    case 'tag':
      return updateDetection(deps, caller, { id, input: { tags: [...new Set([...before.tags, ...tags])] } });
    case 'untag':
      return updateDetection(deps, caller, { id, input: { tags: before.tags.filter((tag) => !tags.includes(tag)) } });
  }
}

/** Why one of many failed. Anything unexpected ends the whole. */
export function reasonOf(error: unknown): { code: string; detail: string } {
  if (!(error instanceof AppError)) throw error;
  const [first] = error.errors ?? [];
  return first
    ? { code: first.code, detail: `${first.pointer}: ${first.detail}` }
    : { code: error.code, detail: error.message };
}
