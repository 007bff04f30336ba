import { sql } from 'kysely';
import { row, type Tx } from '../../../platform/db/db.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';

/** Places that backfills of one organization have at once. */
const backfillsAtOnce = 2;

export type NewBackfill = { detectionId: string; runId: string; now: Date; windows: { from: Date; to: Date }[] };

/** Queues a backfill in its own lane. False: one of the detection waits or runs. */
export async function insertBackfillRun(
  tx: Tx,
  { orgId, keyId }: Pick<Caller, 'orgId' | 'keyId'>,
  run: NewBackfill,
): Promise<boolean> {
  const { detectionId, runId, now, windows } = run;
  const made = await row(
    tx,
    sql`
      with lane as (
        insert into lanes (organization_id, kind, cap) values (${orgId}, 'backfill', ${backfillsAtOnce}) on conflict do nothing
      ), queued as (
        insert into run_queue (organization_id, run_id, detection_id, kind, due_at, start_at, connection_id)
        select ${orgId}::uuid, ${runId}::uuid, ${detectionId}::uuid, 'backfill', ${now}::timestamptz, ${now}::timestamptz,
          (select tocsin_connection(a.organization_id, a.connection_id, a.siem_type) from agents a where a.organization_id = ${orgId} and a.id = ${detectionId})
        where not exists (select from run_queue where organization_id = ${orgId} and detection_id = ${detectionId} and kind = 'backfill')
        on conflict do nothing
        returning run_id
      )
      insert into runs (organization_id, id, detection_id, due_at, trigger, status, window_from, window_to, requested_by)
      select ${orgId}::uuid, run_id, ${detectionId}::uuid, ${now}::timestamptz, 'backfill', 'queued', ${windows[0]?.from ?? null}::timestamptz,
        ${windows.at(-1)?.to ?? null}::timestamptz, ${keyId}::text
      from queued returning id`,
  );
  return made !== undefined;
}
