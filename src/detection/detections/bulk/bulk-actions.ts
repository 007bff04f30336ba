import { asDryRun } from '../../../platform/db/db.ts';
import { recordEtag } from '../../../platform/http/responses/etag.ts';
import { AppError } from '../../../platform/lib/errors.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { deleteDetection, restoreDetection } from '../life-cycle.ts';
import { getDetection, getDetections } from '../read-detections.ts';
import type { UpdateDetection } from '../record/detection-input.schema.ts';
import type { Detection } from '../record/detection.schema.ts';
import { updateDetection, type UpdateDetectionDeps } from '../updates/update-detection.ts';
import type { BulkRequest, BulkResult } from './bulk.schema.ts';

type BulkItemResult = BulkResult['results'][number];

const detectionsMax = 1000;

/** Applies one action to many detections, each in a transaction of its own, so that failures do not affect the others. A dry run rolls every change back. */
export async function changeDetections(
  deps: UpdateDetectionDeps,
  caller: Caller,
  request: BulkRequest,
): Promise<BulkResult> {
  const { dryRun = false, ids, filter = {} } = request;
  const changeDeps = dryRun ? { ...deps, db: asDryRun(deps.db) } : deps;
  const selected = ids ?? (await getDetections(deps, caller, filter)).detections.map(({ id }) => id);
  const results: BulkItemResult[] = [];
  for (const id of [...new Set(selected)].slice(0, detectionsMax))
    results.push(await changeDetection(changeDeps, caller, id, request));
  return { dryRun, results, more: ids === undefined && selected.length > detectionsMax };
}

async function changeDetection(
  deps: UpdateDetectionDeps,
  caller: Caller,
  id: string,
  request: BulkRequest,
): Promise<BulkItemResult> {
  let name: string | null = null;
  try {
    const before = await getDetection(deps, caller, id);
    name = before.name;
    const after = await applyAction(deps, caller, before, request);
    const isSame = after.updatedAt === before.updatedAt;
    return { id, name, outcome: isSame ? 'unchanged' : 'changed', code: null, detail: null };
  } catch (error) {
    const stale = error instanceof AppError && error.stale ? { stale: error.stale } : {};
    return { id, name, outcome: 'failed', ...toFailureReason(error), ...stale };
  }
}

function applyAction(
  deps: UpdateDetectionDeps,
  caller: Caller,
  before: Detection,
  { action, tags = [], ifMatch: versions }: BulkRequest,
): Promise<Detection> {
  const { id } = before;
  const ifMatch = versions?.[id];
  const change = (input: UpdateDetection, options = { ifMatch }): Promise<Detection> =>
    updateDetection(deps, caller, { id, input }, options);
  // The new tags are those of `before` and others.
  const tagged = { ifMatch: ifMatch ?? recordEtag(before) };
  switch (action) {
    case 'enable':
    case 'disable':
      return change({ enabled: action === 'enable' });
    case 'delete':
      return deleteDetection(deps, caller, id, ifMatch);
    case 'restore':
      return restoreDetection(deps, caller, id, ifMatch);
    case 'tag':
      return change({ tags: [...new Set([...before.tags, ...tags])] }, tagged);
    case 'untag':
      return change({ tags: before.tags.filter((tag) => !tags.includes(tag)) }, tagged);
  }
}

/** Returns why one item failed. Rethrows unexpected errors, which end the whole request. */
export function toFailureReason(error: unknown): { code: string; detail: string } {
  if (!(error instanceof AppError)) throw error;
  const [first] = error.errors ?? [];
  return first
    ? { code: first.code, detail: `${first.pointer}: ${first.detail}` }
    : { code: error.code, detail: error.message };
}
