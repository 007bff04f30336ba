import { sql } from 'kysely';
import { rows, type Tx } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';
import { emitGaps, type ChangedGap } from './gap-events.ts';
import type { NewGap } from './timeline.ts';

export type DetectionGap = NewGap & { organizationId: string; detectionId: string; detail?: string };

/** Stores gaps, each joined to an open one of the same reason that ends where it begins. `now` is slot time. */
export async function insertGaps(tx: Tx, gaps: DetectionGap[], now: Date): Promise<void> {
  if (gaps.length === 0) return;
  const opened = await rows(
    tx,
    sql<ChangedGap>`
    with given as (
      select * from unnest(${gaps.map((gap) => gap.organizationId)}::uuid[], ${gaps.map((gap) => gap.detectionId)}::uuid[],
        ${gaps.map(() => uuidv7(now))}::uuid[], ${gaps.map((gap) => gap.from.toISOString())}::timestamptz[],
        ${gaps.map((gap) => gap.to.toISOString())}::timestamptz[], ${gaps.map((gap) => gap.reason)}::text[],
        ${gaps.map((gap) => gap.detail ?? null)}::text[])
        as g (organization_id, detection_id, id, gap_from, gap_to, reason, detail)
    ), longer as (
      update gaps old set gap_to = given.gap_to, updated_at = ${now}
      from given
      where old.organization_id = given.organization_id and old.detection_id = given.detection_id
        and old.gap_to = given.gap_from and old.reason = given.reason and old.state = 'open'
      returning given.id
    )
    insert into gaps (organization_id, id, detection_id, gap_from, gap_to, reason, detail, created_at, updated_at)
    select organization_id, id, detection_id, gap_from, gap_to, reason, detail, ${now}, ${now}
    from given where id not in (select id from longer) returning *`,
  );
  await emitGaps(tx, 'gap.opened', opened);
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

/** A detection's gaps, latest first, `limit` + 1 of them. */
export function listGaps(
  tx: Tx,
  ref: { orgId: OrgId; detectionId: string },
  { limit, after }: PageRequest,
): Promise<StoredGap[]> {
  return rows(
    tx,
    sql<StoredGap>`
      select id, gap_from as "from", gap_to as "to", reason, state, detail, created_at as "createdAt" from gaps
      where organization_id = ${ref.orgId} and detection_id = ${ref.detectionId}
        ${after ? sql`and (gap_from, id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by gap_from desc, id desc limit ${limit + 1}`,
  );
}
