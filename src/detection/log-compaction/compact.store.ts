import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { otherColumns, storedMax } from '../log-store/catalog/merge-catalog.ts';
import { manifestPath } from '../log-store/files/segment-file.ts';
import type { SegmentRow } from '../log-store/segments.store.ts';
import { erasedMark } from '../../platform/db/erasure.store.ts';
import {
  duck,
  fromInstantSql,
  joinSql,
  quoteIdentifier,
  quoteLiteral,
  jsonPointer,
  toInstantSql,
  type SqlText,
} from '../log-engine/sql/sql-text.ts';
import { castSql } from '../log-engine/sql/field-sql.ts';
import { keyTextSql, parquetFilesSql, textFilesSql, type SegmentFile } from '../log-engine/sql/table-sql.ts';
import { listStoredFields, type CatalogField, type StoredColumn } from '../log-store/catalog/catalog.ts';

/** A value to erase from the events that contain it in `field`, a dotted name. */
export type ErasureTarget = { field: string; value: string };

/** Returns the condition that `_event` contains the value in the field, either as a key with dots or as a path. */
export function containsValueSql({ field, value }: ErasureTarget): SqlText {
  const valueAt = (keys: string[]): SqlText => duck`json_extract_string(_event, ${quoteLiteral(jsonPointer(keys))})`;
  return duck`coalesce(${valueAt([field])}, ${valueAt(field.split('.'))}) = ${quoteLiteral(value)}`;
}

/** Wraps a SELECT so that the value is replaced wherever it occurs in the matching events. */
function erasureSql(from: SqlText, erased: ErasureTarget): SqlText {
  const inJson = JSON.stringify(erased.value).slice(1, -1);
  const spellings = [...new Set([inJson, erased.value, inJson.replaceAll('/', '\\/')])];
  const without = (text: SqlText): SqlText =>
    spellings.reduce<SqlText>(
      (inner, spelling) => duck`replace(${inner}, ${quoteLiteral(spelling)}, ${quoteLiteral(erasedMark)})`,
      text,
    );
  const replaced = (text: SqlText): SqlText =>
    duck`CASE WHEN ${containsValueSql(erased)} THEN ${without(duck`CAST(${text} AS VARCHAR)`)} ELSE CAST(${text} AS VARCHAR) END`;
  return duck`SELECT ${replaced(duck`_id`)} AS _id, _time, _ingested, ${replaced(duck`_event`)} AS _event FROM (${from})`;
}

type CompactInput = {
  files: SegmentFile[];
  fields: readonly CatalogField[];
  target: string;
  erased?: ErasureTarget | undefined;
};

/** Returns the statement that writes segments into one Parquet file with the system columns and the stored columns of the catalog. */
export function compactSql({ files, fields, target, erased }: CompactInput): SqlText {
  const stored = listStoredFields(fields);
  const keys = stored.flatMap((field) => field.keys);
  const listIndex = new Map(keys.map((key, index) => [key, index + 1]));
  const columns = stored.map((field) => {
    const text = keyTextSql(field, (key) => duck`_text[${listIndex.get(key)!}]`, duck`_event`);
    return duck`${storedValueSql(field.stored, text)} AS ${quoteIdentifier(field.stored.name)}`;
  });
  const pointers = joinSql(keys.map((key) => quoteLiteral(jsonPointer([key]))));
  const list = joinSql([
    duck`_id, ${toInstantSql(duck`_time`)} AS _time, ${toInstantSql(duck`_ingested`)} AS _ingested, _event`,
    ...columns,
  ]);
  const texts = keys.length > 0 ? duck`json_extract_string(_event, [${pointers}])` : duck`NULL`;
  const sources = erased ? erasureSql(sourcesSql(files), erased) : sourcesSql(files);
  return duck`COPY (SELECT ${list} FROM (SELECT *, ${texts} AS _text FROM (${sources}))) TO ${quoteLiteral(target)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20000)`;
}

/** Returns the value that files have of a text. JSON is stored as its text, and times with the zone that makes other engines read them as UTC. */
function storedValueSql({ type }: StoredColumn, text: SqlText): SqlText {
  const value = castSql(type, text, true);
  if (type === 'TIMESTAMP') return toInstantSql(value);
  return type === 'TIMESTAMP[]' ? duck`CAST(${value} AS TIMESTAMPTZ[])` : value;
}

function sourcesSql(files: SegmentFile[]): SqlText {
  return joinSql(files.map(sourceSql), '\nUNION ALL\n');
}

function sourceSql(file: SegmentFile): SqlText {
  switch (file.format) {
    case 'text':
      return duck`SELECT i AS _id, make_timestamp(t) AS _time, make_timestamp(${file.ingestedMs * 1000}) AS _ingested, e AS _event FROM ${textFilesSql([file])}`;
    case 'typed':
      return duck`SELECT _id, ${fromInstantSql(duck`_time`)} AS _time, ${fromInstantSql(duck`_ingested`)} AS _ingested, _event FROM ${parquetFilesSql([file])}`;
  }
}

/** The content of a written file: its number of rows, and the bounds of its times in milliseconds. */
export type FileContent = { rows: number; ingestedFrom: number; ingestedTo: number; timeFrom: number; timeTo: number };

/** Returns the statement that reads the content of a typed file. All columns but `rows` are null if it has no rows. */
export function contentSql(path: string): SqlText {
  const ms = (aggregate: SqlText): SqlText => duck`floor(epoch_us(${aggregate}) / 1000)`;
  return duck`SELECT count(*)::DOUBLE AS rows, ${ms(duck`min(_ingested)`)} AS "ingestedFrom", ${ms(duck`max(_ingested)`)} AS "ingestedTo",
    ${ms(duck`min(_time)`)} AS "timeFrom", ${ms(duck`max(_time)`)} AS "timeTo" FROM read_parquet(${quoteLiteral(path)}, hive_partitioning = false)`;
}

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
  await sql`
    delete from segments where organization_id = ${orgId} and id = ${id} and replaced_at is not null`.execute(tx);
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
