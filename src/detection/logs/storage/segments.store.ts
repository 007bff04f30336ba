import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';

export type SegmentRow = {
  id: string;
  dataset: string;
  path: string;
  format: 'text' | 'parquet';
  history: boolean;
  columns: number;
  ingestedFrom: Date;
  rows: number;
  bytes: number;
};

/** Which segments a query needs, by what their bounds say. All times are slot time. */
export type SegmentFilter =
  | { kind: 'ingested'; from: Date; to: Date }
  | { kind: 'ingested-before'; before: Date }
  | { kind: 'event'; from: Date; to: Date; ingestedBefore: Date }
  | { kind: 'event-before'; before: Date; ingestedBefore: Date };

/** Listed segments of these datasets that may hold a row within the filter, oldest first. */
export async function listSegments(
  tx: Tx,
  orgId: OrgId,
  datasets: string[],
  filter: SegmentFilter,
): Promise<SegmentRow[]> {
  return queryRows<SegmentRow>(
    tx,
    sql<SegmentRow>`
      select id, dataset, path, format, history, columns, ingested_from as "ingestedFrom", rows, bytes from segments
      where organization_id = ${orgId} and dataset = any(${datasets}::text[]) and replaced_at is null and ${boundsOf(filter)}
      order by dataset, ingested_from, id`,
  );
}

/** Whether these datasets have a listed segment that may hold a row within the filter. */
export async function hasSegments(tx: Tx, orgId: OrgId, datasets: string[], filter: SegmentFilter): Promise<boolean> {
  const found = await queryRow(
    tx,
    sql<{ one: number }>`select 1 as one from segments
      where organization_id = ${orgId} and dataset = any(${datasets}::text[]) and replaced_at is null and ${boundsOf(filter)} limit 1`,
  );
  return found !== undefined;
}

/** The time of the oldest event of these datasets, of segments that begin before `ingestedBefore`; null where there is none. */
export async function findFirstEventAt(
  tx: Tx,
  orgId: OrgId,
  datasets: string[],
  ingestedBefore: Date,
): Promise<Date | null> {
  const found = await queryRow(
    tx,
    sql<{ at: Date | null }>`select min(time_from) as at from segments
      where organization_id = ${orgId} and dataset = any(${datasets}::text[]) and replaced_at is null
        and ingested_from < ${ingestedBefore}`,
  );
  return found?.at ?? null;
}

function boundsOf(filter: SegmentFilter): ReturnType<typeof sql> {
  switch (filter.kind) {
    case 'ingested':
      return sql`not history and ingested_to >= ${filter.from} and ingested_from < ${filter.to}`;
    case 'ingested-before':
      return sql`((not history and ingested_from < ${filter.before}) or (history and time_from < ${filter.before}))`;
    case 'event':
      return sql`time_to >= ${filter.from} and time_from < ${filter.to} and ingested_from < ${filter.ingestedBefore}`;
    case 'event-before':
      return sql`time_from < ${filter.before} and ingested_from < ${filter.ingestedBefore}`;
  }
}

export type DatasetState = { name: string; events: number; version: number };

/** What is known of these datasets; those that no one sent are missing or have no events. */
export async function findDatasetStates(tx: Tx, orgId: OrgId, names: string[]): Promise<DatasetState[]> {
  return queryRows<DatasetState>(
    tx,
    sql<DatasetState>`
      select name, events, catalogue_version as version
      from datasets where organization_id = ${orgId} and name = any(${names}::text[])`,
  );
}

/** Names of datasets that have an event. */
export async function listDatasetNames(tx: Tx, orgId: OrgId): Promise<string[]> {
  const found = await queryRows<{ name: string }>(
    tx,
    sql<{ name: string }>`select name from datasets where organization_id = ${orgId} and events > 0 order by name`,
  );
  return found.map(({ name }) => name);
}
