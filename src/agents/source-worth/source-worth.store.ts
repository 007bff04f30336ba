import { visiblePoolIds } from '../../feed/items/snapshot/query.sql.ts';
import { queryRow, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

/** What one source brought in a span of time. Values are indicators, vulnerabilities, actors, malware and tools. */
export type SourceWorthRow = {
  items: number;
  reports: number;
  ownReports: number;
  values: number;
  /** Those of the values that are indicators. */
  indicators: string[];
  /** Values that no other item has, and those that other sources brought later. */
  ownValues: number;
  firstValues: number;
  seenValues: number;
  truePositives: number;
  falsePositives: number;
};

/** Newer items and values of a source than these are not compared. */
const itemsMax = 2_000;
export const valuesMax = 1_000;
/** If more items have a value, only this many of them are compared. */
const holdersMax = 200;
const sightingsMax = 5_000;

/** Compares what a source added since a time with what the organization sees from other sources, and with its own logs and hits. */
export async function measureSource(
  tx: Tx,
  orgId: OrgId,
  { sourceId, since }: { sourceId: string; since: Date },
): Promise<SourceWorthRow> {
  const found = await queryRow<SourceWorthRow>(tx)`
    with own as materialized (
      select id, added_to_feed_at as at, sketch is not null as is_report, coalesce(duplicate_of, id) as root from items
      where source_id = ${sourceId} and added_to_feed_at > ${since} and status <> 'retracted' and pool_id = any(array(${visiblePoolIds}))
      order by added_to_feed_at desc limit ${itemsMax}
    ), own_values as materialized (
      select t.kind, t.value, min(o.at) as at from own o join item_terms t on t.item_id = o.id and (t.kind = 'indicator' or t.entity is not null)
      group by t.kind, t.value order by 3 desc limit ${valuesMax}
    ), held as materialized (
      select v.kind, v.value, v.at, others.first_at from own_values v left join lateral (
        select min(i.added_to_feed_at) as first_at from (
          select t.item_id from item_terms t where t.kind = v.kind and t.value = v.value and t.pool_id = any(array(${visiblePoolIds}))
          limit ${holdersMax}) t join items i on i.id = t.item_id
        where i.source_id is distinct from ${sourceId}) others on true
    ), seen as materialized (
      select s.value, s.observed from own o join feed_sightings s on s.organization_id = ${orgId} and s.item_id = o.id limit ${sightingsMax}
    ), judged as materialized (
      select distinct h.id, h.status from (select distinct md5(lower(observed))::uuid as key from seen) k
        join hit_values v on v.organization_id = ${orgId} and v.value_key = k.key
        join hits h on h.organization_id = v.organization_id and h.id = v.hit_id and h.status in ('true_positive', 'false_positive')
    )
    select (select count(*) from own) as items, (select count(*) from own where is_report) as reports,
      (select count(*) from own o where is_report and not exists (select from items i
        where (i.id = o.root or i.duplicate_of = o.root) and i.source_id is distinct from ${sourceId} and i.pool_id = any(array(${visiblePoolIds})))) as "ownReports",
      (select count(*) from held) as values, array(select value from held where kind = 'indicator') as indicators,
      (select count(*) from held where first_at is null) as "ownValues",
      (select count(*) from held where first_at > at) as "firstValues",
      (select count(distinct value) from seen) as "seenValues",
      (select count(*) from judged where status = 'true_positive') as "truePositives",
      (select count(*) from judged where status = 'false_positive') as "falsePositives"`;
  return found!;
}
