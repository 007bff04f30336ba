import type { Db, TransactionWork } from '../../../../platform/db/db.ts';
import type { Clock } from '../../../../platform/lib/time/clock.ts';
import { prepareAdditions, type PreparedAdditions } from '../../../ingestion/apply-actions.ts';
import type { Extractor } from '../../../ingestion/extractor.ts';
import {
  countActions,
  noActions,
  resultOf,
  type ActionCounts,
  type ItemAction,
  type PullFindings,
  type PullResult,
} from '../../../ingestion/pull-plan.ts';
import type { PullCursor, SourceRow } from '../../../ingestion/source-row.ts';
import type { SnapshotCache } from '../../../items/snapshot/snapshot.ts';
import { renewClaim, withSourceAcrossOrgs } from '../../sources.store.ts';
import { applyBatch, toBatches } from './apply-batches.ts';
import { keepWithinQuota, mayExceedQuota, withoutRefused, type RefusedRecords } from './item-quota.ts';
import { planSourcePull, type SourcePlan } from '../plan-source-pull.ts';
import type { ParsedHead, ParsedSource } from '../parse/record-chunks.ts';

export type ApplyRecordsDeps = {
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

type PreparedBatch = { batch: ItemAction[]; prepared: PreparedAdditions | undefined };

/**
 * Applies the batches of a plan, adds their actions to `applied`, and returns the records that the quota refused. Reads the records of a batch
 * and builds its writes while the transaction of the previous one runs. `changed`: the settings of the source changed.
 */
async function applyPlan(
  deps: ApplyRecordsDeps,
  source: SourceRow,
  plan: SourcePlan,
  applied: ActionCounts,
): Promise<RefusedRecords | 'changed' | 'lost'> {
  const { referenceDataVersion } = deps.extractor;
  const { lists, refused } = await keepNewest(deps, source, plan);
  const batches = toBatches(lists);
  const takeNext = async (): Promise<PreparedBatch | undefined> => {
    const { value: batch } = await batches.next();
    if (!batch) return undefined;
    return { batch, prepared: await prepareAdditions(source, batch, { now: deps.clock(), referenceDataVersion }) };
  };
  try {
    for (let current = await takeNext(); current;) {
      const { batch, prepared } = current;
      const applying = withSourceAcrossOrgs(deps.db, source, async (tx) => {
        const claimed = await renewClaim(tx, source, source.worker!);
        if (!claimed) return 'lost';
        if (claimed.updated_at.getTime() !== source.updated_at.getTime()) return 'changed';
        return applyBatch(tx, claimed, batch, { now: deps.clock(), referenceDataVersion, prepared });
      });
      const next = takeNext();
      // Its error is thrown below, when the batch is written, so that nothing writes after the pull has ended.
      next.catch(() => undefined);
      const outcome = await applying;
      deps.snapshots.invalidate();
      if (typeof outcome === 'string') return outcome;
      countActions(applied, outcome.applied);
      refused.count += outcome.refused.count;
      refused.limit ||= outcome.refused.limit;
      current = await next;
    }
    return refused;
  } finally {
    await batches.return();
  }
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
  const { kept, refused } = await withSourceAcrossOrgs(db, source, (tx) => keepWithinQuota(tx, source, all));
  return { lists: [kept], refused };
}
