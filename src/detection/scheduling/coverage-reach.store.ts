import { sql } from 'kysely';
import { rows, type Tx } from '../../platform/db/db.ts';
import { insertGaps } from './gaps.store.ts';
import { joinGaps, type NewGap } from './timeline.ts';

type Dropped = { organization_id: string; detection_id: string; window_from: Date; window_to: Date; reason: string };

/** Detections whose windows with a slot before `before` are out of reach. */
export type Reach = { organizationId: string; detectionId: string; before: Date };

/** Turns windows out of reach into gaps, of the reason why they were not examined (`late` where nothing failed). */
export async function expireWindows(tx: Tx, reaches: Reach[], now: Date): Promise<void> {
  const dropped = await rows(
    tx,
    sql<Dropped>`
      delete from pending_windows p
      using unnest(${reaches.map((reach) => reach.organizationId)}::uuid[], ${reaches.map((reach) => reach.detectionId)}::uuid[],
        ${reaches.map((reach) => reach.before.toISOString())}::timestamptz[]) as r (organization_id, detection_id, before)
      where p.organization_id = r.organization_id and p.detection_id = r.detection_id and p.slot_at < r.before
      returning p.organization_id, p.detection_id, p.window_from, p.window_to, coalesce(p.failure, 'late') as reason`,
  );
  await insertDropped(tx, dropped, now);
}

/** Those of the detections that have a window with a slot before `before`. */
export async function listBehind(tx: Tx, reaches: Reach[]): Promise<Set<string>> {
  const found = await rows(
    tx,
    sql<{ id: string }>`
      select distinct p.detection_id as id from pending_windows p
      join unnest(${reaches.map((reach) => reach.organizationId)}::uuid[], ${reaches.map((reach) => reach.detectionId)}::uuid[],
        ${reaches.map((reach) => reach.before.toISOString())}::timestamptz[]) as r (organization_id, detection_id, before)
        on p.organization_id = r.organization_id and p.detection_id = r.detection_id and p.slot_at < r.before`,
  );
  return new Set(found.map((row) => row.id));
}

async function insertDropped(tx: Tx, dropped: Dropped[], now: Date): Promise<void> {
  const perDetection = Map.groupBy(dropped, (window) => `${window.organization_id}/${window.detection_id}`);
  const gaps = [...perDetection.values()].flatMap((windows) => {
    const { organization_id: organizationId, detection_id: detectionId } = windows[0]!;
    const parts: NewGap[] = windows
      .toSorted((a, b) => a.window_from.getTime() - b.window_from.getTime())
      .map((window) => ({ from: window.window_from, to: window.window_to, reason: window.reason }));
    return joinGaps(parts).map((gap) => ({ organizationId, detectionId, ...gap }));
  });
  await insertGaps(tx, gaps, now);
}
