import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { lockName } from '../../platform/db/lock-name.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { belongsTo, type Expiry } from '../../platform/retention/organization-retention.store.ts';

export type SegmentRow = {
  id: string;
  dataset: string;
  path: string;
  format: 'text' | 'typed';
  history: boolean;
  columns: number;
  /** JSON of the number of values that did not fit their column, by column. */
  drift: string | null;
  ingestedFrom: Date;
  rows: number;
  bytes: number;
  /** SHA-256 of the file in hexadecimal, if it is in object storage. */
  sha256: string | null;
};

/** A segment with the bounds of the times in it. */
export type BoundedSegment = SegmentRow & { ingestedTo: Date; timeFrom: Date; timeTo: Date };

/** Selects segments by the bounds of their events' times. All times are slot time. Bounds on the ingest time do not apply to events loaded as history. */
export type SegmentFilter =
  | { kind: 'ingested'; from: Date; to: Date }
  | { kind: 'ingested-before'; before: Date }
  | { kind: 'event'; from: Date; to: Date; ingestedBefore: Date }
  | { kind: 'event-before'; before: Date; ingestedBefore: Date }
  /** Slot time, see `QueryWindow`. Without `from`, all before `to`. With `lateSince`, without history. */
  | { kind: 'slot'; from?: Date; to: Date; ingestedBefore: Date; lateSince?: Date; earlierApart?: boolean };

/** Selects segments with an event that arrived within a window and more than `lagMsMin` after its own time. */
type LateFilter = { kind: 'late'; from: Date; to: Date; lagMsMin: number };

/** Returns the segments of these datasets that may contain matching rows, ordered by dataset and then oldest first. */
export async function listSegments(
  tx: Tx,
  orgId: OrgId,
  datasets: string[],
  filter: SegmentFilter,
): Promise<BoundedSegment[]> {
  return queryRows<BoundedSegment>(tx)`
      select id, dataset, path, format, history, columns, drift, rows, bytes, sha256, ingested_from as "ingestedFrom",
        ingested_to as "ingestedTo", time_from as "timeFrom", time_to as "timeTo" from segments
      where organization_id = ${orgId} and dataset = any(${datasets}::text[]) and replaced_at is null and ${filterSql(filter)}
      order by dataset, ingested_from, id`;
}

/** Returns whether these datasets have a segment that may contain matching rows. */
export async function hasSegments(
  tx: Tx,
  orgId: OrgId,
  datasets: string[],
  filter: SegmentFilter | LateFilter,
): Promise<boolean> {
  const row = await queryRow<{ one: number }>(tx)`select 1 as one from segments
      where organization_id = ${orgId} and dataset = any(${datasets}::text[]) and replaced_at is null and ${filterSql(filter)} limit 1`;
  return row !== undefined;
}

/** Returns the earliest time, of arrival or of an event, in the segments of these datasets that arrived before a time, or null. */
export async function findFirstTime(tx: Tx, orgId: OrgId, datasets: string[], before: Date): Promise<Date | null> {
  const row = await queryRow<{ at: Date | null }>(tx)`select min(least(ingested_from, time_from)) as at from segments
      where organization_id = ${orgId} and dataset = any(${datasets}::text[]) and replaced_at is null
        and (history or ingested_from < ${before})`;
  return row?.at ?? null;
}

/** Returns the time of the oldest event of these datasets, or null. Considers only history and segments whose first event was ingested before `ingestedBefore`. */
export async function findFirstEventAt(
  tx: Tx,
  orgId: OrgId,
  datasets: string[],
  ingestedBefore: Date,
): Promise<Date | null> {
  const row = await queryRow<{ at: Date | null }>(tx)`select min(time_from) as at from segments
      where organization_id = ${orgId} and dataset = any(${datasets}::text[]) and replaced_at is null
        and (history or ingested_from < ${ingestedBefore})`;
  return row?.at ?? null;
}

function filterSql(filter: SegmentFilter | LateFilter): ReturnType<typeof sql> {
  switch (filter.kind) {
    case 'ingested':
      return sql`not history and ingested_to >= ${filter.from} and ingested_from < ${filter.to}`;
    case 'ingested-before':
      return sql`((not history and ingested_from < ${filter.before}) or (history and time_from < ${filter.before}))`;
    case 'event':
      return sql`time_to >= ${filter.from} and time_from < ${filter.to} and (history or ingested_from < ${filter.ingestedBefore})`;
    case 'late':
      return sql`not history and ingested_to >= ${filter.from} and ingested_from < ${filter.to}
        and time_from < ingested_to - make_interval(secs => ${filter.lagMsMin / 1000})`;
    case 'slot': {
      const { from, to, ingestedBefore, lateSince } = filter;
      const arrived = sql`(history or ingested_from < ${ingestedBefore})`;
      if (from === undefined) return sql`${arrived} and (ingested_from < ${to} or time_from < ${to})`;
      // History is not part of the windows of runs, but of what lies before them.
      return sql`${arrived} and ${lateSince === undefined ? sql`true` : sql`not history`}
        and ((ingested_to >= ${from} and ingested_from < ${to}) or (time_to >= ${from} and time_from < ${to}))`;
    }
    case 'event-before':
      return sql`time_from < ${filter.before} and (history or ingested_from < ${filter.ingestedBefore})`;
  }
}

/** `version` is the catalog version. */
export type DatasetState = { name: string; events: number; version: number };

/** Returns the state of these datasets. A dataset that never had an event is missing or has `events` 0. */
export async function findDatasetStates(tx: Tx, orgId: OrgId, names: string[]): Promise<DatasetState[]> {
  return queryRows<DatasetState>(tx)`
      select name, events, catalogue_version as version
      from datasets where organization_id = ${orgId} and name = any(${names}::text[])`;
}

/** A dataset with its segments that may contain matching rows, oldest first. `hasEarlier`: it has a segment that `earlier` selects. */
export type DatasetSegments = DatasetState & { hasEarlier: boolean; segments: BoundedSegment[] };

/** Returns the state of these datasets together with their segments, in one statement. */
export async function listDatasetSegments(
  tx: Tx,
  orgId: OrgId,
  names: readonly string[],
  { filter, earlier }: { filter: SegmentFilter; earlier: SegmentFilter },
): Promise<DatasetSegments[]> {
  const rows = await queryRows<DatasetState & { hasEarlier: boolean } & Nullable<BoundedSegment>>(tx)`
      select d.name, d.events, d.catalogue_version as version, s.*,
        exists (select from segments where organization_id = ${orgId} and dataset = d.name and replaced_at is null and ${filterSql(earlier)}) as "hasEarlier"
      from datasets d left join (
        select id, dataset, path, format, history, columns, drift, rows, bytes, sha256, ingested_from as "ingestedFrom",
          ingested_to as "ingestedTo", time_from as "timeFrom", time_to as "timeTo" from segments
        where organization_id = ${orgId} and dataset = any(${names}::text[]) and replaced_at is null and ${filterSql(filter)}
      ) s on s.dataset = d.name
      where d.organization_id = ${orgId} and d.name = any(${names}::text[])
      order by d.name, s."ingestedFrom", s.id`;
  return [...Map.groupBy(rows, ({ name }) => name).values()].map((own) => {
    const [{ name, events, version, hasEarlier }] = own as [(typeof own)[number]];
    return { name, events, version, hasEarlier, segments: own.filter((row) => row.id !== null) as BoundedSegment[] };
  });
}

type Nullable<Row> = { [Key in keyof Row]: Row[Key] | null };

/** Returns the names of the datasets that have at least one event. */
export async function listDatasetNames(tx: Tx, orgId: OrgId): Promise<string[]> {
  const datasets = await queryRows<{ name: string }>(tx)`
    select name from datasets where organization_id = ${orgId} and events > 0 order by name`;
  return datasets.map(({ name }) => name);
}

export type DatasetRow = {
  name: string;
  events: number;
  version: number;
  first: Date | null;
  last: Date | null;
  ingested: Date | null;
};

/** Returns the datasets that have at least one event, ordered by name. */
export async function listDatasetRows(tx: Tx, orgId: OrgId): Promise<DatasetRow[]> {
  return queryRows<DatasetRow>(tx)`
      select name, events, catalogue_version as version, first_event_at as first, last_event_at as last, last_ingested_at as ingested
      from datasets where organization_id = ${orgId} and events > 0 order by name`;
}

/** Marks segments whose events were all ingested before a time as replaced, so that their files are removed. Returns their number. */
export async function expireSegmentsAcrossOrgs(tx: Tx, expiry: Expiry): Promise<number> {
  await sql`delete from log_batches where received_at < ${expiry.before} and ${belongsTo(expiry)}`.execute(tx);
  await sql`delete from log_event_ids where received_at < now() - interval '24 hours'`.execute(tx);
  const { numAffectedRows } = await sql`
      update segments set replaced_at = now()
        where replaced_at is null and ingested_to < ${expiry.before} and ${belongsTo(expiry)}`.execute(tx);
  return Number(numAffectedRows ?? 0);
}

type ManifestKey = { orgId: OrgId; dataset: string };

/** Returns up to 500 datasets whose manifest does not list their published files. */
export function listDueManifestsAcrossOrgs(tx: Tx): Promise<ManifestKey[]> {
  return queryRows<ManifestKey>(tx)`
    select organization_id as "orgId", dataset from dataset_manifests where version <> written_version order by 1, 2 limit 500`;
}

/** Waits until no other process writes the manifest, until the transaction ends. Batches and merged files can be published meanwhile. */
export async function lockManifest(tx: Tx, { orgId, dataset }: ManifestKey): Promise<void> {
  await lockName(tx, `manifest ${orgId} ${dataset}`);
}

/** Returns the version of a manifest that has to be written, or undefined. */
export async function findDueVersion(tx: Tx, { orgId, dataset }: ManifestKey): Promise<number | undefined> {
  const row = await queryRow<{ version: number }>(tx)`
    select version from dataset_manifests
    where organization_id = ${orgId} and dataset = ${dataset} and version <> written_version`;
  return row?.version;
}

export async function setWrittenVersion(tx: Tx, { orgId, dataset }: ManifestKey, version: number): Promise<void> {
  await sql`
    update dataset_manifests set written_version = ${version}
      where organization_id = ${orgId} and dataset = ${dataset}`.execute(tx);
}

/** A published file with its columns' number, size and bounds. */
export type PublishedFile = {
  path: string;
  history: boolean;
  columns: number;
  rows: number;
  bytes: number;
  sha256: string | null;
  ingestedFrom: Date;
  ingestedTo: Date;
  timeFrom: Date;
  timeTo: Date;
};

/** Returns the published files of a dataset, oldest first. */
export function listPublishedFiles(tx: Tx, { orgId, dataset }: ManifestKey): Promise<PublishedFile[]> {
  return queryRows<PublishedFile>(tx)`
    select path, history, columns, rows, bytes, sha256, ingested_from as "ingestedFrom", ingested_to as "ingestedTo", time_from as "timeFrom",
      time_to as "timeTo" from segments
    where organization_id = ${orgId} and dataset = ${dataset} and replaced_at is null and published order by ingested_from, id`;
}
