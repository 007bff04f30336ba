import { inOrg } from '../../platform/db/db.ts';
import type { SnapshotCache } from '../../feed/items/snapshot/snapshot.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import { getProfile } from '../../feed/relevance/profile.ts';
import type { ConnectionFor } from '../../detection/connections/open-connection.ts';
import { SiemError } from '../../detection/siem/connector.ts';
import { runSweepQueries, type SweepResult } from './run-queries.ts';
import type { ReceiveLogsDeps } from '../../detection/log-ingest/receive-logs.ts';
import { storeWithEvents } from './sighting-events.ts';
import { saveSightings, withdrawSightings } from './save-sightings.ts';
import { readSweepBatch, type SweepCursor } from './sweep-batch.store.ts';
import {
  claimSweepAcrossOrgs,
  finishSweep,
  listVisiblePools,
  syncSweepsAcrossOrgs,
  type Sweep,
} from './sightings.store.ts';
import {
  fieldsToSweep,
  listSweepTargets,
  readItemTargets,
  toTargetBatches,
  type SweepTarget,
} from './sweep-targets.ts';

export type SweepDeps = ReceiveLogsDeps & { log: Logger; connectionFor: ConnectionFor; snapshots: SnapshotCache };

const idleMs = 5_000;
const syncIntervalMs = 60_000;
const restMs = 10_000;
const hourMs = 3_600_000;
const queriesPerHour = 600;
const waitMaxMs = hourMs;
const datasetsMax = 50;
const lookbackMs = 30 * 86_400_000;

/** Searches every organization's logs for the indicators of new and changed feed items, until the signal aborts. */
export async function sweepLoop(deps: SweepDeps, signal: AbortSignal): Promise<void> {
  const { db, log } = deps;
  const syncSweeps = async (): Promise<boolean> => syncSweepsAcrossOrgs(db).then(() => false);
  await Promise.all([
    runLoop({ name: 'enrol sweeps', idleMs: syncIntervalMs, signal, log }, syncSweeps),
    runLoop({ name: 'sweep', idleMs, signal, log }, () => sweepDue(deps, signal)),
  ]);
}

/** Searches one SIEM for one batch of items. Returns false if no sweep is due. */
export async function sweepDue(deps: SweepDeps, signal: AbortSignal): Promise<boolean> {
  const sweep = await claimSweepAcrossOrgs(deps.db);
  if (!sweep) return false;
  const hour = new Date(Math.floor(deps.clock().getTime() / hourMs) * hourMs);
  const queriesUsed = hour.getTime() === sweep.hour.getTime() ? sweep.queries : 0;
  const caller = { orgId: sweep.orgId, keyId: null, scopes: new Set<string>(), expiresAt: null };
  const { sweep: isEnabled } = await getProfile(deps, caller);
  const { batch, found } = await inOrg(deps.db, sweep.orgId, async (tx) => {
    const batch = await readSweepBatch(tx, {
      pools: await listVisiblePools(tx),
      cursor: isEnabled && !sweep.isEmpty ? parseCursor(sweep) : undefined,
      weigh: (item) => listSweepTargets(item).length,
    });
    return { batch, found: await readItemTargets(tx, batch.items, hour) };
  });
  const result = await searchTargets(deps, {
    sweep,
    targets: found.targets,
    queriesMax: queriesPerHour - queriesUsed,
    signal,
  });
  const progress = {
    cursor: result.isComplete ? JSON.stringify(batch.cursor) : sweep.cursor,
    waitMs: nextWaitMs(sweep, result, batch.items.length > 0),
    hour,
    queries: queriesUsed + result.queries,
    failures: countFailures(sweep, result),
    error: result.error,
  };
  const findings = { ...found, sightings: result.sightings, now: deps.clock() };
  await storeWithEvents(deps, sweep, [findings], async (tx, standing) => {
    await withdrawSightings(tx, sweep.orgId, findings);
    for (const one of standing) await saveSightings(tx, sweep, one);
    await finishSweep(tx, sweep, progress);
  });
  if (result.sightings.length > 0) deps.snapshots.invalidate();
  return true;
}

const parseCursor = ({ cursor }: Sweep): SweepCursor | undefined =>
  cursor === null ? undefined : (JSON.parse(cursor) as SweepCursor);

type TargetSearch = { sweep: Sweep; targets: SweepTarget[]; queriesMax: number; signal: AbortSignal };

async function searchTargets(deps: SweepDeps, search: TargetSearch): Promise<SweepResult> {
  const { sweep, targets, queriesMax, signal } = search;
  const empty: SweepResult = { sightings: [], queries: 0, isComplete: true, isOutOfQueries: false, error: null };
  if (targets.length === 0) return empty;
  try {
    const connection = await deps.connectionFor(sweep.orgId, { connectionId: sweep.connectionId, siemType: null });
    const datasets = (await connection.fields(signal)).flatMap((one) => fieldsToSweep(one) ?? []).slice(0, datasetsMax);
    const now = deps.clock();
    return await runSweepQueries(connection, {
      kind: sweep.kind,
      datasets,
      window: { from: new Date(now.getTime() - lookbackMs), to: now, clock: connection.clock },
      batches: toTargetBatches(targets),
      targets,
      queriesMax,
      signal,
    });
  } catch (error) {
    if (!(error instanceof SiemError)) throw error;
    return { ...empty, isComplete: false, error: error.failure.message.slice(0, 1_000) };
  }
}

/** Returns the number of failures in a row. Running out of queries is not a failure. */
function countFailures({ failures }: Sweep, { isComplete, isOutOfQueries }: SweepResult): number {
  if (isComplete) return 0;
  return isOutOfQueries ? failures : failures + 1;
}

function nextWaitMs({ failures }: Sweep, { isComplete, isOutOfQueries }: SweepResult, hadItems: boolean): number {
  if (isOutOfQueries) return hourMs / 6;
  if (!isComplete) return Math.min(waitMaxMs, 60_000 * 2 ** failures);
  return hadItems ? 0 : restMs;
}
