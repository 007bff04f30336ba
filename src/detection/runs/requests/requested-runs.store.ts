import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import type { Author } from '../../../platform/http/caller.ts';
import { insertQueueEntries } from '../../scheduling/queue/run-queue.store.ts';
import type { TimeRange } from '../../scheduling/slot-windows.ts';

/** A run that no slot started. `window` spans all of its windows. `onEventTime`: the request specified the window, on event time. */
export type RequestedRun = {
  detectionId: string;
  runId: string;
  kind: 'manual' | 'backfill';
  now: Date;
  window: TimeRange;
  onEventTime?: boolean;
  customInstructions?: string | undefined;
};

/** Stores and queues a run. Returns false if a run of the same kind and detection is queued or running. */
export async function insertRequestedRun(
  tx: Tx,
  { orgId, keyId, subject }: Author,
  run: RequestedRun,
): Promise<boolean> {
  const { detectionId, runId, kind, now, window } = run;
  const agent = await queryRow<{ connectionId: string | null }>(tx)`
      select tocsin_connection(organization_id, connection_id, siem_type) as "connectionId" from agents
      where organization_id = ${orgId} and id = ${detectionId}`;
  const entry = { orgId, runId, detectionId, dueAt: now, startAt: now, connectionId: agent?.connectionId ?? null };
  const queued = await insertQueueEntries(tx, kind, [entry]);
  if (!queued.has(runId)) return false;
  await sql`
    insert into runs (organization_id, id, detection_id, due_at, trigger, status, window_from, window_to, on_event_time,
      custom_instructions, key_id, actor)
    values (${orgId}, ${runId}, ${detectionId}, ${now}, ${kind}, 'queued', ${window.from}, ${window.to}, ${run.onEventTime ?? false},
      ${run.customInstructions ?? null}, ${keyId}, ${subject ?? null})`.execute(tx);
  return true;
}
