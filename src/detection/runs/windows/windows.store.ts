import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { DetectionKey } from '../../scheduling/detection-key.ts';
import type { TimeRange } from '../../scheduling/slot-windows.ts';
import type { WindowList } from './windows.schema.ts';

type WindowEntry = WindowList['windows'][number];
export type WindowRow = Omit<WindowEntry, 'from' | 'to' | 'runAt'> & { from: Date; to: Date; runAt: Date | null };

/** Lists up to `limit` windows that overlap a range, latest first, cut to it. A gap starts where its backfill has arrived. */
export function listWindows(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { from, to, limit }: TimeRange & { limit: number },
): Promise<WindowRow[]> {
  return queryRows<WindowRow>(tx)`
      select greatest(w.from_at, ${from}::timestamptz) as "from", least(w.to_at, ${to}::timestamptz) as "to", w.state, w.reason, w.detail,
        w.gap_id as "gapId", w.slot_at as "runAt"
      from (
        select covered_from as from_at, covered_to as to_at, 'covered' as state, null as reason, null as detail, null::uuid as gap_id, null::timestamptz as slot_at
        from coverage where organization_id = ${orgId} and detection_id = ${detectionId} and covered_from < ${to}
        union all
        select window_from, window_to, 'pending', failure, null, null, slot_at
        from pending_windows where organization_id = ${orgId} and detection_id = ${detectionId} and window_from < ${to}
        union all
        select coalesce(filled_to, gap_from), gap_to, case state when 'open' then 'gap' else state end, reason, detail, id, null
        from gaps where organization_id = ${orgId} and detection_id = ${detectionId} and gap_from < ${to} and gap_to > ${from} and state <> 'filled'
      ) w
      where w.from_at < ${to} and w.to_at > ${from} and w.from_at < w.to_at
      order by w.from_at desc limit ${limit}`;
}

export type TimeLineRow = { coverageFrom: Date; plannedTo: Date; nextRunAt: Date | null };

export function findTimeLine(tx: Tx, { orgId, detectionId }: DetectionKey): Promise<TimeLineRow | undefined> {
  return queryRow<TimeLineRow>(tx)`
      select coverage_from as "coverageFrom", boundary_at as "plannedTo", case when active then next_slot_at end as "nextRunAt"
      from schedules where organization_id = ${orgId} and detection_id = ${detectionId}`;
}
