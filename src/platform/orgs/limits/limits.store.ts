import { sql } from 'kysely';
import { queryRow, type Tx } from '../../db/db.ts';
import { lockName } from '../../db/lock-name.store.ts';
import type { OrgId } from '../../lib/org-id.ts';
import { quotaNames, type QuotaName, type Quotas } from './limits.schema.ts';

/** The column of a quota. */
const columnOf = (name: QuotaName) => sql.ref(name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

const columns = sql.join(quotaNames.map((name) => sql`l.${columnOf(name)} as ${sql.ref(name)}`));

export type QuotasRow = Quotas & { updatedAt: Date | null };

/** Returns the quotas of an organization, each null if it is not set. */
export async function readQuotas(tx: Tx, orgId: OrgId): Promise<QuotasRow> {
  const row = await queryRow<QuotasRow>(tx)`
    select ${columns}, l.updated_at as "updatedAt" from (select) one left join organization_limits l on l.organization_id = ${orgId}`;
  return row!;
}

/** Returns one quota, or null if it is not set. */
export async function readQuota(tx: Tx, orgId: OrgId, name: QuotaName): Promise<number | null> {
  const row = await queryRow<{ value: number | null }>(
    tx,
  )`select ${columnOf(name)} as value from organization_limits where organization_id = ${orgId}`;
  return row?.value ?? null;
}

/** Replaces the quotas of an organization. Moves `updated_at` strictly forward. */
export async function storeQuotasAcrossOrgs(tx: Tx, orgId: OrgId, quotas: Quotas): Promise<void> {
  const names = sql.join(quotaNames.map(columnOf));
  const values = sql.join(quotaNames.map((name) => sql`${quotas[name]}`));
  const assignments = sql.join(quotaNames.map((name) => sql`${columnOf(name)} = excluded.${columnOf(name)}`));
  await sql`
    insert into organization_limits as l (organization_id, ${names}, updated_at) values (${orgId}, ${values}, date_trunc('milliseconds', clock_timestamp()))
    on conflict (organization_id) do update set ${assignments}, updated_at = greatest(excluded.updated_at, l.updated_at + interval '1 millisecond'), checked_at = null`.execute(
    tx,
  );
}

/** Serializes what counts towards a quota of an organization until the transaction ends. */
export async function lockQuota(tx: Tx, orgId: OrgId, name: QuotaName): Promise<void> {
  await lockName(tx, `quota ${orgId} ${name}`);
}
