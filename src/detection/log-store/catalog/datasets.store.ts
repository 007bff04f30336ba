import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import { appError } from '../../../platform/lib/errors.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';

const datasetsMax = 1000;

type DatasetLock = { last: Date | null; sealed: Date | null; version: number; hasQuota: boolean };

/** Locks the row of a dataset, which is created if it does not exist, until the transaction ends. */
export async function lockDataset(
  tx: Tx,
  orgId: OrgId,
  { dataset, now }: { dataset: string; now: Date },
): Promise<DatasetLock> {
  const find = (): Promise<DatasetLock | undefined> =>
    queryRow<DatasetLock>(
      tx,
      sql<DatasetLock>`
        select last_ingested_at as last, sealed_until as sealed, catalogue_version as version, ${hasLogQuota(orgId)} as "hasQuota" from datasets
        where organization_id = ${orgId} and name = ${dataset} for update`,
    );
  const existing = await find();
  if (existing) return existing;
  await sql`
    insert into datasets (organization_id, name, created_at)
    select ${orgId}, ${dataset}, ${now} where (select count(*) from datasets where organization_id = ${orgId}) < ${datasetsMax}
    on conflict do nothing`.execute(tx);
  const inserted = await find();
  if (!inserted)
    throw appError('conflict', `The organization already has ${datasetsMax} datasets, which is the maximum.`);
  return inserted;
}

/** Condition that an organization has a quota of logs. */
const hasLogQuota = (orgId: OrgId) => sql<boolean>`exists (
  select from organization_limits where organization_id = ${orgId} and coalesce(log_events_per_day, log_bytes_per_day, log_bytes_stored) is not null)`;

/**
 * Seals datasets until a time: everything published later gets an `_ingested` time at or after it. Waits for batches that are being
 * published. Commit this transaction before listing the segments of a window. Creates datasets that have no events yet, so that they are
 * sealed too. Leaves datasets alone that are already sealed that far, because the transaction that sealed them has waited.
 */
export async function sealDatasets(tx: Tx, orgId: OrgId, datasets: string[], until: Date): Promise<void> {
  await sql`
    insert into datasets (organization_id, name, created_at, sealed_until)
    select ${orgId}, requested.name, ${until}, ${until} from unnest(${datasets.toSorted()}::text[]) as requested (name)
    where not exists (select from datasets d where d.organization_id = ${orgId} and d.name = requested.name and d.sealed_until >= ${until})
    order by requested.name
    on conflict (organization_id, name) do update set sealed_until = excluded.sealed_until
      where datasets.sealed_until is null or datasets.sealed_until < excluded.sealed_until`.execute(tx);
}
