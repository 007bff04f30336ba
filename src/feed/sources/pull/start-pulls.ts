import { Counter, type Registry } from 'prom-client';
import type { Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { appError } from '../../../platform/lib/errors.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { DiskGuard } from '../../../platform/lib/storage/disk-guard.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import { runLoops } from '../../../platform/lib/concurrency/loop.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import type { PullResult } from '../../ingestion/pull-plan.ts';
import type { SourceRow } from '../../ingestion/source-row.ts';
import type { SnapshotCache } from '../../items/snapshot/snapshot.ts';
import { changeSource } from '../source-access.ts';
import { claimDueSourceAcrossOrgs, claimSource, renewLease, withSourceAcrossOrgs } from '../sources.store.ts';
import type { PullOptions } from './pull-source.ts';

/** Pulls a claimed source. Resolves with undefined if the lease was lost meanwhile. Throws `unavailable` (503) if too many pulls are waiting. */
export type RunPull = (source: SourceRow, options: PullOptions) => Promise<PullResult | undefined>;

export type StartPullsDeps = {
  db: Db;
  clock: Clock;
  log: Logger;
  snapshots: SnapshotCache;
  runPull: RunPull;
  recordPull: RecordPull;
};

// Concurrent pulls of one process, so that a slow source does not delay the others.
const concurrentPulls = 3;
const idleMs = 1_000;

/** Pulls due sources until the signal aborts, except while the disk is full. Any number of processes may run it on one database. */
export const pullLoop = (deps: StartPullsDeps & { diskGuard: DiskGuard }, signal: AbortSignal): Promise<void> =>
  runLoops(
    concurrentPulls,
    { name: 'pull', idleMs, signal, log: deps.log },
    async () => (await deps.diskGuard.hasSpace()) && pullNextDue(deps, signal),
  );

/** Pulls the source that has been due longest. Returns false if no source is due. */
export async function pullNextDue(deps: StartPullsDeps, signal?: AbortSignal): Promise<boolean> {
  const source = await claimDueSourceAcrossOrgs(deps.db, deps.clock(), uuidv7());
  if (!source) return false;
  await runPull(deps, source, { isScheduled: true, signal });
  return true;
}

/** Pulls a source immediately, even a disabled one, and waits for the result. Throws a 409 if another pull of the source is in progress. */
export async function pullSourceNow(deps: StartPullsDeps, caller: Caller, id: string): Promise<PullResult> {
  const worker = uuidv7();
  const claimed = await changeSource(deps, caller, id, (tx, source) => claimSource(tx, source, worker));
  const result = claimed && (await runPull(deps, claimed, { isScheduled: false }));
  if (!result)
    throw appError('in_progress', 'Another pull of this source is in progress. Try again when it has finished.');
  return result;
}

async function runPull(
  deps: Omit<StartPullsDeps, 'clock'>,
  source: SourceRow,
  options: PullOptions,
): Promise<PullResult | undefined> {
  const result = await keepClaim(deps, source, () => deps.runPull(source, options));
  deps.snapshots.invalidate();
  if (result) deps.recordPull(source, result);
  return result;
}

type KeepClaimDeps = { db: Db; log: Logger };

// A sixth of a lease, so that a busy database or event loop does not end it.
const renewMs = 5_000;

/**
 * Renews the lease of a claimed source until `work` ends, and never after that. A process that is killed stops renewing, so that another may pull
 * the source half a minute later. Tests set `intervalMs`.
 */
export async function keepClaim<T>(
  { db, log }: KeepClaimDeps,
  source: SourceRow,
  work: () => Promise<T>,
  intervalMs = renewMs,
): Promise<T> {
  let renewing: Promise<void> | undefined;
  const renew = async (): Promise<void> => {
    try {
      await withSourceAcrossOrgs(db, source, (tx) => renewLease(tx, source, source.worker!));
    } catch (error) {
      log.warn({ sourceId: source.id, err: error }, 'could not renew the lease of a feed source');
    } finally {
      renewing = undefined;
    }
  };
  const timer = setInterval(() => void (renewing ??= renew()), intervalMs);
  timer.unref();
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await renewing;
  }
}

/** Counts a finished pull and its records in the metrics. */
export type RecordPull = (source: { kind: string; organization_id: string }, result: PullResult) => void;

/** Registers the pull counters. Call it once for each registry. */
export function createPullMetrics(registry: Registry): RecordPull {
  const labelNames = ['kind', 'outcome'] as const;
  const items = new Counter({
    name: 'tocsin_ingest_items_total',
    help: 'Records of feed sources, by outcome.',
    labelNames,
    registers: [registry],
  });
  const pulls = new Counter({
    name: 'tocsin_ingest_pulls_total',
    help: 'Pulls of feed sources, by outcome.',
    labelNames,
    registers: [registry],
  });
  return ({ kind }, result) => {
    pulls.inc({ kind, outcome: result.error === undefined ? 'good' : 'failed' });
    for (const outcome of ['added', 'corrected', 'retracted'] as const) items.inc({ kind, outcome }, result[outcome]);
    if (result.error === undefined) items.inc({ kind, outcome: 'skipped' }, result.skipped.length);
  };
}
