import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/db.ts';
import { learningWindows, type MemoryScope, type MemoryWindow } from './memory.ts';

/** Returns the remembered windows that begin at or after `since` and end by `before`, in order. */
export async function listEarlierWindows(
  tx: Tx,
  scope: MemoryScope,
  before: Date,
  since: Date,
): Promise<MemoryWindow[]> {
  const { rows } = await sql<MemoryWindow>`
    select window_from as "from", window_to as "to" from memory_windows
    where organization_id = ${scope.orgId} and detection_id = ${scope.detectionId} and generation = ${scope.generation}
      and window_from >= ${since} and window_from < ${before} and window_to <= ${before}
    order by window_from`.execute(tx);
  return rows;
}

/** Returns the starts, in epoch milliseconds, of those windows that were examined, not only read to fill the memory. */
export async function listExaminedStarts(
  tx: Tx,
  scope: MemoryScope,
  windows: readonly MemoryWindow[],
): Promise<Set<number>> {
  const starts = windows.map(({ from }) => from.toISOString());
  const { rows } = await sql<{ from: Date }>`
    select window_from as "from" from memory_windows
    where organization_id = ${scope.orgId} and detection_id = ${scope.detectionId} and generation = ${scope.generation}
      and examined and window_from = any(${starts}::timestamptz[])`.execute(tx);
  return new Set(rows.map(({ from }) => from.getTime()));
}

/** `examined` is false for a window known only from the backfill of memory. */
export type MemoryWindowRow = MemoryWindow & { examined: boolean };

/** Returns the input of `findWindowsToRevisit`: the later windows with `late` in their lookback, and the first windows, one of which ends learning. */
export async function listRevisitCandidates(
  tx: Tx,
  scope: MemoryScope,
  late: MemoryWindow,
  lookbackMs: number,
): Promise<MemoryWindowRow[]> {
  const mine = sql`organization_id = ${scope.orgId} and detection_id = ${scope.detectionId} and generation = ${scope.generation}`;
  const columns = sql`window_from as "from", window_to as "to", examined`;
  const until = new Date(late.from.getTime() + lookbackMs);
  const { rows } = await sql<MemoryWindowRow>`
    (select ${columns} from memory_windows where ${mine} order by window_from limit ${learningWindows + 2})
    union
    (select ${columns} from memory_windows where ${mine} and window_from >= ${late.to} and window_from <= ${until})
    order by 1`.execute(tx);
  return rows;
}

/** Counts the windows of the generation that end by `before`. */
export async function countEarlierWindows(tx: Tx, scope: MemoryScope, before: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from memory_windows
    where organization_id = ${scope.orgId} and detection_id = ${scope.detectionId} and generation = ${scope.generation}
      and window_from < ${before} and window_to <= ${before}`.execute(tx);
  return rows[0]?.count ?? 0;
}
