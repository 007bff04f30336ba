import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { PageRequest } from '../../../platform/lib/page-request.ts';
import type { NewGap } from '../timeline.ts';
import type { DetectionKey } from '../detection-key.ts';
import { emitGapEvents, type GapEventRow } from './gap-events.ts';

export type DetectionGap = NewGap & { organizationId: string; detectionId: string; detail?: string };

/** Stores gaps. One that starts where an open gap of the same reason ends extends that gap. `now` is slot time. */
export async function insertGaps(tx: Tx, gaps: DetectionGap[], now: Date): Promise<void> {
  if (gaps.length === 0) return;
  const opened = await queryRows<GapEventRow>(tx)`
    with new_gaps as (
      select * from unnest(${gaps.map((gap) => gap.organizationId)}::uuid[], ${gaps.map((gap) => gap.detectionId)}::uuid[],
        ${gaps.map(() => uuidv7(now))}::uuid[], ${gaps.map((gap) => gap.from.toISOString())}::timestamptz[],
        ${gaps.map((gap) => gap.to.toISOString())}::timestamptz[], ${gaps.map((gap) => gap.reason)}::text[],
        ${gaps.map((gap) => gap.detail ?? null)}::text[])
        as g (organization_id, detection_id, id, gap_from, gap_to, reason, detail)
    ), extended as (
      update gaps old set gap_to = new_gaps.gap_to, updated_at = ${now}
      from new_gaps
      where old.organization_id = new_gaps.organization_id and old.detection_id = new_gaps.detection_id
        and old.gap_to = new_gaps.gap_from and old.reason = new_gaps.reason and old.state = 'open'
      returning new_gaps.id
    )
    insert into gaps (organization_id, id, detection_id, gap_from, gap_to, reason, detail, created_at, updated_at)
    select organization_id, id, detection_id, gap_from, gap_to, reason, detail, ${now}, ${now}
    from new_gaps where id not in (select id from extended) returning *`;
  await emitGapEvents(tx, 'gap.opened', opened);
}

export type StoredGap = {
  id: string;
  from: Date;
  to: Date;
  reason: string;
  state: 'open' | 'filling' | 'filled' | 'expired';
  detail: string | null;
  createdAt: Date;
};

/** Lists `limit` + 1 gaps of a detection, latest first. */
export function listGaps(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { limit, after }: PageRequest,
): Promise<StoredGap[]> {
  return queryRows<StoredGap>(tx)`
      select id, gap_from as "from", gap_to as "to", reason, state, detail, created_at as "createdAt" from gaps
      where organization_id = ${orgId} and detection_id = ${detectionId}
        ${after ? sql`and (gap_from, id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by gap_from desc, id desc limit ${limit + 1}`;
}
