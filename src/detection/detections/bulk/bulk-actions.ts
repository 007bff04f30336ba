import { asDryRun, inOrg, type Db } from '../../../platform/db/db.ts';
import { recordEtag } from '../../../platform/http/etag.ts';
import { AppError, toFailureReason } from '../../../platform/lib/errors.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { deleteDetection, restoreDetection } from '../life-cycle.ts';
import { getDetection, getDetections } from '../read-detections.ts';
import { type UpdateDetection, CreateDetection } from '../record/detection-input.schema.ts';
import type { Detection } from '../record/detection.schema.ts';
import { updateDetection, type UpdateDetectionDeps } from '../update-detection.ts';
import type { BulkRequest, BulkResult, ExportedSet, ImportRequest, ImportResult } from './bulk.schema.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { mapInSlices, startSlices } from '../../../platform/lib/concurrency/slices.ts';
import { uuidPattern } from '../../../platform/lib/org-id.ts';
import { createDetection } from '../create-detection.ts';
import { findAgent, listDetections } from '../detection-views.store.ts';
import { type AgentView, toCreateBody } from '../record/detection-row.ts';
import { getTests, putTests } from '../test-cases.ts';
import { TestSet } from '../test-cases.schema.ts';
import { listAllTests } from '../test-cases.store.ts';

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

/** The message about unknown fields lists all of them. */
const detailMax = 500;

type ImportItemResult = ImportResult['results'][number];

/** Returns the organization's detections with their tests, oldest first. Each is a body that import accepts. */
export async function exportDetections({ db, clock }: { db: Db; clock: Clock }, caller: Caller): Promise<ExportedSet> {
  const now = clock();
  const { orgId } = caller;
  const { agents, tests } = await inOrg(db, orgId, async (tx) => ({
    agents: await listDetections(tx, { orgId, now }, { limit: null, after: null }),
    tests: await listAllTests(tx, orgId),
  }));
  const detections = await mapInSlices(agents.toReversed(), (agent) => ({
    id: agent.id,
    ...toCreateBody(agent),
    ...tests.get(agent.id),
  }));
  return { exportedAt: now.toISOString(), detections };
}

/**
 * Creates or updates each detection in a transaction of its own. A detection is identified by its id, else by its name if
 * exactly one existing detection has that name. Otherwise it is created.
 */
export async function importDetections(
  deps: UpdateDetectionDeps,
  caller: Caller,
  { detections = [], dryRun = false }: Pick<ImportRequest, 'detections' | 'dryRun'>,
): Promise<ImportResult> {
  const importDeps = dryRun ? { ...deps, db: asDryRun(deps.db) } : deps;
  const results: ImportItemResult[] = [];
  const nextSlice = startSlices();
  for (const item of detections) {
    results.push(await importDetection(importDeps, caller, item, dryRun));
    // A detection that is refused waits for nothing.
    const pause = nextSlice();
    if (pause) await pause;
  }
  return { dryRun, results };
}

async function importDetection(
  deps: UpdateDetectionDeps,
  caller: Caller,
  { id, tests, localQuery, ...body }: Record<string, unknown>,
  dryRun: boolean,
): Promise<ImportItemResult> {
  const identity = {
    id: typeof id === 'string' ? id : null,
    name: typeof body['name'] === 'string' ? body['name'] : null,
  };
  const parsed = CreateDetection.safeParse(body);
  const testSet = tests === undefined ? undefined : TestSet.safeParse({ tests, localQuery });
  const [issue] = [...(parsed.error?.issues ?? []), ...(testSet?.error?.issues ?? [])];
  if (issue || !parsed.data) {
    const detail = `/${issue?.path.join('/') ?? ''}: ${issue?.message ?? ''}`.slice(0, detailMax);
    return { ...identity, outcome: 'failed', code: 'validation_failed', detail };
  }
  try {
    const existing = await findExisting(deps, caller, { id: identity.id, name: parsed.data.name });
    if (!existing) {
      const created = await createDetection(deps, caller, parsed.data);
      // A dry run has already rolled back the detection, so it has no tests to store and no id to return.
      if (testSet?.data && !dryRun) await storeTestsIfChanged(deps, caller, created.id, testSet.data);
      const resultId = dryRun ? identity.id : created.id;
      return { id: resultId, name: created.name, outcome: 'created', code: null, detail: null };
    }
    const updated = await updateDetection(deps, caller, { id: existing.id, input: parsed.data });
    const hasNewTests = testSet?.data ? await storeTestsIfChanged(deps, caller, updated.id, testSet.data) : false;
    const isSame = existing.updated_at.toISOString() === updated.updatedAt && !hasNewTests;
    const outcome = isSame ? 'unchanged' : 'updated';
    return { id: updated.id, name: updated.name, outcome, code: null, detail: null };
  } catch (error) {
    return { ...identity, outcome: 'failed', ...toFailureReason(error) };
  }
}

/** Stores the tests if they differ from the current ones, and returns whether they did. */
async function storeTestsIfChanged(
  deps: { db: Db; clock: Clock },
  caller: Caller,
  id: string,
  testSet: TestSet,
): Promise<boolean> {
  const before = await getTests(deps, caller, id);
  if (JSON.stringify([before.tests, before.localQuery]) === JSON.stringify([testSet.tests, testSet.localQuery ?? null]))
    return false;
  await putTests(deps, caller, { id }, testSet);
  return true;
}

function findExisting(
  { db, clock }: { db: Db; clock: Clock },
  { orgId }: Caller,
  { id, name }: { id: string | null; name: string },
): Promise<AgentView | undefined> {
  const scope = { orgId, now: clock() };
  return inOrg(db, orgId, async (tx) => {
    const byId = id !== null && uuidPattern.test(id) ? await findAgent(tx, scope, id) : undefined;
    if (byId?.agent_type === 'detection') return byId;
    const candidates = await listDetections(tx, scope, { q: name, limit: null, after: null });
    const byName = candidates.filter((agent) => agent.name === name);
    return byName.length === 1 ? byName[0] : undefined;
  });
}
