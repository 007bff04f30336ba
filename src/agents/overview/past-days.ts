import { LRUCache } from 'lru-cache';
import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { listRunDays, type DayRow } from './overview.store.ts';

const keptMs = 5 * 60_000;
const orgsMax = 1000;

type DayRange = { firstDay: string; today: string };
type PastDays = { today: string; until: number; rows: DayRow[] };

/**
 * Returns a function that reads the totals of runs by UTC day. Those of past days need a row per detection and day, change only if a run is
 * graded late, and are kept for 5 minutes.
 */
export function createRunDayReader() {
  const kept = new LRUCache<OrgId, PastDays>({ max: orgsMax });

  async function readPast(tx: Tx, orgId: OrgId, { firstDay, today }: DayRange, now: Date): Promise<DayRow[]> {
    const found = kept.get(orgId);
    if (found && found.today === today && found.until > now.getTime()) return found.rows;
    const rows = await listRunDays(tx, orgId, { from: firstDay, before: today });
    kept.set(orgId, { today, until: now.getTime() + keptMs, rows });
    return rows;
  }

  return async (tx: Tx, orgId: OrgId, range: DayRange, now: Date): Promise<DayRow[]> => [
    ...(await readPast(tx, orgId, range, now)),
    ...(await listRunDays(tx, orgId, { from: range.today })),
  ];
}
export type RunDayReader = ReturnType<typeof createRunDayReader>;
