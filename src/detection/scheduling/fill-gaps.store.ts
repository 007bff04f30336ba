import { sql, type RawBuilder } from 'kysely';
import { belongsTo, type Expiry } from '../../platform/retention/organization-retention.store.ts';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import {
  type DetectionKey,
  findBoundaryBefore,
  splitIntoWindows,
  type TimeRange,
  type WindowGrid,
} from './timeline.ts';
import { insertGaps } from './gaps.store.ts';

type GapRow = TimeRange & { id: string; reason: string; filledTo: Date | null };

/** Maximum number of windows of a backfill. */
export const backfillWindowsMax = 1000;

/** Returns the parts of open gaps within a range, extended to whole windows. */
export async function listFillableRanges(
  tx: Tx,
  detection: DetectionKey,
  range: TimeRange,
  grid: WindowGrid,
): Promise<TimeRange[]> {
  const gaps = await queryRows(tx, selectOpenGaps(detection, range));
  return gaps.flatMap((gap) => findFillableRange(gap, range, grid) ?? []);
}

/** Assigns those parts to the run that fills them and returns them. The rest of each gap stays open. */
export async function claimGaps(
  tx: Tx,
  detection: DetectionKey,
  { range, grid, runId, now }: { range: TimeRange; grid: WindowGrid; runId: string; now: Date },
): Promise<TimeRange[]> {
  const claimed: TimeRange[] = [];
  for (const gap of await queryRows<GapRow>(tx)`${selectOpenGaps(detection, range)} for update`) {
    const part = findFillableRange(gap, range, grid);
    if (!part) continue;
    await sql`update gaps set gap_from = ${part.from}, gap_to = ${part.to}, state = 'filling', run_id = ${runId}, filled_to = null,
      updated_at = ${now} where organization_id = ${detection.orgId} and id = ${gap.id}`.execute(tx);
    await insertGapPart(tx, detection, { ...gap, to: part.from, state: 'open', now });
    await insertGapPart(tx, detection, { ...gap, from: part.to, state: 'open', now });
    claimed.push(part);
  }
  return claimed;
}

const fillAfterMinutes = 15;

/** Has a backfill fill the open gap that ends at `to` without a request. It waits, so that what ended the workers may be over. */
export async function scheduleFill(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { to, now }: { to: Date; now: Date },
): Promise<void> {
  await sql`update gaps set fill_at = ${now}::timestamptz + make_interval(mins => ${fillAfterMinutes})
    where organization_id = ${orgId} and detection_id = ${detectionId} and gap_to = ${to}
    and state = 'open'`.execute(tx);
}

export type DueFill = DetectionKey & TimeRange & { id: string };

/** Locks and returns the gaps to fill without a request, of detections without a backfill in progress. */
export function lockDueFills(tx: Tx, now: Date, limit: number): Promise<DueFill[]> {
  return queryRows<DueFill>(tx)`
      select g.organization_id as "orgId", g.detection_id as "detectionId", g.id, g.gap_from as "from", g.gap_to as "to"
      from gaps g join agents a on a.organization_id = g.organization_id and a.id = g.detection_id
      where g.state = 'open' and g.fill_at <= ${now} and a.deleted_at is null and not exists (
        select from run_queue q where q.organization_id = g.organization_id and q.detection_id = g.detection_id and q.kind = 'backfill')
      order by g.fill_at limit ${limit} for update of g skip locked`;
}

/** Assigns a whole gap to the run that fills it. Nothing fills it again without a request. */
export async function claimFill(tx: Tx, { orgId, id }: DueFill, runId: string, now: Date): Promise<void> {
  await sql`update gaps set state = 'filling', run_id = ${runId}, filled_to = null, fill_at = null, updated_at = ${now}
    where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

/** Returns the windows that a run still has to fill, in order. */
export async function listGapWindows(
  tx: Tx,
  detection: DetectionKey,
  { runId, grid, limit }: { runId: string; grid: WindowGrid; limit: number },
): Promise<TimeRange[]> {
  const windows: TimeRange[] = [];
  for (const gap of await lockFillingGaps(tx, detection, runId)) {
    const unfilled = { from: gap.filledTo ?? gap.from, to: gap.to };
    windows.push(...splitIntoWindows(unfilled, grid, limit - windows.length));
  }
  return windows;
}

/**
 * Turns the next window of a gap into a gap with a reason of its own, after a run covered it only in part. The time before it
 * is filled, and the run continues with the time after it. Returns false if the run does not fill that gap.
 */
export async function splitOffGapWindow(
  tx: Tx,
  detection: DetectionKey,
  { runId, reason, now, ...window }: TimeRange & { runId: string; reason: string; now: Date },
): Promise<boolean> {
  const gap = (await lockFillingGaps(tx, detection, runId)).find(
    (candidate) =>
      (candidate.filledTo ?? candidate.from).getTime() === window.from.getTime() && candidate.to >= window.to,
  );
  if (!gap) return false;
  await insertGapPart(tx, detection, { ...gap, to: window.from, state: 'filled', now });
  const isGap = sql`organization_id = ${detection.orgId} and id = ${gap.id}`;
  if (gap.to.getTime() === window.to.getTime()) await sql`delete from gaps where ${isGap}`.execute(tx);
  else await sql`update gaps set gap_from = ${window.to}, filled_to = null where ${isGap}`.execute(tx);
  const { orgId: organizationId, detectionId } = detection;
  await insertGaps(tx, [{ organizationId, detectionId, from: window.from, to: window.to, reason }], now);
  return true;
}

/** Ends the filling of gaps by a run, or by any run if `runId` is null. Time not yet filled becomes an open gap again. */
export async function reopenGaps(
  tx: Tx,
  detection: DetectionKey,
  { runId, now }: { runId: string | null; now: Date },
): Promise<void> {
  const { orgId, detectionId } = detection;
  for (const gap of await lockFillingGaps(tx, detection, runId)) {
    if (gap.filledTo) await insertGapPart(tx, detection, { ...gap, to: gap.filledTo, state: 'filled', now });
    await sql`update gaps set state = 'open', gap_from = coalesce(filled_to, gap_from), filled_to = null, run_id = null, updated_at = ${now}
      where organization_id = ${orgId} and id = ${gap.id}`.execute(tx);
  }
  await sql`delete from revisits where organization_id = ${orgId} and detection_id = ${detectionId}
    and (${runId}::uuid is null or run_id = ${runId}::uuid)`.execute(tx);
}

/** Expires open gaps whose events are past their retention, so that no backfill can fill them. Returns their number. */
export async function expireGapsAcrossOrgs(tx: Tx, expiry: Expiry, now: Date): Promise<number> {
  const { numAffectedRows } = await sql`
      update gaps set state = 'expired', updated_at = ${now}
        where state = 'open' and gap_to <= ${expiry.before} and ${belongsTo(expiry)}`.execute(tx);
  return Number(numAffectedRows ?? 0);
}

const columns = sql`id, gap_from as "from", gap_to as "to", reason, filled_to as "filledTo"`;

const selectOpenGaps = ({ orgId, detectionId }: DetectionKey, { from, to }: TimeRange): RawBuilder<GapRow> =>
  sql<GapRow>`
    select ${columns} from gaps where organization_id = ${orgId} and detection_id = ${detectionId} and state = 'open'
      and gap_from < ${to} and gap_to > ${from} order by gap_from`;

function lockFillingGaps(tx: Tx, { orgId, detectionId }: DetectionKey, runId: string | null): Promise<GapRow[]> {
  return queryRows<GapRow>(tx)`
      select ${columns} from gaps where organization_id = ${orgId} and detection_id = ${detectionId} and state = 'filling'
        and (${runId}::uuid is null or run_id = ${runId}::uuid) order by gap_from for update`;
}

function findFillableRange(gap: TimeRange, range: TimeRange, grid: WindowGrid): TimeRange | undefined {
  const boundary = findBoundaryBefore(range.from, grid) ?? gap.from;
  const from = boundary > gap.from ? boundary : gap.from;
  // One window more than the maximum, so that the caller notices a range that is too long.
  const windows = splitIntoWindows({ from, to: gap.to }, grid, backfillWindowsMax + 1);
  const within = windows.filter((window) => window.to > range.from && window.from < range.to);
  const [first, last] = [within[0], within.at(-1)];
  return first && last && { from: first.from, to: last.to };
}

async function insertGapPart(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { from, to, reason, state, now }: TimeRange & { reason: string; state: 'open' | 'filled'; now: Date },
): Promise<void> {
  if (from >= to) return;
  await sql`insert into gaps (organization_id, id, detection_id, gap_from, gap_to, reason, state, created_at, updated_at)
    values (${orgId}, ${uuidv7(now)}, ${detectionId}, ${from}, ${to}, ${reason}, ${state}, ${now}, ${now})`.execute(tx);
}
