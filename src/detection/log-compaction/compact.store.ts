import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { otherColumns, storedMax } from '../log-store/catalog/merge-catalog.ts';
import { manifestPath } from '../log-store/files/segment-file.ts';
import type { SegmentRow } from '../log-store/segments.store.ts';
import type { FileContent } from './compact.sql.ts';

/**
 * Limits of a merged file. Segments below half of `bytesMax` and `rowsMax` count as small. At least `filesMin` small ones are merged before
 * their hour or day is over. An hour with at least `hourRowsMin` events gets files of its own, the others of a day share some.
 */
export type CompactLimits = {
  filesMin: number;
  filesMax: number;
  bytesMax: number;
  rowsMax: number;
  hourRowsMin: number;
};

/**
 * Segments of a dataset to merge: those published in `[from, to)`. `merge`: only the small ones, for faster queries until the hour or day is over.
 * `hour` and `day`: into files for other engines.
 */
export type CompactJob = {
  orgId: OrgId;
  dataset: string;
  history: boolean;
  kind: 'merge' | 'hour' | 'day';
  from: Date;
  to: Date;
};

/** How long after its end an hour or day counts as over, so that batches on their way are part of its files. */
const closingGrace = sql`interval '5 minutes'`;

const isSmall = ({ bytesMax, rowsMax }: CompactLimits) => sql`(bytes < ${bytesMax / 2} and rows < ${rowsMax / 2})`;

/** Returns the job with the most segments, or undefined if there is nothing to do. `skipped` are datasets as `organization/name`. */
export function findCompactJobAcrossOrgs(
  tx: Tx,
  limits: CompactLimits,
  skipped: readonly string[],
): Promise<CompactJob | undefined> {
  return queryRow<CompactJob>(tx)`
    with waiting as materialized (
      select organization_id, dataset, history, ingested_from, ingested_to, rows, ${isSmall(limits)} as small,
        date_trunc('hour', ingested_from, 'UTC') as hour, date_trunc('day', ingested_from, 'UTC') as day
      from segments where replaced_at is null and not published and organization_id || '/' || dataset <> all(${skipped}::text[])
    ), hours as (
      select organization_id, dataset, history, hour, min(day) as day, count(*) as n, count(*) filter (where small) as small_n, sum(rows) as rows,
        hour + interval '1 hour' + ${closingGrace} <= now() as is_over
      from waiting where ingested_to < hour + interval '1 hour' group by organization_id, dataset, history, hour
    ), large_hours as (
      select * from hours where is_over and rows >= ${limits.hourRowsMin}
    ), jobs as (
      select organization_id, dataset, history, 'hour' as kind, hour as "from", hour + interval '1 hour' as "to", n from large_hours
      union all
      select organization_id, dataset, history, 'day', day, day + interval '1 day', count(*) from waiting w
      where day + interval '1 day' + ${closingGrace} <= now() and ingested_to < day + interval '1 day' and not exists (
        select from large_hours h where (h.organization_id, h.dataset, h.history, h.day) = (w.organization_id, w.dataset, w.history, w.day))
      group by organization_id, dataset, history, day
      union all
      select organization_id, dataset, history, 'merge', hour, hour + interval '1 hour', small_n
      from hours where not is_over and small_n >= ${limits.filesMin}
      union all
      select organization_id, dataset, history, 'merge', day, date_trunc('hour', now() - ${closingGrace}, 'UTC'), count(*) from waiting
      where small and day + interval '1 day' + ${closingGrace} > now() and ingested_to < date_trunc('hour', now() - ${closingGrace}, 'UTC')
      group by organization_id, dataset, history, day having count(*) >= ${limits.filesMin}
    )
    select organization_id as "orgId", dataset, history, kind, "from", "to" from jobs order by n desc limit 1`;
}

/** Returns the oldest segments of a job, up to the limits of one file, but at least one. */
export async function listJobSegments(tx: Tx, job: CompactJob, limits: CompactLimits): Promise<SegmentRow[]> {
  const { orgId, dataset, history, kind, from, to } = job;
  const found = await queryRows<SegmentRow>(tx)`
      select id, dataset, path, format, history, columns, drift, ingested_from as "ingestedFrom", rows, bytes, sha256 from segments
      where organization_id = ${orgId} and dataset = ${dataset} and history = ${history} and replaced_at is null and not published
        and ingested_from >= ${from} and ingested_to < ${to} and ${kind === 'merge' ? isSmall(limits) : sql`true`}
      order by ingested_from, id limit ${limits.filesMax}`;
  const fitting: SegmentRow[] = [];
  let [bytes, rowCount] = [0, 0];
  for (const segment of found) {
    bytes += segment.bytes;
    rowCount += segment.rows;
    if (fitting.length > 0 && (bytes > limits.bytesMax || rowCount > limits.rowsMax)) break;
    fitting.push(segment);
  }
  return fitting;
}

/** A file that was merged from segments. */
export type MergedFile = FileContent & {
  id: string;
  path: string;
  published: boolean;
  bytes: number;
  sha256: string | null;
  columns: number;
};

/**
 * Replaces segments with the file merged from them, in one statement, so that a query sees either all of them or only the merged one. Returns
 * false and changes nothing if one of them has been replaced meanwhile.
 */
export async function replaceSegments(
  tx: Tx,
  orgId: OrgId,
  { ids, file }: { ids: string[]; file: MergedFile },
): Promise<boolean> {
  const current = await queryRows<{ id: string }>(tx)`
      select id from segments where organization_id = ${orgId} and id = any(${ids}::uuid[]) and replaced_at is null order by id for update`;
  if (current.length !== ids.length) return false;
  await sql`
    with replaced as (
      update segments set replaced_at = now() where organization_id = ${orgId} and id = any(${ids}::uuid[])
      returning dataset, history, drift
    ), drift as (
      select json_object_agg(column_name, n)::text as counts from (
        select case when place <= ${storedMax} then key else ${otherColumns} end as column_name, sum(n) as n from (
          select key, n, row_number() over (order by n desc, key) as place from (
            select key, sum(value::bigint) as n from replaced, json_each_text(drift::json) group by key
          ) as summed
        ) as ordered group by 1
      ) as listed
    )
    insert into segments (organization_id, id, dataset, path, format, published, history, ingested_from, ingested_to, time_from, time_to, rows, bytes, sha256, columns, drift, created_at)
    select distinct ${orgId}::uuid, ${file.id}::uuid, dataset, ${file.path}, 'typed', ${file.published}::boolean, history,
      ${new Date(file.ingestedFrom)}::timestamptz, ${new Date(file.ingestedTo)}::timestamptz, ${new Date(file.timeFrom)}::timestamptz,
      ${new Date(file.timeTo)}::timestamptz, ${file.rows}::bigint, ${file.bytes}::bigint, ${file.sha256}::text, ${file.columns}::int,
      (select counts from drift), now()
    from replaced`.execute(tx);
  return true;
}

type ReplacedSegment = { orgId: OrgId; id: string; path: string };

/** Returns up to 500 segments that were replaced at least `graceMs` ago, so that no query still reads them. */
export function listReplacedAcrossOrgs(tx: Tx, graceMs: number): Promise<ReplacedSegment[]> {
  return queryRows<ReplacedSegment>(tx)`
      select organization_id as "orgId", id, path from segments where replaced_at < now() - ${graceMs} * interval '1 millisecond' order by replaced_at limit 500`;
}

/** Returns all replaced segments of a dataset whose files may still exist. */
export function listReplacedOfDataset(tx: Tx, orgId: OrgId, dataset: string): Promise<{ id: string; path: string }[]> {
  return queryRows<{ id: string; path: string }>(tx)`
      select id, path from segments where organization_id = ${orgId} and dataset = ${dataset} and replaced_at is not null`;
}

export async function deleteReplacedSegment(tx: Tx, orgId: OrgId, id: string): Promise<void> {
  await sql`delete from segments where organization_id = ${orgId} and id = ${id} and replaced_at is not null`.execute(
    tx,
  );
}

/** Returns those of the given paths that are listed as segments or are manifests. */
export async function findListedPaths(tx: Tx, orgId: OrgId, paths: string[]): Promise<Set<string>> {
  const segments = await queryRows<{ path: string }>(tx)`
    select path from segments where organization_id = ${orgId} and path = any(${paths}::text[])`;
  const manifests = await queryRows<{ dataset: string }>(tx)`
    select dataset from dataset_manifests where organization_id = ${orgId}`;
  const listed = new Set([
    ...segments.map(({ path }) => path),
    ...manifests.map(({ dataset }) => manifestPath(dataset)),
  ]);
  return new Set(paths.filter((path) => listed.has(path)));
}
