import { sql } from 'kysely';
import { lockName, shareName } from '../../../platform/db/lock-name.store.ts';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import { belongsTo, type Expiry } from '../../../platform/retention/organization-retention.store.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { RenderedRow } from '../../analysis/candidate.ts';
import { withdrawHits } from '../../hits/set-status.ts';

const lockOf = (orgId: OrgId): string => `withdrawn events ${orgId}`;

/** Returns the ID of the event of a row. Rows with one ID and different contents have a suffix. */
const eventIdOf = ({ rowId }: Pick<RenderedRow, 'rowId'>): string => rowId.split('~')[0]!;

/** Returns those of the IDs whose events were withdrawn. */
export async function listWithdrawnEvents(tx: Tx, orgId: OrgId, eventIds: readonly string[]): Promise<Set<string>> {
  const rows = await queryRows<{ id: string }>(tx)`
    select event_id as id from withdrawn_events where organization_id = ${orgId} and event_id = any(${eventIds}::text[])`;
  return new Set(rows.map(({ id }) => id));
}

/**
 * Returns a function that says of candidates whether all of their events were withdrawn. It stays right until the transaction ends: a withdrawal
 * waits for it, and then finds the candidates that the transaction stored.
 */
export async function findWithdrawn(
  tx: Tx,
  orgId: OrgId,
  candidates: readonly { rows: readonly RenderedRow[] }[],
): Promise<(candidate: { rows: readonly RenderedRow[] }) => boolean> {
  if (candidates.length === 0) return () => false;
  await shareName(tx, lockOf(orgId));
  const withdrawn = await listWithdrawnEvents(
    tx,
    orgId,
    candidates.flatMap(({ rows }) => rows.map(eventIdOf)),
  );
  return ({ rows }) => rows.length > 0 && rows.every((row) => withdrawn.has(eventIdOf(row)));
}

/**
 * Withdraws events: candidates of them that wait for a judge or a person become `outdated`, as do those that are found later, and so do their open
 * hits. Hits that people have judged keep their status. The history of all of these hits has the reason.
 */
export async function withdrawEvents(
  tx: Tx,
  orgId: OrgId,
  { eventIds, reason, now }: { eventIds: readonly string[]; reason: string; now: Date },
): Promise<void> {
  if (eventIds.length === 0) return;
  await lockName(tx, lockOf(orgId));
  await sql`
    insert into withdrawn_events (organization_id, event_id, withdrawn_at)
    select ${orgId}::uuid, id, ${now}::timestamptz
      from unnest(${eventIds}::text[]) as e (id) on conflict do nothing`.execute(tx);
  const eventId = sql`split_part(r ->> 'rowId', '~', 1)`;
  // Before the hits: a candidate that is becoming a hit is locked, so that its hit is found afterwards.
  await sql`
    update candidates set state = 'outdated' where organization_id = ${orgId} and id in (
      select c.id from candidates c where c.organization_id = ${orgId} and c.state in ('pending', 'review')
        and exists (select from json_array_elements(c.rows::json) r where ${eventId} = any(${eventIds}::text[]))
        and not exists (select from json_array_elements(c.rows::json) r where not exists (
          select from withdrawn_events w where w.organization_id = ${orgId} and w.event_id = ${eventId}))
      order by c.id for update)`.execute(tx);
  await withdrawHits(tx, orgId, { values: eventIds, reason, now });
}

/** Deletes at most `limit` withdrawals from before a time, whose hits are deleted as well. Returns their number. */
export async function deleteOldWithdrawalsAcrossOrgs(tx: Tx, expiry: Expiry, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from withdrawn_events where (organization_id, event_id) in (
      select organization_id, event_id from withdrawn_events
        where withdrawn_at < ${expiry.before} and ${belongsTo(expiry)} limit ${limit})`.execute(tx);
  return Number(numAffectedRows ?? 0);
}
