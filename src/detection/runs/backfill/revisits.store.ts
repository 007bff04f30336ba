import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import { categories } from '../../analysis/registry.ts';
import { listRevisitCandidates } from '../../analysis/memory/memory-windows.store.ts';
import { findWindowsToRevisit } from '../../analysis/memory/find-windows-to-revisit.ts';
import type { DetectionKey } from '../../scheduling/detection-key.ts';
import type { TimeRange } from '../../scheduling/slot-windows.ts';
import type { ActiveRun } from '../execution/active-run.ts';

/**
 * Records that the memory of a window was added or replaced after later windows were examined: runs that compare with the past
 * notice the new epoch, and the run must revisit the examined windows whose comparison the window affects.
 */
export async function recordPastChange(tx: Tx, run: ActiveRun, changed: TimeRange): Promise<void> {
  await sql`update schedules set memory_epoch = memory_epoch + 1
    where organization_id = ${run.orgId} and detection_id = ${run.detectionId}`.execute(tx);
  const reachMs = categories[run.analysis.category].lookbackMs(run.analysis);
  const known = await listRevisitCandidates(tx, run.scope, changed, reachMs);
  const examined = new Set(known.filter((window) => window.examined).map((window) => window.from.getTime()));
  const affected = findWindowsToRevisit(changed, known, run.analysis).filter(({ from }) =>
    examined.has(from.getTime()),
  );
  if (affected.length === 0) return;
  await sql`insert into revisits (organization_id, detection_id, run_id, window_from, window_to)
    select ${run.orgId}::uuid, ${run.detectionId}::uuid, ${run.id}::uuid, * from unnest(
      ${affected.map(({ from }) => from.toISOString())}::timestamptz[], ${affected.map(({ to }) => to.toISOString())}::timestamptz[])
    on conflict do nothing`.execute(tx);
}

type RunKey = DetectionKey & { id: string };

const isRevisitOf = ({ orgId, detectionId, id }: RunKey): RawBuilder<unknown> =>
  sql`organization_id = ${orgId} and detection_id = ${detectionId} and run_id = ${id}`;

/** Returns the windows that a run must revisit, in order. */
export function listRevisits(tx: Tx, run: RunKey, limit: number): Promise<TimeRange[]> {
  return queryRows<TimeRange>(tx)`
      select window_from as "from", window_to as "to" from revisits where ${isRevisitOf(run)} order by window_from limit ${limit}`;
}

/** Returns false if the window was already revisited. */
export async function deleteRevisit(tx: Tx, run: RunKey, { from }: TimeRange): Promise<boolean> {
  const deleted = await queryRow(
    tx,
  )`delete from revisits where ${isRevisitOf(run)} and window_from = ${from} returning 1`;
  return deleted !== undefined;
}

const selectMemoryEpoch = ({ orgId, detectionId }: DetectionKey): RawBuilder<{ epoch: number }> =>
  sql<{ epoch: number }>`
    select memory_epoch as epoch from schedules where organization_id = ${orgId} and detection_id = ${detectionId}`;

/** Returns the version of a detection's past, which each change increases. */
export async function findMemoryEpoch(tx: Tx, detection: DetectionKey): Promise<number> {
  return (await queryRow<{ epoch: number }>(tx)`${selectMemoryEpoch(detection)}`)?.epoch ?? 0;
}

/** Like `findMemoryEpoch`. The past does not change until the transaction ends. */
export async function lockMemoryEpoch(tx: Tx, detection: DetectionKey): Promise<number> {
  return (await queryRow<{ epoch: number }>(tx)`${selectMemoryEpoch(detection)} for share`)?.epoch ?? 0;
}
