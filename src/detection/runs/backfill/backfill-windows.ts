import { inOrgWithCachedPlans, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { listGapWindows } from '../../scheduling/coverage/fill-gaps.store.ts';
import type { TimeRange } from '../../scheduling/slot-windows.ts';
import type { ActiveRun } from '../execution/active-run.ts';
import type { RepeatReason, WindowTask } from '../execution/windows/search-window.ts';
import { listDueRechecks } from './rechecks.store.ts';
import { listRevisits } from './revisits.store.ts';

/** Returns the windows that a backfill still has to examine, in order: those of its gaps, due rechecks, and revisits. */
export async function listBackfillWindows(tx: Tx, run: ActiveRun, now: Date, limit: number): Promise<WindowTask[]> {
  const tasks: WindowTask[] = await listOwnGapWindows(tx, run, limit);
  const add = (windows: TimeRange[], repeat: RepeatReason): void => {
    for (const window of windows) tasks.push({ ...window, repeat });
  };
  if (tasks.length < limit) add(await listDueRechecks(tx, run, now, limit - tasks.length), 'recheck');
  if (tasks.length < limit) add(await listRevisits(tx, run, limit - tasks.length), 'revisit');
  return tasks;
}

async function listOwnGapWindows(tx: Tx, run: ActiveRun, limit: number): Promise<TimeRange[]> {
  const { cronSchedule: cron } = run.definition;
  if (cron === null) return [];
  return listGapWindows(tx, run, { runId: run.id, grid: { cron, delayMs: run.connection.delayMs }, limit });
}

/** Returns whether a run is a backfill with windows left. Each claim examines a bounded number, so that other runs get their turn. */
export async function hasBackfillWindows({ db, clock }: { db: Db; clock: Clock }, run: ActiveRun): Promise<boolean> {
  if (run.trigger !== 'backfill') return false;
  const left = await inOrgWithCachedPlans(db, run.orgId, (tx) => listBackfillWindows(tx, run, clock(), 1));
  return left.length > 0;
}
