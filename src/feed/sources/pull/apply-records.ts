import { untilSent, type Db, type TransactionWork } from '../../../platform/db/db.ts';
import { retryOnLockTimeout } from '../../../platform/db/retry-on-conflict.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { planCommit, prepareAdditions, writeCommit, type PreparedAdditions } from '../../ingestion/apply-actions.ts';
import type { Extractor } from '../../ingestion/extractor.ts';
import {
  countActions,
  noActions,
  resultOf,
  type ActionCounts,
  type ItemAction,
  type PullFindings,
  type PullResult,
} from '../../ingestion/pull-plan.ts';
import type { PullCursor, SourceRow } from '../../ingestion/source-row.ts';
import type { SnapshotCache } from '../../items/snapshot/snapshot.ts';
import { renewClaim, withSourceAcrossOrgs } from '../sources.store.ts';
import {
  lockBatch,
  toBatches,
  keepWithinQuota,
  mayExceedQuota,
  readRoomFor,
  withoutRefused,
  type RefusedRecords,
} from './apply-batches.ts';
import { planSourcePull, type SourcePlan } from './plan-source-pull.ts';
import type { ParsedHead, ParsedSource } from '../documents/record-chunks.ts';
import { upsertPredictions } from '../../items/items.store.ts';
import type { PredictionList } from '../../model/source-record.ts';

type ApplyRecordsDeps = {
  db: Db;
  clock: Clock;
  extractor: Pick<Extractor, 'referenceDataVersion'>;
  snapshots: Pick<SnapshotCache, 'invalidate'>;
};

type AppliedPull = {
  parsed: ParsedHead | undefined;
  findings: PullFindings;
  refused: RefusedRecords;
  result: PullResult;
};

/**
 * Plans the changes and applies them in batches, while the records are parsed. Reads the records again with the new settings if the settings of
 * the source change meanwhile. An interrupted pull leaves the batches that were applied; the next one applies the rest. Returns undefined if
 * the lease was lost.
 */
export async function applyRecords(
  deps: ApplyRecordsDeps,
  source: SourceRow,
  open: () => Promise<ParsedSource | undefined>,
  cursor: PullCursor,
): Promise<AppliedPull | undefined> {
  const inTransaction = <T>(work: TransactionWork<T>): Promise<T> => withSourceAcrossOrgs(deps.db, source, work);
  const applied = noActions();
  for (;;) {
    const parsed = await open();
    try {
      const claimed = await inTransaction((tx) => renewClaim(tx, source, source.worker!));
      if (!claimed) return undefined;
      const plan = await planSourcePull(inTransaction, claimed, parsed, cursor);
      const refused = await applyPlan(deps, claimed, plan, applied);
      if (refused === 'lost') return undefined;
      if (refused === 'changed') continue;
      const findings = withoutRefused(plan.findings(), claimed, refused);
      return { parsed: parsed?.head, findings, refused, result: resultOf(findings, applied) };
    } finally {
      await parsed?.close?.();
    }
  }
}

/**
 * Applies the batches of a plan, adds their actions to `applied`, and returns the records that the quota refused. Reads the records of a batch
 * and builds its writes while the database executes those of the previous one. `changed`: the settings of the source changed.
 */
async function applyPlan(
  deps: ApplyRecordsDeps,
  source: SourceRow,
  plan: SourcePlan,
  applied: ActionCounts,
): Promise<RefusedRecords | 'changed' | 'lost'> {
  const { referenceDataVersion } = deps.extractor;
  const { lists, refused } = await keepNewest(deps, source, plan);
  const batches = prepareBatches(deps, source, toBatches(lists));
  try {
    for (let current = await batches.next(); current.value;) {
      const { batch, prepared } = current.value;
      const next = startOnce(() => batches.next());
      const outcome = await retryOnLockTimeout(() =>
        withSourceAcrossOrgs(deps.db, source, async (tx) => {
          const locked = await lockBatch(tx, source, batch);
          if (typeof locked === 'string' || locked.actions.length === 0) return locked;
          const options = { now: deps.clock(), referenceDataVersion, prepared, pools: locked.pools };
          const writing = writeCommit(tx, await planCommit(tx, source, locked.actions, options));
          // Once the writes are sent, the database needs no more of this thread for a while.
          void untilSent(deps.db).then(next.start, () => undefined);
          await writing;
          return locked;
        }),
      );
      deps.snapshots.invalidate();
      if (typeof outcome === 'string') return outcome;
      countActions(applied, outcome.actions);
      refused.count += outcome.refused.count;
      refused.limit ||= outcome.refused.limit;
      current = await next.result();
    }
    return refused;
  } finally {
    await batches.return();
  }
}

type PreparedBatch = { batch: ItemAction[]; prepared: PreparedAdditions | undefined };

/** Builds the writes of batches. */
async function* prepareBatches(
  { clock, extractor: { referenceDataVersion } }: ApplyRecordsDeps,
  source: SourceRow,
  batches: AsyncIterable<ItemAction[]>,
): AsyncGenerator<PreparedBatch, void, void> {
  for await (const batch of batches)
    yield { batch, prepared: await prepareAdditions(source, batch, { now: clock(), referenceDataVersion }) };
}

/** Lets work start before its result is needed. Its error is thrown only by `result`. */
function startOnce<T>(work: () => Promise<T>): { start: () => void; result: () => Promise<T> } {
  let running: Promise<T> | undefined;
  const result = (): Promise<T> => (running ??= work());
  return { start: () => void result().catch(() => undefined), result };
}

/**
 * Returns the actions of a plan. If the quota of private items may not suffice, reads all of them first, so that the latest records are stored
 * although the oldest are written first.
 */
async function keepNewest(
  { db }: ApplyRecordsDeps,
  source: SourceRow,
  { actions, additionsMax }: SourcePlan,
): Promise<{ lists: AsyncIterable<ItemAction[]> | Iterable<ItemAction[]>; refused: RefusedRecords }> {
  if (!(await withSourceAcrossOrgs(db, source, (tx) => mayExceedQuota(tx, source, additionsMax))))
    return { lists: actions, refused: { count: 0, limit: 0 } };
  const all = (await Array.fromAsync(actions)).flat();
  const { kept, refused } = await withSourceAcrossOrgs(db, source, async (tx) =>
    keepWithinQuota(source, all, await readRoomFor(tx, source, all)),
  );
  return { lists: [kept], refused };
}

type ReadPull = { predictions: PredictionList | undefined; result: PullResult };

/** Stores the predictions of a source in batches. Returns the result of the pull with them, or undefined if the lease was lost. */
export async function applyPredictions(
  db: Db,
  source: SourceRow,
  { predictions, result }: ReadPull,
): Promise<PullResult | undefined> {
  if (!predictions) return result;
  const { scoredAt, batches } = predictions;
  let { added, corrected } = result;
  for (const batch of batches) {
    const written = await withSourceAcrossOrgs(db, source, async (tx) => {
      const claimed = await renewClaim(tx, source, source.worker!);
      return claimed && upsertPredictions(tx, source.pool_id, { batch, scoredAt });
    });
    if (!written) return undefined;
    added += written.added;
    corrected += written.changed;
  }
  return { ...result, added, corrected };
}
