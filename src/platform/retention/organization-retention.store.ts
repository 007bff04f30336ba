import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../db/db.ts';
import { lockName } from '../db/lock-name.store.ts';
import type { OrgId } from '../lib/org-id.ts';
import { retentionKinds, type RetentionChoice, type RetentionKind } from './retention.schema.ts';

/** The operator's maximum and the organization's choice (`own`), in days. */
export type RetentionRow = { maximum: RetentionChoice; own: RetentionChoice; updatedAt: Date | null };

type RetentionColumns = Record<RetentionKind | `${RetentionKind}Max`, number | null> & { updatedAt: Date | null };

const columnOf = (kind: RetentionKind, suffix = ''): string => `${kind.replace('Days', '_days')}${suffix}`;

/** Returns the retention of an organization, null where nothing is set. */
export async function readRetention(tx: Tx, orgId: OrgId): Promise<RetentionRow> {
  const columns = retentionKinds.flatMap((kind) => [
    sql`${sql.ref(columnOf(kind))} as ${sql.ref(kind)}`,
    sql`${sql.ref(columnOf(kind, '_max'))} as ${sql.ref(`${kind}Max`)}`,
  ]);
  const row = await queryRow<RetentionColumns>(tx)`
    select ${sql.join(columns)}, updated_at as "updatedAt" from organization_retention where organization_id = ${orgId}`;
  const pick = (suffix: '' | 'Max'): RetentionChoice =>
    Object.fromEntries(retentionKinds.map((kind) => [kind, row?.[`${kind}${suffix}`] ?? null])) as RetentionChoice;
  return { maximum: pick('Max'), own: pick(''), updatedAt: row?.updatedAt ?? null };
}

/** Serializes changes of an organization's retention until the transaction ends, also of one that does not exist yet. */
export const lockRetention = (tx: Tx, orgId: OrgId): Promise<void> => lockName(tx, `retention ${orgId}`);

/** Stores the maxima or the choice of an organization. Moves `updated_at` strictly forward. */
export async function storeRetention(
  tx: Tx,
  orgId: OrgId,
  { part, days }: { part: 'maximum' | 'own'; days: RetentionChoice },
): Promise<void> {
  const columns = retentionKinds.map((kind) => sql.ref(columnOf(kind, part === 'maximum' ? '_max' : '')));
  await sql`
    insert into organization_retention as r (organization_id, ${sql.join(columns)}, updated_at)
    values (${orgId}, ${sql.join(retentionKinds.map((kind) => sql`${days[kind]}`))}, date_trunc('milliseconds', clock_timestamp()))
    on conflict (organization_id) do update set ${sql.join(columns.map((column) => sql`${column} = excluded.${column}`))},
      updated_at = greatest(excluded.updated_at, r.updated_at + interval '1 millisecond')`.execute(tx);
}

const dayMs = 86_400_000;

/** Returns what has expired at `now`: of each organization whose period is not the `days` of the service, and of all others. */
export async function listExpiriesAcrossOrgs(
  tx: Tx,
  kind: RetentionKind,
  { days, now }: { days: number; now: Date },
): Promise<Expiry[]> {
  const maximum = sql`coalesce(${sql.ref(columnOf(kind, '_max'))}, ${days})`;
  const groups = await queryRows<{ days: number; ids: string[] }>(tx)`
    select days, array_agg(organization_id) as ids from
      (select organization_id, least(${sql.ref(columnOf(kind))}, ${maximum}) as days from organization_retention) r
    where days <> ${days} group by days order by days`;
  const before = (period: number): Date => new Date(now.getTime() - period * dayMs);
  return [
    { before: before(days), only: null, except: groups.flatMap(({ ids }) => ids) },
    ...groups.map((group): Expiry => ({ before: before(group.days), only: group.ids, except: [] })),
  ];
}

/** The expired rows: those before a time, of the organizations `only`, or of all but `except`. */
export type Expiry = { before: Date; only: readonly string[] | null; except: readonly string[] };

/** Condition that a row belongs to an organization of an expiry. */
export const belongsTo = ({ only, except }: Expiry): RawBuilder<boolean> =>
  only ? sql`organization_id = any(${only}::uuid[])` : sql`organization_id <> all(${except}::uuid[])`;
