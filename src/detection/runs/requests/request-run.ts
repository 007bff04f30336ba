import { sql } from 'kysely';
import { inOrg, row, type Tx } from '../../../platform/db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import { lastSlot } from '../../../platform/lib/cron/cron.ts';
import { cronOf } from '../../../platform/lib/cron/cron-intervals.ts';
import { findDetectionState } from '../read-runs.store.ts';
import type { RunRequest, RunStarted } from '../runs.schema.ts';

const hourMs = 3_600_000;

type Window = { from: Date; to: Date };

/**
 * Queues a run by hand: over the window given, on event time, else over the last full slot window (without a schedule the
 * last full hour). 409 `in_progress` while another one of the detection waits or runs.
 */
export async function requestRun(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  caller: Caller,
  detectionId: string,
  input: RunRequest,
): Promise<RunStarted> {
  const given = givenWindow(input);
  const now = clock();
  const runId = uuidv7(now);
  await inOrg(db, caller.orgId, async (tx) => {
    const detection = await findDetectionState(tx, caller.orgId, detectionId, true);
    if (!detection) throw appError('not_found', `Detection ${detectionId} not found.`);
    if (detection.deleted) throw appError('conflict', `Detection ${detectionId} is deleted; restore it first.`);
    if (detection.suggestion) throw appError('conflict', `Detection ${detectionId} is a suggestion; accept it first.`);
    const window = given ?? (await lastWindow(tx, caller, detectionId, now));
    if (!(await insertRun(tx, caller, { detectionId, runId, now, window, input, onEventTime: given !== undefined }))) {
      throw appError('in_progress', `A run of detection ${detectionId} that was asked for by hand is still going on.`);
    }
    const after = { runId, from: window.from, to: window.to };
    await insertAudit(tx, caller, {
      action: 'run.requested',
      resourceType: 'detection',
      resourceId: detectionId,
      before: null,
      after,
    });
  });
  return { runId };
}

function givenWindow({ from, to }: RunRequest): Window | undefined {
  if (from === undefined && to === undefined) return undefined;
  if (from === undefined) throw fieldError('/from', 'required', 'from is needed where to is given.');
  if (to === undefined) throw fieldError('/to', 'required', 'to is needed where from is given.');
  const window = { from: new Date(from), to: new Date(to) };
  if (window.from >= window.to) throw fieldError('/to', 'out_of_range', 'to must be later than from.');
  return window;
}

async function lastWindow(tx: Tx, { orgId }: Caller, detectionId: string, now: Date): Promise<Window> {
  const schedule = await row(
    tx,
    sql<{ cron: string; delay_ms: number }>`
      select cron, delay_ms from schedules where organization_id = ${orgId} and detection_id = ${detectionId} and cron is not null`,
  );
  const cron = schedule && cronOf(schedule.cron);
  const last = cron && lastSlot(cron, now);
  const previous = last && lastSlot(cron, new Date(last.getTime() - 1));
  if (!schedule || !last || !previous) {
    const hour = Math.floor(now.getTime() / hourMs) * hourMs;
    return { from: new Date(hour - hourMs), to: new Date(hour) };
  }
  return { from: new Date(previous.getTime() - schedule.delay_ms), to: new Date(last.getTime() - schedule.delay_ms) };
}

type NewRun = {
  detectionId: string;
  runId: string;
  now: Date;
  window: Window;
  input: RunRequest;
  onEventTime: boolean;
};

async function insertRun(tx: Tx, { orgId, keyId }: Caller, run: NewRun): Promise<boolean> {
  const { detectionId, runId, now, window, input } = run;
  const instructions = input.customInstructions ?? null;
  const made = await row(
    tx,
    sql`
      with lane as (
        insert into lanes (organization_id, kind) values (${orgId}, 'manual') on conflict do nothing
      ), queued as (
        insert into run_queue (organization_id, run_id, detection_id, kind, due_at, start_at, connection_id)
        select ${orgId}::uuid, ${runId}::uuid, ${detectionId}::uuid, 'manual', ${now}::timestamptz, ${now}::timestamptz,
          (select tocsin_connection(a.organization_id, a.connection_id, a.siem_type) from agents a where a.organization_id = ${orgId} and a.id = ${detectionId})
        where not exists (select from run_queue where organization_id = ${orgId} and detection_id = ${detectionId} and kind = 'manual')
        on conflict do nothing
        returning run_id
      )
      insert into runs (organization_id, id, detection_id, due_at, trigger, status, window_from, window_to, on_event_time,
        custom_instructions, requested_by)
      select ${orgId}::uuid, run_id, ${detectionId}::uuid, ${now}::timestamptz, 'manual', 'queued', ${window.from}::timestamptz,
        ${window.to}::timestamptz, ${run.onEventTime}::boolean, ${instructions}::text, ${keyId}::text
      from queued returning id`,
  );
  return made !== undefined;
}
