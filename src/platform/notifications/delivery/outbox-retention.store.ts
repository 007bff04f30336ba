import { sql } from 'kysely';
import { acrossOrgs, type Db, type Tx } from '../../db/db.ts';
import { replaceValue } from '../../db/erasure.store.ts';
import type { OrgId } from '../../lib/org-id.ts';

const logDays = 30;
const batchMax = 2000;

/** Deletes event bodies older than `bodyDays` without pending deliveries, and finished deliveries after 30 days. Returns whether there may be more. */
export function cleanOutboxAcrossOrgs(db: Db, bodyDays: number): Promise<boolean> {
  return acrossOrgs(db, async (tx) => {
    const bodies = await sql`
      delete from outbox where (at, id) in (
        select at, id from outbox e where at < clock_timestamp() - ${`${bodyDays} days`}::interval
          and not exists (select from deliveries d where d.organization_id = e.organization_id and d.event_id = e.id and d.state = 'pending')
        limit ${batchMax})`.execute(tx);
    const deliveries = await sql`
      delete from deliveries where (organization_id, id) in (
        select organization_id, id from deliveries
        where created_at < clock_timestamp() - ${`${logDays} days`}::interval and state <> 'pending' limit ${batchMax})`.execute(
      tx,
    );
    return Number(bodies.numAffectedRows ?? 0) === batchMax || Number(deliveries.numAffectedRows ?? 0) === batchMax;
  });
}

/** Replaces a value in stored event bodies. Returns the number of events. */
export async function eraseFromOutbox(tx: Tx, orgId: OrgId, value: string): Promise<{ outbox: number }> {
  return { outbox: await replaceValue(tx, { orgId, table: 'outbox', columns: ['body'] }, value) };
}
