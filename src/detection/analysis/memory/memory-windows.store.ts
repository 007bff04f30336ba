import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/db.ts';
import { learningWindows, type MemoryScope, type PastWindow } from './memory.ts';

/** The windows remembered that begin at or after `since` and end at or before `before`, in order. */
export async function listEarlierWindows(tx: Tx, scope: MemoryScope, before: Date, since: Date): Promise<PastWindow[]> {
  const { rows } = await sql<PastWindow>`
    select window_from as "from", window_to as "to" from memory_windows
    where organization_id = ${scope.orgId} and detection_id = ${scope.detectionId} and generation = ${scope.generation}
      and window_from >= ${since} and window_from < ${before} and window_to <= ${before}
    order by window_from`.execute(tx);
  return rows;
}

/** `examined` false: known from the filling of memory alone. */
export type KnownWindow = PastWindow & { examined: boolean };

/**
 * What `windowsToRevisit` chooses from after the window `late`: the later windows that may have it within reach, and the first
 * of all, among which is the one that ends the learning.
 */
export async function listTouchedWindows(
  tx: Tx,
  scope: MemoryScope,
  late: PastWindow,
  reachMs: number,
): Promise<KnownWindow[]> {
  const mine = sql`organization_id = ${scope.orgId} and detection_id = ${scope.detectionId} and generation = ${scope.generation}`;
  const columns = sql`window_from as "from", window_to as "to", examined`;
  const until = new Date(late.from.getTime() + reachMs);
  const { rows } = await sql<KnownWindow>`
    (select ${columns} from memory_windows where ${mine} order by window_from limit ${learningWindows + 2})
    union
    (select ${columns} from memory_windows where ${mine} and window_from >= ${late.to} and window_from <= ${until})
    order by 1`.execute(tx);
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
