import { sql } from 'kysely';
import { detectionConditions } from '../../detection/detections/detection-views.store.ts';
import { healthColumn, scheduleJoin } from '../../detection/detections/summaries/summaries.store.ts';
import { relevantIds } from '../../feed/items/list-query/relevant-items.store.ts';
import type { OrgState } from '../../feed/items/snapshot/org-state.store.ts';
import { visiblePoolIds } from '../../feed/items/snapshot/query.sql.ts';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { WeighedDetection } from './detection-weight.ts';

export type TaggedDetectionRow = WeighedDetection & { id: string; name: string; techniques: string[] };

/** Lists the detections that have an ATT&CK tag (`attack.t1059.001`) or were suggested for a technique. */
export function listTaggedDetections(tx: Tx, orgId: OrgId, firstDay: string): Promise<TaggedDetectionRow[]> {
  return queryRows<TaggedDetectionRow>(tx)`
      select a.id, a.name, t.techniques, ${healthColumn} as health, coalesce(d.runs, 0) as runs,
        exists (select from detection_tests w where w.organization_id = a.organization_id and w.detection_id = a.id and w.cases <> '[]') as "hasTests",
        coalesce(v.true_positives + v.benign + v.false_positives, 0) as reviewed, coalesce(v.true_positives, 0) as "truePositives"
      from agents a ${scheduleJoin}
        cross join lateral (
          select array(select upper(substr(tag, 8)) from unnest(a.tags) tag where tag ~ '^attack[.]t[0-9]{4}([.][0-9]{3})?$')
            || case when a.technique is null then '{}'::text[] else array[a.technique] end as techniques) t
        left join hit_reviews v on v.organization_id = a.organization_id and v.detection_id = a.id
        left join lateral (select sum(runs) as runs from run_days r
          where r.organization_id = a.organization_id and r.detection_id = a.id and r.day >= ${firstDay}::date) d on true
      where a.organization_id = ${orgId} and ${sql.join(detectionConditions({}), sql` and `)} and t.techniques <> '{}' order by a.id`;
}

/** Lists open suggestions with their techniques, newest first. */
export function listSuggestedTechniques(tx: Tx, orgId: OrgId): Promise<{ id: string; technique: string }[]> {
  return queryRows<{ id: string; technique: string }>(tx)`
      select id, technique from agents where organization_id = ${orgId} and is_suggestion and deleted_at is null and technique is not null
      order by created_at desc, id desc limit 5000`;
}

export type ThreatRow = { technique: string; items: number; id: string; title: string; addedToFeedAt: Date };

/**
 * Counts the newest relevant items by technique, at most `limit` items. Items of a group count once. `read` is the number of items that were
 * considered.
 */
export async function listThreats(
  tx: Tx,
  orgState: OrgState,
  { since, limit }: { since: Date; limit: number },
): Promise<{ threats: ThreatRow[]; read: number }> {
  const relevant = relevantIds(orgState);
  const rows = await queryRows<ThreatRow & { read: number }>(tx)`
      with recent as materialized (
        select i.id, i.added_to_feed_at from items i
        where i.pool_id in ${visiblePoolIds} and i.added_to_feed_at >= ${since} and i.duplicate_of is null and i.status <> 'retracted'
          and not exists (select from feed_overrides o where o.organization_id = tocsin_org() and o.item_id = i.id and (o.status = 'retracted' or o.relevance = 'irrelevant'))
          ${relevant ? sql`and i.id in (${relevant})` : sql``}
        order by i.added_to_feed_at desc, i.id desc limit ${limit}
      ), counted as (
        select t.value as technique, count(*) as items, (array_agg(r.id order by r.added_to_feed_at desc, r.id desc))[1] as latest
        from recent r join item_terms t on t.item_id = r.id and t.kind = 'technique' group by t.value
      )
      select c.technique, c.items, i.id, i.title, i.added_to_feed_at as "addedToFeedAt", (select count(*) from recent) as read
      from counted c join items i on i.id = c.latest`;
  return { threats: rows, read: rows[0]?.read ?? 0 };
}
