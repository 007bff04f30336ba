import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { visiblePoolIds } from './snapshot/query.sql.ts';
import type { CvePrediction } from '../model/item.schema.ts';

const duplicatesMax = 500;
const relatedMax = 50;
const sharingMax = 500;
const itemsWithOverride = sql`items i left join feed_overrides o on o.organization_id = tocsin_org() and o.item_id = i.id`;
const rootAsSeen = sql`case when o.moved then o.duplicate_of else i.duplicate_of end`;

/** Returns the other items of the item's group as the organization sees it: the root first, then the oldest. */
export async function listDuplicates(tx: Tx, id: string): Promise<string[]> {
  const found = await queryRows<{ id: string }>(tx)`
      with root as materialized (select coalesce(${rootAsSeen}, i.id) as id from ${itemsWithOverride} where i.id = ${id}),
      near as (
        select id from root
        union select i.id from root join items i on i.duplicate_of = root.id
        union select o.item_id from root join feed_overrides o on o.organization_id = tocsin_org() and o.duplicate_of = root.id
      )
      select i.id from root, near join ${itemsWithOverride} on i.id = near.id
      where coalesce(${rootAsSeen}, i.id) = root.id and i.id <> ${id} and i.pool_id in ${visiblePoolIds}
      order by i.id <> root.id, i.added_to_feed_at, i.id limit ${duplicatesMax}`;
  return found.map((item) => item.id);
}

/** Returns the newest visible items that share a CVE with the item, including items of its group. */
export async function listSharingCve(tx: Tx, id: string): Promise<string[]> {
  const found = await queryRows<{ id: string }>(tx)`
      select i.id from items i join (
        select distinct other.item_id from item_terms t cross join lateral (
          select o.item_id from item_terms o where o.kind = 'cve' and o.value = t.value and o.item_id <> t.item_id
            and o.pool_id in ${visiblePoolIds} limit ${sharingMax}
        ) other where t.item_id = ${id} and t.kind = 'cve'
      ) near on near.item_id = i.id
      where i.pool_id in ${visiblePoolIds} and i.status <> 'retracted' order by i.added_to_feed_at desc, i.id desc limit ${relatedMax}`;
  return found.map((item) => item.id);
}

type TextRow = { version: number; stored_text: string; at: Date };

/** Finds the text of a version of a visible item, or of its newest version if `version` is undefined. */
export function findText(tx: Tx, id: string, version: number | undefined): Promise<TextRow | undefined> {
  const isVersion = version === undefined ? sql`true` : sql`version = ${version}`;
  return queryRow<TextRow>(tx)`
      select version, stored_text, at from item_versions
      where item_id = ${id} and pool_id in ${visiblePoolIds} and ${isVersion}
      order by version desc limit 1`;
}

/** Stores a batch of predictions unless newer ones are stored. Returns the number of new CVEs and of changed predictions. */
export async function upsertPredictions(
  tx: Tx,
  poolId: string,
  { batch, scoredAt }: { batch: string; scoredAt: string },
): Promise<{ added: number; changed: number }> {
  const counted = await queryRow<{ added: number; changed: number }>(tx)`
      with listed as (
        select r ->> 0 as cve, (r ->> 1)::float8 as probability, (r ->> 2)::float8 as percentile from jsonb_array_elements(${batch}::jsonb) r
      ),
      known as (select l.cve from listed l join cve_predictions p on p.pool_id = ${poolId} and p.cve = l.cve),
      written as (
        insert into cve_predictions as p (pool_id, cve, probability, percentile, scored_at)
        select ${poolId}, cve, probability, percentile, ${scoredAt} from listed order by cve
        on conflict (pool_id, cve) do update
          set probability = excluded.probability, percentile = excluded.percentile, scored_at = excluded.scored_at
          where p.scored_at < excluded.scored_at
        returning p.cve
      )
      select (count(*) filter (where known.cve is null))::int as added, count(known.cve)::int as changed
      from written left join known using (cve)`;
  return counted ?? { added: 0, changed: 0 };
}

const predictionsMax = 100;

/** Returns the newest visible prediction for each of the CVEs, the most probable first. */
export async function listPredictions(tx: Tx, cves: string[]): Promise<CvePrediction[]> {
  if (cves.length === 0) return [];
  const found = await queryRows<Omit<CvePrediction, 'scoredAt'> & { scored_at: Date }>(tx)`
      select * from (
        select distinct on (cve) cve, probability, percentile, scored_at from cve_predictions
        where cve = any(${cves}) and pool_id in ${visiblePoolIds} order by cve, scored_at desc
      ) newest order by probability desc, cve limit ${sql.lit(predictionsMax)}`;
  return found.map(({ scored_at: scoredAt, ...prediction }) => ({ ...prediction, scoredAt: scoredAt.toISOString() }));
}
