import { sql } from 'kysely';
import { rows, type Tx } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { insertGaps } from './gaps.store.ts';
import { cronOf } from '../../platform/lib/cron/cron-intervals.ts';
import { lastSlot } from '../../platform/lib/cron/cron.ts';
import { cutWindows } from './timeline.ts';
import type { DetectionRef } from './coverage.store.ts';

type Stretch = { from: Date; to: Date };
type GapRow = Stretch & { id: string; reason: string; filledTo: Date | null };

/** How windows are cut: the detection's cron and the delay of its connection. */
export type Cut = { cron: string; delayMs: number };

/** Windows that one backfill fills at most. */
export const backfillWindowsMax = 1000;

/** The parts of open gaps that lie in the stretch asked for, rounded out to whole slot windows; nothing is written. */
export async function listFillable(tx: Tx, ref: DetectionRef, asked: Stretch, cut: Cut): Promise<Stretch[]> {
  return (await listOpen(tx, ref, asked)).flatMap((gap) => partOf(gap, asked, cut) ?? []);
}

/** Marks those parts as being filled by a run; what of a gap lies outside of them stays open. Answers them. */
export async function takeGaps(
  tx: Tx,
  ref: DetectionRef,
  by: { asked: Stretch; cut: Cut; runId: string; now: Date },
): Promise<Stretch[]> {
  const taken: Stretch[] = [];
  for (const gap of await listOpen(tx, ref, by.asked, true)) {
    const part = partOf(gap, by.asked, by.cut);
    if (!part) continue;
    await sql`update gaps set gap_from = ${part.from}, gap_to = ${part.to}, state = 'filling', run_id = ${by.runId}, filled_to = null,
      updated_at = ${by.now} where organization_id = ${ref.orgId} and id = ${gap.id}`.execute(tx);
    await insertPart(tx, ref, { ...gap, to: part.from }, { state: 'open', now: by.now });
    await insertPart(tx, ref, { ...gap, from: part.to }, { state: 'open', now: by.now });
    taken.push(part);
  }
  return taken;
}

/** The windows that a run has still to fill, in order. */
export async function listGapWindows(
  tx: Tx,
  ref: DetectionRef,
  by: { runId: string; cut: Cut; limit: number },
): Promise<Stretch[]> {
  const filling = await listFilling(tx, ref, by.runId);
  const windows: Stretch[] = [];
  for (const gap of filling) {
    const left = { from: gap.filledTo ?? gap.from, to: gap.to };
    windows.push(...cutWindows(left, by.cut, by.limit - windows.length));
  }
  return windows;
}

/** A window that was covered in part only: what lies before it is filled, it is a gap of its own, the rest goes on. False: not this run's to fill. */
export async function leaveGapWindow(
  tx: Tx,
  ref: DetectionRef,
  window: Stretch & { runId: string; reason: string; now: Date },
): Promise<boolean> {
  const gap = (await listFilling(tx, ref, window.runId)).find(
    (one) => (one.filledTo ?? one.from).getTime() === window.from.getTime() && one.to >= window.to,
  );
  if (!gap) return false;
  await insertPart(tx, ref, { ...gap, to: window.from }, { state: 'filled', now: window.now });
  const mine = sql`organization_id = ${ref.orgId} and id = ${gap.id}`;
  if (gap.to.getTime() === window.to.getTime()) await sql`delete from gaps where ${mine}`.execute(tx);
  else await sql`update gaps set gap_from = ${window.to}, filled_to = null where ${mine}`.execute(tx);
  const { from, to, reason, now } = window;
  await insertGaps(tx, [{ organizationId: ref.orgId, detectionId: ref.detectionId, from, to, reason }], now);
  return true;
}

/** Ends the filling of gaps, by one run or by any: what is filled stays so, the rest is open again. */
export async function reopenGaps(tx: Tx, ref: DetectionRef, by: { runId: string | null; now: Date }): Promise<void> {
  for (const gap of await listFilling(tx, ref, by.runId)) {
    if (gap.filledTo) await insertPart(tx, ref, { ...gap, to: gap.filledTo }, { state: 'filled', now: by.now });
    await sql`update gaps set state = 'open', gap_from = coalesce(filled_to, gap_from), filled_to = null, run_id = null, updated_at = ${by.now}
      where organization_id = ${ref.orgId} and id = ${gap.id}`.execute(tx);
  }
  await sql`delete from revisits where organization_id = ${ref.orgId} and detection_id = ${ref.detectionId}
    and (${by.runId}::uuid is null or run_id = ${by.runId}::uuid)`.execute(tx);
}

/** Gaps whose events are no longer kept can not be filled any more. Answers how many there were. */
export async function expireGapsAcrossOrgs(tx: Tx, before: Date, now: Date): Promise<number> {
  const { numAffectedRows } =
    await sql`update gaps set state = 'expired', updated_at = ${now} where state = 'open' and gap_to <= ${before}`.execute(
      tx,
    );
  return Number(numAffectedRows ?? 0);
}

const columns = sql`id, gap_from as "from", gap_to as "to", reason, filled_to as "filledTo"`;

function listOpen(tx: Tx, { orgId, detectionId }: DetectionRef, asked: Stretch, lock = false): Promise<GapRow[]> {
  return rows(
    tx,
    sql<GapRow>`
      select ${columns} from gaps where organization_id = ${orgId} and detection_id = ${detectionId} and state = 'open'
        and gap_from < ${asked.to} and gap_to > ${asked.from} order by gap_from ${lock ? sql`for update` : sql``}`,
  );
}

function listFilling(tx: Tx, { orgId, detectionId }: DetectionRef, runId: string | null): Promise<GapRow[]> {
  return rows(
    tx,
    sql<GapRow>`
      select ${columns} from gaps where organization_id = ${orgId} and detection_id = ${detectionId} and state = 'filling'
        and (${runId}::uuid is null or run_id = ${runId}::uuid) order by gap_from for update`,
  );
}

function partOf(gap: Stretch, asked: Stretch, cut: Cut): Stretch | undefined {
  const slot = lastSlot(cronOf(cut.cron), new Date(asked.from.getTime() + cut.delayMs));
  const before = slot ? new Date(slot.getTime() - cut.delayMs) : gap.from;
  const from = before > gap.from ? before : gap.from;
  // One more than a backfill takes, so that a stretch that is too long is seen to be.
  const windows = cutWindows({ from, to: gap.to }, cut, backfillWindowsMax + 1);
  const within = windows.filter((window) => window.to > asked.from && window.from < asked.to);
  const [first, last] = [within[0], within.at(-1)];
  return first && last && { from: first.from, to: last.to };
}

async function insertPart(
  tx: Tx,
  { orgId, detectionId }: DetectionRef,
  part: Stretch & { reason: string },
  { state, now }: { state: 'open' | 'filled'; now: Date },
): Promise<void> {
  if (part.from >= part.to) return;
  await sql`insert into gaps (organization_id, id, detection_id, gap_from, gap_to, reason, state, created_at, updated_at)
    values (${orgId}, ${uuidv7(now)}, ${detectionId}, ${part.from}, ${part.to}, ${part.reason}, ${state}, ${now}, ${now})`.execute(
    tx,
  );
}
