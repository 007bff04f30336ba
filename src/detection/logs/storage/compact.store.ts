import { sql } from 'kysely';
import { otherColumns, storedMax } from '../catalog/stored-drift.ts';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { SegmentRow } from './segments.store.ts';

/** Limits of a merged file. Segments below half of `bytesMax` and `rowsMax` count as small. */
export type CompactLimits = { filesMin: number; filesMax: number; bytesMax: number; rowsMax: number };

type FragmentedDataset = { orgId: OrgId; dataset: string; history: boolean };

/** Returns the dataset with the most small segments, if it has at least `filesMin`. `skipped` are datasets as `organization/name`. */
export function findFragmentedDatasetAcrossOrgs(
  tx: Tx,
  limits: CompactLimits,
  skipped: readonly string[],
): Promise<FragmentedDataset | undefined> {
  return queryRow<FragmentedDataset>(tx)`
      select organization_id as "orgId", dataset, history from segments
      where replaced_at is null and bytes < ${limits.bytesMax / 2} and rows < ${limits.rowsMax / 2}
        and organization_id || '/' || dataset <> all(${skipped}::text[])
      group by organization_id, dataset, history having count(*) >= ${limits.filesMin} order by count(*) desc limit 1`;
}

/** Returns the oldest small segments of a dataset, up to the limits of one file. */
export async function listSmallSegments(
  tx: Tx,
  orgId: OrgId,
  input: { dataset: string; history: boolean; limits: CompactLimits },
): Promise<SegmentRow[]> {
  const { dataset, history, limits } = input;
  const small = await queryRows<SegmentRow>(tx)`
      select id, dataset, path, format, history, columns, drift, ingested_from as "ingestedFrom", rows, bytes, sha256 from segments
      where organization_id = ${orgId} and dataset = ${dataset} and history = ${history} and replaced_at is null
        and bytes < ${limits.bytesMax / 2} and rows < ${limits.rowsMax / 2}
      order by ingested_from, id limit ${limits.filesMax}`;
  const fitting: SegmentRow[] = [];
  let [bytes, rowCount] = [0, 0];
  for (const segment of small) {
    bytes += segment.bytes;
    rowCount += segment.rows;
    if (bytes > limits.bytesMax || rowCount > limits.rowsMax) break;
    fitting.push(segment);
  }
  return fitting;
}

export type SegmentReplacement = {
  id: string;
  path: string;
  bytes: number;
  sha256: string | null;
  columns: number;
  ids: string[];
};

/**
 * Replaces segments with the one merged from them, in one statement, so that a query sees either all of them or only the merged one.
 * Returns false and changes nothing if one of them has been replaced meanwhile.
 */
export async function replaceSegments(
  tx: Tx,
  orgId: OrgId,
  { id, path, bytes, sha256, columns, ids }: SegmentReplacement,
): Promise<boolean> {
  const current = await queryRows<{ id: string }>(tx)`
      select id from segments where organization_id = ${orgId} and id = any(${ids}::uuid[]) and replaced_at is null order by id for update`;
  if (current.length !== ids.length) return false;
  await sql`
    with replaced as (
      update segments set replaced_at = now() where organization_id = ${orgId} and id = any(${ids}::uuid[])
      returning dataset, history, ingested_from, ingested_to, time_from, time_to, rows, drift
    ), drift as (
      select json_object_agg(column_name, n)::text as counts from (
        select case when place <= ${storedMax} then key else ${otherColumns} end as column_name, sum(n) as n from (
          select key, n, row_number() over (order by n desc, key) as place from (
            select key, sum(value::bigint) as n from replaced, json_each_text(drift::json) group by key
          ) as summed
        ) as ordered group by 1
      ) as listed
    )
    insert into segments (organization_id, id, dataset, path, format, history, ingested_from, ingested_to, time_from, time_to, rows, bytes, sha256, columns, drift, created_at)
    select ${orgId}, ${id}, dataset, ${path}, 'parquet', history, min(ingested_from), max(ingested_to), min(time_from), max(time_to), sum(rows),
      ${bytes}, ${sha256}, ${columns}, (select counts from drift), now()
    from replaced group by dataset, history`.execute(tx);
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

/** Returns those of the given paths that are listed as segments. */
export async function findListedPaths(tx: Tx, orgId: OrgId, paths: string[]): Promise<Set<string>> {
  const listed = await queryRows<{ path: string }>(
    tx,
  )`select path from segments where organization_id = ${orgId} and path = any(${paths}::text[])`;
  return new Set(listed.map(({ path }) => path));
}
