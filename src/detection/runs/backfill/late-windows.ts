import { inOrgByKey, type Tx } from '../../../platform/db/db.ts';
import { listGapWindows } from '../../scheduling/gap-windows.store.ts';
import type { WindowTask } from '../execution/examine-window.ts';
import { listRechecks } from './rechecks.store.ts';
import { listRevisits } from './revisits.store.ts';
import type { Run, RunDeps } from '../run-types.ts';

/** What a backfill has still to do, in order: the windows of its gaps, those due to be examined once more, then the later ones that both touch. */
export async function listLateWindows(tx: Tx, run: Run, now: Date, limit: number): Promise<WindowTask[]> {
  const late = await listGapsLeft(tx, run, limit);
  const due = late.length < limit ? await listRechecks(tx, run, now, limit - late.length) : [];
  const left = limit - late.length - due.length;
  const again = left > 0 ? await listRevisits(tx, run, left) : [];
  return [
    ...late,
    ...due.map((window) => ({ ...window, recheck: true })),
    ...again.map((window) => ({ ...window, again: true })),
  ];
}

function listGapsLeft(tx: Tx, run: Run, limit: number): Promise<WindowTask[]> {
  const { cronSchedule: cron } = run.definition;
  if (cron === null) return Promise.resolve([]);
  const { delayMs } = run.connection;
  return listGapWindows(tx, run, { runId: run.id, cut: { cron, delayMs }, limit });
}

/** Whether a backfill is not yet through. Each claim does a bounded part of it, so that other runs have their turn. */
export function hasLateWindows(deps: RunDeps, run: Run): Promise<boolean> {
  if (run.trigger !== 'backfill') return Promise.resolve(false);
  return inOrgByKey(deps.db, run.orgId, async (tx) => (await listLateWindows(tx, run, deps.clock(), 1)).length > 0);
}
