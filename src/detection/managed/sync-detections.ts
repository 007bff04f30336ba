import type { RawBuilder } from 'kysely';
import { asDryRun, inOrg, runTogether, type Tx } from '../../platform/db/db.ts';
import { lockName } from '../../platform/db/lock-name.store.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { startSlices } from '../../platform/lib/concurrency/slices.ts';
import { AppError } from '../../platform/lib/errors.ts';
import { prepareDetection, storeNewDetections, type NewDetection } from '../detections/create-detection.ts';
import { openDetectionQuota, findAgent, type ViewScope } from '../detections/detection-views.store.ts';
import { deleteDetection } from '../detections/life-cycle.ts';
import type { CreateDetection, UpdateDetection } from '../detections/record/detection-input.schema.ts';
import { storeTestsSql, findTests } from '../detections/test-cases.store.ts';
import { putTests } from '../detections/test-cases.ts';
import { updateDetection, type UpdateDetectionDeps } from '../detections/update-detection.ts';
import {
  hasTestChanges,
  toTestSet,
  toUpdateBody,
  withoutTests,
  type FieldChange,
  type FileFields,
  toFileFields,
} from './file-fields.ts';
import { toRecord } from '../detections/record/detection-record.ts';

/** What an origin applied to a detection last. */
export type Applied = { detectionId: string; fields: FileFields };

/** Something of an origin that is, was or becomes a detection. `applied` is absent if the origin applied nothing yet. */
export type SyncItem = { key: string; applied?: Applied | undefined };

/**
 * What a sync does with an item. `forget` removes what was applied last, of a detection that no longer exists. `fail` reports `detail` as the
 * reason. `fields` are those that the origin wants, which `create` and `update` need.
 */
export type SyncStep = {
  action: 'none' | 'create' | 'update' | 'delete' | 'forget' | 'fail';
  fields?: FileFields;
  /** What an update changes in the detection. */
  changes: FieldChange[];
  /** What the organization changed and keeps. */
  kept: FieldChange[];
  detail: string | null;
};

/** Returns a step with an action, and without differences unless `more` has them. */
export const syncStep = (action: SyncStep['action'], more: Partial<SyncStep> = {}): SyncStep => ({
  changes: [],
  kept: [],
  detail: null,
  ...more,
  action,
});

/** Where managed detections come from: the library, a pack or imported Sigma rules. Each stores in a table of its own what it applied last. */
export type Origin<Item extends SyncItem, Step extends SyncStep = SyncStep> = {
  /** Name of the lock under which the origin creates detections, such as `library 01a1…`. */
  lock: string;
  /** Whether the origin decides about test cases. Otherwise they are left alone. */
  hasTests: boolean;
  /** Decides what to do with an item. `readCurrent` returns the fields that its detection has now, undefined if it was deleted. */
  plan: (item: Item, readCurrent: () => Promise<FileFields | undefined>) => Step | Promise<Step>;
  /** Returns the detections that were created for the keys and are not deleted, by key. */
  find: (tx: Tx, keys: readonly string[]) => Promise<Map<string, string>>;
  /** Returns the statement that stores what was applied. */
  storeSql: (item: Item, applied: Applied, now: Date) => RawBuilder<unknown>;
  forget?: (tx: Tx, key: string) => Promise<void>;
};

type SyncRequest<Item> = {
  items: readonly Item[];
  dryRun?: boolean;
  /** Whether a new detection whose query cannot run on its SIEM fails. */
  mustRun?: boolean;
  /** How many new detections are stored together, which takes a few statements and one commit. Default: 1. */
  batchSize?: number;
  /** Called at the beginning and when a batch is stored, with the number of items that are done. */
  onBatch?: (itemsDone: number) => void;
};

/**
 * The outcome for an item. `detectionId` is null without a detection, and for one that a dry run created. `none` for the action `create`: another
 * request created the detection in the meantime.
 */
export type Synced<Item, Step = SyncStep> = {
  item: Item;
  step: Step;
  outcome: 'created' | 'updated' | 'deleted' | 'none' | 'failed';
  detectionId: string | null;
  error?: AppError;
};

/**
 * Brings detections to what their origin wants, and returns the outcomes in the order of the items. An item that is refused, for example because
 * a quota is used up, does not affect the others. A dry run rolls everything back.
 */
export async function syncDetections<Item extends SyncItem, Step extends SyncStep>(
  deps: UpdateDetectionDeps,
  caller: Caller,
  origin: Origin<Item, Step>,
  { items, dryRun = false, mustRun = false, batchSize = 1, onBatch }: SyncRequest<Item>,
): Promise<Synced<Item, Step>[]> {
  const sync = { deps: dryRun ? { ...deps, db: asDryRun(deps.db) } : deps, caller, origin, mustRun };
  const all: Synced<Item, Step>[] = [];
  let storing: Promise<Synced<Item, Step>[]> = Promise.resolve([]);
  const settle = async (): Promise<void> => {
    all.push(...(await storing));
    onBatch?.(all.length);
  };
  const nextSlice = startSlices();
  for (let from = 0; from < items.length; from += batchSize) {
    const batch: Pending<Item, Step>[] = [];
    for (const item of items.slice(from, from + batchSize)) {
      batch.push(await applyItem(sync, item));
      // An item that is refused waits for nothing.
      const pause = nextSlice();
      if (pause) await pause;
    }
    await settle();
    storing = storeNew(sync, batch);
    // Single items are applied in order. A batch is stored while the next one is prepared, and `settle` reports its error.
    if (batchSize === 1) await storing;
    else storing.catch(() => undefined);
  }
  await settle();
  return dryRun ? all.map((one) => (one.outcome === 'created' ? { ...one, detectionId: null } : one)) : all;
}

type Sync<Item extends SyncItem, Step extends SyncStep> = {
  deps: UpdateDetectionDeps;
  caller: Caller;
  origin: Origin<Item, Step>;
  mustRun: boolean;
};

/** An outcome, with the detection that is to be stored if it is new. */
type Pending<Item, Step> = Synced<Item, Step> & { prepared?: NewDetection };

/** Plans an item and applies the plan, except that new detections are only prepared. */
async function applyItem<Item extends SyncItem, Step extends SyncStep>(
  sync: Sync<Item, Step>,
  item: Item,
): Promise<Pending<Item, Step>> {
  const { deps, caller, origin } = sync;
  const detectionId = item.applied?.detectionId ?? null;
  let current: FileFields | undefined;
  const step = await origin.plan(item, async () => {
    const scope = { orgId: caller.orgId, now: deps.clock() };
    current = await inOrg(deps.db, caller.orgId, (tx) => readFields(tx, scope, detectionId!, origin.hasTests));
    return current;
  });
  const toOutcome = (outcome: Synced<Item>['outcome']): Synced<Item, Step> => ({ item, step, outcome, detectionId });
  try {
    switch (step.action) {
      case 'create':
        return { ...toOutcome('created'), ...(await prepareNew(sync, step.fields!)) };
      case 'update':
        await update(sync, item, step, current!);
        return toOutcome(step.changes.length > 0 ? 'updated' : 'none');
      case 'delete':
        await deleteDetection(deps, caller, detectionId!);
        await forget(sync, item);
        return toOutcome('deleted');
      case 'forget':
        await forget(sync, item);
        return toOutcome('none');
      default:
        return toOutcome(step.action === 'fail' ? 'failed' : 'none');
    }
  } catch (error) {
    return { ...toOutcome('failed'), error: toAppError(error) };
  }
}

async function prepareNew<Item extends SyncItem, Step extends SyncStep>(
  { deps, caller, mustRun }: Sync<Item, Step>,
  fields: FileFields,
): Promise<{ detectionId: string; prepared: NewDetection }> {
  const prepared = await prepareDetection(deps, caller, withoutTests(fields) as CreateDetection, mustRun);
  return { detectionId: prepared.agent.id, prepared };
}

/** Stores the new detections of a batch in one transaction. */
async function storeNew<Item extends SyncItem, Step extends SyncStep>(
  sync: Sync<Item, Step>,
  batch: readonly Pending<Item, Step>[],
): Promise<Synced<Item, Step>[]> {
  const keys = batch.filter(({ prepared }) => prepared).map(({ item }) => item.key);
  if (keys.length === 0) return [...batch];
  const { deps, caller, origin } = sync;
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await lockName(tx, origin.lock);
    const known = await origin.find(tx, keys);
    const useQuota = await openDetectionQuota(tx, caller.orgId);
    const settled = batch.map((one) => settleNew(one, known, useQuota));
    await insertNew(tx, sync, settled);
    return settled.map(({ prepared: _stored, ...one }) => one);
  });
}

/** Returns the outcome of an item, with the detection only if it is to be stored. Adds it to `known`, since two items may have the same key. */
function settleNew<Item extends SyncItem, Step>(
  { prepared, ...one }: Pending<Item, Step>,
  known: Map<string, string>,
  useQuota: () => void,
): Pending<Item, Step> {
  if (!prepared) return one;
  const { key, applied } = one.item;
  const other = known.get(key);
  if (other !== undefined) return { ...one, outcome: 'none', detectionId: other };
  try {
    if (prepared.agent.enabled) useQuota();
  } catch (error) {
    return { ...one, outcome: 'failed', detectionId: applied?.detectionId ?? null, error: toAppError(error) };
  }
  known.set(key, prepared.agent.id);
  return { ...one, prepared };
}

async function insertNew<Item extends SyncItem, Step extends SyncStep>(
  tx: Tx,
  { caller, origin }: Sync<Item, Step>,
  settled: readonly Pending<Item, Step>[],
): Promise<void> {
  const created = settled.flatMap(({ item, step, prepared }) =>
    prepared ? [{ item, fields: step.fields!, prepared }] : [],
  );
  if (created.length === 0) return;
  await storeNewDetections(
    tx,
    caller,
    created.map(({ prepared }) => prepared),
  );
  await runTogether(
    tx,
    created.flatMap(({ item, fields, prepared: { agent } }) => {
      const applied = { detectionId: agent.id, fields };
      const key = { orgId: caller.orgId, detectionId: agent.id };
      return [
        ...(origin.hasTests ? [storeTestsSql(key, toTestSet(fields), agent.updated_at)] : []),
        origin.storeSql(item, applied, agent.updated_at),
      ];
    }),
  );
}

async function update<Item extends SyncItem, Step extends SyncStep>(
  { deps, caller, origin }: Sync<Item, Step>,
  item: Item,
  { fields, changes }: Step,
  current: FileFields,
): Promise<void> {
  const { detectionId: id } = item.applied!;
  const next: FileFields = { ...current, ...Object.fromEntries(changes.map(({ field, after }) => [field, after])) };
  const input = toUpdateBody(changes, next) as UpdateDetection;
  if (Object.keys(input).length > 0) await updateDetection(deps, caller, { id, input });
  if (hasTestChanges(changes)) await putTests(deps, caller, { id }, toTestSet(next));
  const stored = origin.storeSql(item, { detectionId: id, fields: fields! }, deps.clock());
  await inOrg(deps.db, caller.orgId, (tx) => runTogether(tx, [stored]));
}

const forget = <Item extends SyncItem, Step extends SyncStep>(
  { deps, caller, origin }: Sync<Item, Step>,
  item: Item,
): Promise<void> => inOrg(deps.db, caller.orgId, async (tx) => origin.forget?.(tx, item.key));

/** Returns the error of an item. Rethrows an unexpected one, which ends the request. */
function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  throw error;
}

/** Returns the fields that a detection has now, without `hasTests` as if it had no tests. Undefined if it does not exist or is deleted. */
export async function readFields(
  tx: Tx,
  scope: ViewScope,
  detectionId: string,
  hasTests = true,
): Promise<FileFields | undefined> {
  const agent = await findAgent(tx, scope, detectionId);
  if (!agent || agent.deleted_at !== null) return undefined;
  const tests = hasTests ? await findTests(tx, { orgId: scope.orgId, detectionId }) : { tests: [] };
  return toFileFields(toRecord(agent), tests);
}
