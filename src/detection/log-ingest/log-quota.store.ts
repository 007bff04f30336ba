import { sql } from 'kysely';
import { queryRow, type Tx } from '../../platform/db/db.ts';
import type { AppError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { QuotaName } from '../../platform/orgs/limits/limits.schema.ts';
import { quotaExceeded } from '../../platform/orgs/limits/quotas.ts';

const dayMs = 86_400_000;
/** Retention frees space at any hour. */
const storedRetryMs = 3_600_000;

type UsedLogs = {
  eventsMax: number | null;
  bytesMax: number | null;
  storedMax: number | null;
  events: number;
  bytes: number;
  isFull: boolean;
};

/**
 * Throws `quota_exceeded` (429) if the organization has used up a quota of logs. Batches that are published at the same time do not see each
 * other, so that each may exceed the quota once. The size of the stored files is as of the last check of the quotas, a minute ago at most.
 */
export async function requireLogQuota(tx: Tx, orgId: OrgId, now: Date): Promise<void> {
  const day = now.toISOString().slice(0, 10);
  const used = await queryRow<UsedLogs>(tx)`
    select l.log_events_per_day as "eventsMax", l.log_bytes_per_day as "bytesMax", l.log_bytes_stored as "storedMax", d.events, d.bytes,
      exists (select from quota_alarms where organization_id = ${orgId} and quota = 'logBytesStored' and level = 'reached') as "isFull"
    from organization_limits l,
      (select coalesce(sum(events), 0) as events, coalesce(sum(bytes), 0) as bytes from dataset_days
       where organization_id = ${orgId} and day = ${day}::date) d
    where l.organization_id = ${orgId}`;
  if (!used) return;
  const { eventsMax, bytesMax, storedMax, events, bytes, isFull } = used;
  const resetsAt = new Date(Date.parse(day) + dayMs);
  const refuse = (name: QuotaName, limit: number, spent: number, unit: string): AppError =>
    quotaExceeded(
      { name, limit, used: spent, resetsAt },
      {
        now,
        detail: `The organization has used its quota of ${limit} ${unit} per day. It is free again at 00:00 UTC.`,
      },
    );
  if (eventsMax !== null && events >= eventsMax) throw refuse('logEventsPerDay', eventsMax, events, 'log events');
  if (bytesMax !== null && bytes >= bytesMax) throw refuse('logBytesPerDay', bytesMax, bytes, 'bytes of log events');
  if (storedMax !== null && isFull)
    throw quotaExceeded(
      { name: 'logBytesStored', limit: storedMax, used: storedMax, resetsAt: null },
      {
        now,
        detail: `The log files of the organization have reached its quota of ${storedMax} bytes.`,
        retryAfterMs: storedRetryMs,
      },
    );
}

/** Deletes the daily counts of events before a time. */
export async function deleteOldDaysAcrossOrgs(tx: Tx, before: Date): Promise<void> {
  await sql`delete from dataset_days where day < ${before}::timestamptz::date`.execute(tx);
}
