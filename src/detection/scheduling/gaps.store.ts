import { sql, type RawBuilder } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';
import { type NewGap, mergeAdjacentGaps, type DetectionKey } from './timeline.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';

type DetectionGap = NewGap & { organizationId: string; detectionId: string; detail?: string };

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
    from new_gaps where id not in (select id from extended)
    returning ${gapEventColumns}`;
  await emitGapEvents(tx, 'gap.opened', opened);
}

type StoredGap = {
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

/** A row of `gaps` after a change. */
export type GapEventRow = {
  organization_id: string;
  id: string;
  detection_id: string;
  gap_from: Date;
  gap_to: Date;
  reason: string;
  state: string;
  detail: string | null;
  created_at: Date;
  updated_at: Date;
};
export const gapEventColumns = sql`organization_id, id, detection_id, gap_from, gap_to, reason, state, detail, created_at, updated_at`;

/** Emits an event for each gap, of any number of organizations. An open gap that grows emits no further event. */
export async function emitGapEvents(tx: Tx, type: 'gap.opened' | 'gap.filled', gaps: GapEventRow[]): Promise<void> {
  if (gaps.length === 0) return;
  const orgIds = gaps.map((gap) => gap.organization_id);
  await emitEvents(tx, orgIds, [type], () =>
    gaps.map((gap) => ({
      orgId: gap.organization_id,
      type,
      resourceId: gap.id,
      revision: gap.updated_at.getTime(),
      data: {
        organizationId: gap.organization_id,
        id: gap.id,
        detectionId: gap.detection_id,
        from: gap.gap_from.toISOString(),
        to: gap.gap_to.toISOString(),
        reason: gap.reason,
        state: gap.state,
        detail: gap.detail,
        createdAt: gap.created_at.toISOString(),
      },
      detectionId: gap.detection_id,
    })),
  );
}

type ExpiredWindow = { organizationId: string; detectionId: string; from: Date; to: Date; reason: string };

/** The look-back limit of a detection: windows of slots before `before` are not examined any more. */
type LookbackLimit = { organizationId: string; detectionId: string; before: Date };

/** Turns windows beyond the look-back limit into gaps. Their reason is the recorded failure, or `late` if there is none. */
export async function expireWindows(tx: Tx, limits: LookbackLimit[], now: Date): Promise<void> {
  const expired = await queryRows<ExpiredWindow>(tx)`
      delete from pending_windows p using ${limitRows(limits)}
      where p.organization_id = l.organization_id and p.detection_id = l.detection_id and p.slot_at < l.before
      returning p.organization_id as "organizationId", p.detection_id as "detectionId", p.window_from as "from", p.window_to as "to",
        coalesce(p.failure, 'late') as reason`;
  const byDetection = Map.groupBy(expired, (window) => `${window.organizationId}/${window.detectionId}`);
  const gaps = [...byDetection.values()].flatMap((windows) => {
    const { organizationId, detectionId } = windows[0]!;
    const ordered = windows
      .toSorted((a, b) => a.from.getTime() - b.from.getTime())
      .map(({ from, to, reason }) => ({ from, to, reason }));
    return mergeAdjacentGaps(ordered).map((gap) => ({ organizationId, detectionId, ...gap }));
  });
  await insertGaps(tx, gaps, now);
}

/** Returns the ids of those detections that have a window beyond its look-back limit. Looks up each in the index, as `cancelQueuedRuns` does. */
export async function listDetectionsBehind(tx: Tx, limits: LookbackLimit[]): Promise<Set<string>> {
  const found = await queryRows<{ id: string }>(tx)`
      select l.detection_id as id from ${limitRows(limits)} cross join lateral (
        select from pending_windows p
        where p.organization_id = l.organization_id and p.detection_id = l.detection_id and p.slot_at < l.before limit 1) late`;
  return new Set(found.map((row) => row.id));
}

const limitRows = (limits: LookbackLimit[]): RawBuilder<unknown> =>
  sql`unnest(${limits.map((limit) => limit.organizationId)}::uuid[], ${limits.map((limit) => limit.detectionId)}::uuid[],
    ${limits.map((limit) => limit.before.toISOString())}::timestamptz[]) as l (organization_id, detection_id, before)`;
