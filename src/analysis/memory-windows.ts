import { sql } from 'kysely';
import type { Tx } from '../db/db.ts';
import type { MemoryScope, PastWindow } from './memory.ts';

/** The windows remembered that begin at or after `since` and end at or before `before`, in order. */
export async function listEarlierWindows(tx: Tx, scope: MemoryScope, before: Date, since: Date): Promise<PastWindow[]> {
  const { rows } = await sql<PastWindow>`
    select window_from as "from", window_to as "to" from memory_windows
    where organization_id = ${scope.orgId} and detection_id = ${scope.detectionId} and generation = ${scope.generation}
      and window_from >= ${since} and window_from < ${before} and window_to <= ${before}
    order by window_from`.execute(tx);
  return rows;
}

/** The windows remembered that begin at or after `since`, in order: what `windowsToRevisit` chooses from. */
export async function listLaterWindows(tx: Tx, scope: MemoryScope, since: Date): Promise<PastWindow[]> {
  const { rows } = await sql<PastWindow>`
    select window_from as "from", window_to as "to" from memory_windows
    where organization_id = ${scope.orgId} and detection_id = ${scope.detectionId} and generation = ${scope.generation}
      and window_from >= ${since}
    order by window_from`.execute(tx);
  return rows;
}

/** How many windows of the generation end at or before `before`. */
export async function countEarlierWindows(tx: Tx, scope: MemoryScope, before: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from memory_windows
    where organization_id = ${scope.orgId} and detection_id = ${scope.detectionId} and generation = ${scope.generation}
      and window_from < ${before} and window_to <= ${before}`.execute(tx);
  return rows[0]?.count ?? 0;
}
