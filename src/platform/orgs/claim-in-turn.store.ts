import { sql } from 'kysely';
import { queryRow, type Tx } from '../db/db.ts';
import { lockName } from '../db/lock-name.store.ts';
import type { OrgId } from '../lib/org-id.ts';
import { isNotSuspended } from './orgs.store.ts';

/** Longer than a fetch may take. */
const claimMs = 3 * 60_000;

/**
 * Claims the row that is to be fetched next: the one that has been due longest, of the organization that has waited longest for one. Rows of an
 * organization are fetched one after another, so that slow addresses and queries delay only its own. Whoever stores the outcome sets `claimed_until`
 * to null. `now` is the time of the service.
 */
export async function claimInTurnAcrossOrgs(
  tx: Tx,
  table: 'value_lists' | 'rule_sources',
  now: Date,
): Promise<{ orgId: OrgId; id: string } | undefined> {
  await lockName(tx, `claims of ${table}`);
  return queryRow<{ orgId: OrgId; id: string }>(tx)`
    with due as (
      select d.organization_id, d.id from ${sql.table(table)} d
      cross join lateral (select max(o.checked_at) as last_at, bool_or(o.claimed_until > ${now}) as is_busy from ${sql.table(table)} o
        where o.organization_id = d.organization_id) turn
      where d.next_check_at <= ${now} and ${isNotSuspended(sql`d.organization_id`)} and turn.is_busy is not true
      order by turn.last_at nulls first, d.next_check_at limit 1
    )
    update ${sql.table(table)} d set claimed_until = ${new Date(now.getTime() + claimMs)} from due
    where d.organization_id = due.organization_id and d.id = due.id
    returning d.organization_id as "orgId", d.id`;
}
