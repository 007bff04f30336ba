import { sql } from 'kysely';
import { queryRow, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { extendCatalog, saveStatistics, lockDataset, type CatalogCache } from '../log-store/catalog/catalog.store.ts';
import type { ObservedField } from '../log-store/catalog/field-observer.ts';
import { serializeDrift, type ColumnDrift } from '../log-store/catalog/merge-catalog.ts';
import type { WrittenFile } from '../log-store/files/segment-file.ts';
import { describeDrift } from '../log-store/catalog/columns.ts';
import { requireLogQuota } from './log-quota.store.ts';

export type NewBatch = {
  id: string;
  dataset: string;
  history: boolean;
  bodyHash: Buffer;
  file: WrittenFile & { sha256: string | null };
  observed: ObservedField[];
  rejected: number;
  /** Slot time. */
  now: Date;
};

/**
 * Publishes a batch whose file is durable, which makes its events visible to queries. The batch gets its `_ingested` time here, under the
 * dataset's row lock: never before the sealed time and strictly after the previous batch, whatever the clock says. If the same body arrived
 * within the last 24 hours, publishes nothing and returns that batch's ID as `duplicateOf`. Throws `quota_exceeded` if a quota of logs is used up.
 */
export async function publishBatch(
  tx: Tx,
  { orgId, logCatalogs }: { orgId: OrgId; logCatalogs: CatalogCache },
  batch: NewBatch,
): Promise<{ ingestedAt: Date; duplicateOf: string | null }> {
  const locked = await lockDataset(tx, orgId, batch);
  const earlier = await queryRow<{ id: string }>(
    tx,
    sql<{ id: string }>`
      select id from log_batches where organization_id = ${orgId} and dataset = ${batch.dataset} and body_hash = ${batch.bodyHash}
        and received_at > now() - interval '24 hours' order by received_at desc limit 1`,
  );
  const ingestedAt = new Date(
    Math.max(batch.now.getTime(), (locked.last?.getTime() ?? 0) + 1, locked.sealed?.getTime() ?? 0),
  );
  if (earlier) return { ingestedAt, duplicateOf: earlier.id };
  if (locked.hasQuota) await requireLogQuota(tx, orgId, batch.now);
  const { dataset, observed } = batch;
  const current = { orgId, dataset, version: locked.version };
  const { stats, drifts } = await extendCatalog(tx, logCatalogs, { ...current, observed, at: ingestedAt });
  await reportDrift(tx, { orgId, dataset, at: ingestedAt }, drifts);
  await saveStatistics(tx, orgId, dataset, stats);
  await insertBatch(tx, orgId, { ...batch, drift: serializeDrift(drifts) }, ingestedAt);
  return { ingestedAt, duplicateOf: null };
}

type ListedBatch = NewBatch & { drift: string | null };

async function insertBatch(tx: Tx, orgId: OrgId, batch: ListedBatch, ingestedAt: Date): Promise<void> {
  const { file } = batch;
  const [from, to] = [new Date(file.timeFromMs), new Date(file.timeToMs)];
  await sql`
    with batch as (
      insert into log_batches (organization_id, id, dataset, body_hash, history, accepted, rejected, received_at)
      values (${orgId}, ${batch.id}, ${batch.dataset}, ${batch.bodyHash}, ${batch.history}, ${file.rows}, ${batch.rejected}, now())
    ), segment as (
      insert into segments (organization_id, id, dataset, path, format, history, ingested_from, ingested_to, time_from, time_to, rows, bytes, sha256, drift, created_at)
      values (${orgId}, ${batch.id}, ${batch.dataset}, ${file.path}, 'text', ${batch.history}, ${ingestedAt}, ${ingestedAt}, ${from}, ${to},
        ${file.rows}, ${file.bytes}, ${file.sha256}, ${batch.drift}, now())
    ), hour as (
      insert into dataset_hours as h (organization_id, dataset, hour, events)
      select ${orgId}, ${batch.dataset}, date_trunc('hour', ${ingestedAt}::timestamptz), ${file.rows} where not ${batch.history}
      on conflict (organization_id, dataset, hour) do update set events = h.events + excluded.events
    ), day as (
      insert into dataset_days as d (organization_id, day, dataset, events, bytes)
      values (${orgId}, ${batch.now.toISOString().slice(0, 10)}::date, ${batch.dataset}, ${file.rows}, ${file.bytes})
      on conflict (organization_id, day, dataset) do update set events = d.events + excluded.events, bytes = d.bytes + excluded.bytes
    )
    update datasets set last_ingested_at = ${ingestedAt}, events = events + ${file.rows},
      first_event_at = least(first_event_at, ${from}), last_event_at = greatest(last_event_at, ${to})
    where organization_id = ${orgId} and name = ${batch.dataset}`.execute(tx);
}

/** Columns that one batch reports. An event that fills its columns with values of other types must not become hundreds of messages. */
const reportedMax = 20;

/**
 * Emits `dataset.drifted` for columns with values that do not fit them, at most once per column and UTC day, and notes the day in the
 * statistics of the column. The caller saves them.
 */
async function reportDrift(
  tx: Tx,
  { orgId, dataset, at }: { orgId: OrgId; dataset: string; at: Date },
  drifts: ColumnDrift[],
): Promise<void> {
  const day = at.toISOString().slice(0, 10);
  const unreported = drifts.filter(({ stats }) => stats.reportedOn !== day).slice(0, reportedMax);
  for (const { stats } of unreported) stats.reportedOn = day;
  await emitEvents(tx, unreported.length > 0 ? [orgId] : [], ['dataset.drifted'], () =>
    unreported.map((drift) => ({
      orgId,
      type: 'dataset.drifted',
      resourceId: dataset,
      revision: at.getTime(),
      data: { organizationId: orgId, dataset, ...describeDrift(dataset, drift), at: at.toISOString() },
    })),
  );
}
