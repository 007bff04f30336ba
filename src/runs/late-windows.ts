import { inOrg, type Tx } from '../db/db.ts';
import { listGapWindows } from '../schedule/backfill.ts';
import type { WindowTask } from './examine.ts';
import { listRevisits } from './revisit-store.ts';
import type { Run, RunDeps } from './run.ts';

/** What a backfill has still to do, in order: the windows of its gaps, then the later ones that they touch. */
export async function listLateWindows(tx: Tx, deps: RunDeps, run: Run, limit: number): Promise<WindowTask[]> {
  const { cronSchedule: cron } = run.definition;
  if (cron === null) return [];
  const { delayMs } = deps.connectionFor(run.orgId);
  const windows = await listGapWindows(tx, run, { runId: run.id, cut: { cron, delayMs }, limit });
  const again = windows.length < limit ? await listRevisits(tx, run, limit - windows.length) : [];
  return [...windows, ...again.map((window) => ({ ...window, again: true }))];
}

/** Whether a backfill is not yet through. Each claim does a bounded part of it, so that other runs have their turn. */
export function hasLateWindows(deps: RunDeps, run: Run): Promise<boolean> {
  if (run.trigger !== 'backfill') return Promise.resolve(false);
  return inOrg(deps.db, run.orgId, async (tx) => (await listLateWindows(tx, deps, run, 1)).length > 0);
}
