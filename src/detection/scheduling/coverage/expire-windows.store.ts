import { sql, type RawBuilder } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import { mergeAdjacentGaps } from '../timeline.ts';
import { insertGaps } from './gaps.store.ts';

type ExpiredWindow = { organizationId: string; detectionId: string; from: Date; to: Date; reason: string };

/** The look-back limit of a detection: windows of slots before `before` are not examined any more. */
export type LookbackLimit = { organizationId: string; detectionId: string; before: Date };

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

/** Returns the ids of those detections that have a window beyond its look-back limit. */
export async function listDetectionsBehind(tx: Tx, limits: LookbackLimit[]): Promise<Set<string>> {
  const found = await queryRows<{ id: string }>(tx)`
      select distinct p.detection_id as id from pending_windows p join ${limitRows(limits)}
        on p.organization_id = l.organization_id and p.detection_id = l.detection_id and p.slot_at < l.before`;
  return new Set(found.map((row) => row.id));
}

const limitRows = (limits: LookbackLimit[]): RawBuilder<unknown> =>
  sql`unnest(${limits.map((limit) => limit.organizationId)}::uuid[], ${limits.map((limit) => limit.detectionId)}::uuid[],
    ${limits.map((limit) => limit.before.toISOString())}::timestamptz[]) as l (organization_id, detection_id, before)`;
