import { sql, type RawBuilder } from 'kysely';
import { queryRow, type Tx } from '../../db/db.ts';
import { lockName } from '../../db/lock-name.store.ts';
import type { OrgId } from '../../lib/org-id.ts';
import { quotaNames, type QuotaName, type Quotas, type QuotaState } from './limits.schema.ts';

/** The column of a quota. */
const columnOf = (name: QuotaName) => sql.ref(name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));

const columns = sql.join(quotaNames.map((name) => sql`l.${columnOf(name)} as ${sql.ref(name)}`));

type QuotasRow = Quotas & { updatedAt: Date | null };

/** Returns the quotas of an organization, each null if it is not set. */
export async function readQuotas(tx: Tx, orgId: OrgId): Promise<QuotasRow> {
  const row = await queryRow<QuotasRow>(tx)`
    select ${columns}, l.updated_at as "updatedAt" from (select) one left join organization_limits l on l.organization_id = ${orgId}`;
  return row!;
}

/** Returns one quota, or null if it is not set. */
export async function readQuota(tx: Tx, orgId: OrgId, name: QuotaName): Promise<number | null> {
  const row = await queryRow<{ value: number | null }>(tx)`
    select ${columnOf(name)} as value from organization_limits where organization_id = ${orgId}`;
  return row?.value ?? null;
}

/** Returns how much of one quota is used, or null if it is not set. `now` is slot time. The transaction must be that of the organization. */
export async function readQuotaState(
  tx: Tx,
  orgId: OrgId,
  { name, now }: { name: WatchedQuota; now: Date },
): Promise<QuotaState | null> {
  const limit = await readQuota(tx, orgId, name);
  if (limit === null) return null;
  const row = await queryRow<{ used: number }>(tx)`select ${used[name](now.toISOString().slice(0, 10))} as used`;
  return toState(name, limit, row!.used, now);
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

type WatchedQuota = Exclude<QuotaName, 'requestsPerMinute'>;

const nearingShare = 0.8;
const own = sql`organization_id = tocsin_org()`;
const sumOfDays = (column: string, table: string, since: RawBuilder<unknown>, day: string) => sql<number>`
  (select coalesce(sum(${sql.ref(column)}), 0) from ${sql.table(table)} where ${own} and day >= ${since} and day <= ${day}::date)`;

/** The amount that counts towards a quota on a day. */
const used: Record<WatchedQuota, (day: string) => RawBuilder<number>> = {
  enabledDetections: () => sql`(select count(*) from agents
    where ${own} and agent_type = 'detection' and enabled and not is_suggestion and deleted_at is null)`,
  logEventsPerDay: (day) => sumOfDays('events', 'dataset_days', sql`${day}::date`, day),
  logBytesPerDay: (day) => sumOfDays('bytes', 'dataset_days', sql`${day}::date`, day),
  logBytesStored: () => sql`(select coalesce(sum(bytes), 0) from segments where ${own} and replaced_at is null)`,
  feedSources: () => sql`(select count(*) from feed_sources where ${own} and deleted_at is null)`,
  feedItems: () => sql`(select coalesce(sum(n), 0) from feed_counts
    where status <> 'retracted' and pool_id in (select id from feed_pools where ${own} and kind = 'private'))`,
  apiKeys: () => sql`(select count(*) from api_keys
    where ${own} and revoked_at is null and (expires_at is null or expires_at > now()))`,
  modelUsdPerDay: (day) => sumOfDays('cost_usd', 'model_usage', sql`${day}::date`, day),
  modelUsdPerMonth: (day) => sumOfDays('cost_usd', 'model_usage', sql`date_trunc('month', ${day}::date)`, day),
  observationBytesPerDay: (day) => sumOfDays('observation_bytes', 'usage_days', sql`${day}::date`, day),
};

/** Returns how much is used of each quota that is set. `now` is slot time. The transaction must be that of the organization. */
export async function listQuotaStates(tx: Tx, orgId: OrgId, now: Date): Promise<QuotaState[]> {
  const quotas = await readQuotas(tx, orgId);
  const names = quotaNames.filter(
    (name): name is WatchedQuota => name !== 'requestsPerMinute' && quotas[name] !== null,
  );
  if (names.length === 0) return [];
  const day = now.toISOString().slice(0, 10);
  const counts = await queryRow<Partial<Record<WatchedQuota, number>>>(tx)`
    select ${sql.join(names.map((name) => sql`${used[name](day)} as ${sql.ref(name)}`))}`;
  return names.map((name) => toState(name, quotas[name]!, counts![name]!, now));
}

function toState(quota: WatchedQuota, limit: number, count: number, now: Date): QuotaState {
  const share = limit === 0 ? 1 : count / limit;
  const level = share >= 1 ? 'reached' : share >= nearingShare ? 'nearing' : 'free';
  return { quota, limit, used: count, share, level, resetsAt: findReset(quota, now)?.toISOString() ?? null };
}

function findReset(quota: WatchedQuota, now: Date): Date | null {
  const [year, month, date] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  if (quota.endsWith('PerDay')) return new Date(Date.UTC(year, month, date + 1));
  return quota.endsWith('PerMonth') ? new Date(Date.UTC(year, month + 1, 1)) : null;
}
