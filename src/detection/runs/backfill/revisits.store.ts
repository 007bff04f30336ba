import { sql } from 'kysely';
import { categories } from '../../analysis/registry.ts';
import { listTouchedWindows } from '../../analysis/memory/memory-windows.store.ts';
import { windowsToRevisit } from '../../analysis/memory/windows-to-revisit.ts';
import { row, rows, type Tx } from '../../../platform/db/db.ts';
import type { Run } from '../run-types.ts';

type Window = { from: Date; to: Date };

/** After the window `late` came into memory: lets windows under way see that the past changed, and notes the examined ones that it touches. */
export async function noteChangedPast(tx: Tx, run: Run, late: Window): Promise<void> {
  await sql`update schedules set memory_epoch = memory_epoch + 1
    where organization_id = ${run.orgId} and detection_id = ${run.detectionId}`.execute(tx);
  const reachMs = categories[run.analysis.category].reachMs(run.analysis);
  const known = await listTouchedWindows(tx, run.scope, late, reachMs);
  const examined = new Set(known.filter((window) => window.examined).map((window) => window.from.getTime()));
  const touched = windowsToRevisit(late, known, run.analysis).filter(({ from }) => examined.has(from.getTime()));
  if (touched.length === 0) return;
  await sql`insert into revisits (organization_id, detection_id, run_id, window_from, window_to)
    select ${run.orgId}::uuid, ${run.detectionId}::uuid, ${run.id}::uuid, * from unnest(
      ${touched.map(({ from }) => from.toISOString())}::timestamptz[], ${touched.map(({ to }) => to.toISOString())}::timestamptz[])
    on conflict do nothing`.execute(tx);
}

/** The windows that a run has still to look at again, in order. */
export function listRevisits(tx: Tx, run: Pick<Run, 'orgId' | 'detectionId' | 'id'>, limit: number): Promise<Window[]> {
  return rows(
    tx,
    sql<Window>`select window_from as "from", window_to as "to" from revisits
      where organization_id = ${run.orgId} and detection_id = ${run.detectionId} and run_id = ${run.id} order by window_from limit ${limit}`,
  );
}

/** False: it was looked at already. */
export async function takeRevisit(tx: Tx, run: Run, window: Window): Promise<boolean> {
  const taken = await row(
    tx,
    sql`delete from revisits where organization_id = ${run.orgId} and detection_id = ${run.detectionId} and run_id = ${run.id}
      and window_from = ${window.from} returning 1`,
  );
  return taken !== undefined;
}

/** How often the past of a detection has changed; `hold`: it does not change until the transaction ends. */
export async function findMemoryEpoch(tx: Tx, run: Pick<Run, 'orgId' | 'detectionId'>, hold = false): Promise<number> {
  const found = await row(
    tx,
    sql<{ epoch: number }>`select memory_epoch as epoch from schedules
      where organization_id = ${run.orgId} and detection_id = ${run.detectionId} ${hold ? sql`for share` : sql``}`,
  );
  return found?.epoch ?? 0;
}
