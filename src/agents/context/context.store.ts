import { sql } from 'kysely';
import type { HitStatus } from '../../detection/hits/hits.schema.ts';
import { toValueKey } from '../../detection/hits/read-hits.store.ts';
import type { Severity } from '../../detection/analysis/candidate.ts';
import { visiblePoolIds } from '../../feed/items/snapshot/query.sql.ts';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { IndicatorContext } from './context.schema.ts';

export type HitReferenceRow = {
  id: string;
  detectionId: string;
  detectionName: string;
  entity: string;
  headline: string;
  severity: Severity;
  status: HitStatus;
  createdAt: Date;
};

const reference = sql`h.id, h.detection_id as "detectionId", a.name as "detectionName", h.entity, h.headline, h.severity, h.status, h.created_at as "createdAt"`;
const detectionJoin = sql`join agents a on a.organization_id = h.organization_id and a.id = h.detection_id`;

type HitKey = { id: string; detectionId: string };

/** Lists the hits of an entity under any of its names but `id`, newest first. */
export function listEntityHits(
  tx: Tx,
  orgId: OrgId,
  { id, names }: { id: string | null; names: readonly string[] },
  limit: number,
): Promise<HitReferenceRow[]> {
  return queryRows<HitReferenceRow>(tx)`
      select ${reference} from hits h ${detectionJoin}
      where h.organization_id = ${orgId} and h.entity = any(${names}::text[]) and h.id is distinct from ${id}::uuid
        and h.id in (select hit_id from hit_values where organization_id = ${orgId} and value_key = any(${names.map(toValueKey)}::uuid[]))
      order by h.created_at desc, h.id desc limit ${limit}`;
}

export type JudgedHitRow = HitReferenceRow & { evidence: string; judgedAt: Date | null; reason: string | null };

/** Lists the hits of a detection that people judged, newest first, with the latest judgment. */
export function listJudgedHits(
  tx: Tx,
  orgId: OrgId,
  { id, detectionId }: HitKey,
  limit: number,
): Promise<JudgedHitRow[]> {
  return queryRows<JudgedHitRow>(tx)`
      select ${reference}, h.evidence, c.at as "judgedAt", c.reason from hits h ${detectionJoin}
        left join lateral (select at, reason from hit_changes c where c.organization_id = h.organization_id and c.hit_id = h.id
          order by at desc, id desc limit 1) c on true
      where h.organization_id = ${orgId} and h.detection_id = ${detectionId} and h.id <> ${id}
        and h.status in ('true_positive', 'benign', 'false_positive')
      order by h.created_at desc, h.id desc limit ${limit}`;
}

export type SharedItemRow = {
  id: string;
  title: string;
  publisher: string;
  severity: string;
  addedToFeedAt: Date;
  terms: string[];
};

/** Lists the newest visible items that contain one of these terms as a valid indicator. */
export function listItemsWithTerms(tx: Tx, orgId: OrgId, terms: string[], limit: number): Promise<SharedItemRow[]> {
  return queryRows<SharedItemRow>(tx)`
      select i.id, i.title, i.publisher, coalesce(o.severity, i.severity) as severity, i.added_to_feed_at as "addedToFeedAt", array_agg(t.value order by t.value) as terms
      from item_terms t join items i on i.id = t.item_id
        left join feed_overrides o on o.organization_id = ${orgId} and o.item_id = i.id
      where t.kind = 'indicator' and t.value = any(${terms}::text[]) and t.standing is null and i.pool_id in ${visiblePoolIds}
        and i.status <> 'retracted' and o.status is distinct from 'retracted'
      group by i.id, o.severity order by i.added_to_feed_at desc, i.id desc limit ${limit}`;
}

type DeliveryRow = { at: Date; state: string; name: string; error: string | null };

/** Lists the finished deliveries of a resource, latest first. */
export function listDeliveries(tx: Tx, orgId: OrgId, resourceId: string, limit: number): Promise<DeliveryRow[]> {
  return queryRows<DeliveryRow>(tx)`
      select coalesce(d.last_try_at, d.created_at) as at, d.state, o.name, d.last_error as error from deliveries d
        join destinations o on o.organization_id = d.organization_id and o.id = d.destination_id
      where d.organization_id = ${orgId} and d.resource_id = ${resourceId} and d.state <> 'pending'
      order by d.created_at desc limit ${limit}`;
}

type Dated<T, K extends keyof T> = Omit<T, K> & Record<K, Date>;
type SightingRow = Dated<IndicatorContext['sightings'][number], 'foundAt'>;
type MentionRow = Dated<NonNullable<IndicatorContext['hits']>[number], 'createdAt'>;

/** Lists the sightings of a value in any of its forms, as an indicator or as a value of a log row, newest first. */
export function listSightings(tx: Tx, orgId: OrgId, forms: string[], limit: number): Promise<SightingRow[]> {
  return queryRows<SightingRow>(tx)`
      select item_id as "itemId", connection_id as "connectionId", dataset, value, match, observed, event, found_at as "foundAt" from feed_sightings
      where organization_id = ${orgId} and (
        (md5(value) = any(array(select md5(form) from unnest(${forms}::text[]) form)) and value = any(${forms}::text[]))
        or (md5(observed) = any(array(select md5(form) from unnest(${forms}::text[]) form)) and observed = any(${forms}::text[])))
      order by found_at desc, item_id limit ${limit}`;
}

/** Lists hits with the value as entity or within their rows, newest first. Rows are searched in the newest `searchedMax` hits only. */
export function listMentions(
  tx: Tx,
  orgId: OrgId,
  { forms, limit, searchedMax }: { forms: string[]; limit: number; searchedMax: number },
): Promise<MentionRow[]> {
  // Rows are stored as JSON.
  const texts = forms.map((form) => JSON.stringify(form).slice(1, -1).toLowerCase());
  return queryRows<MentionRow>(tx)`
      select id, headline, entity, severity, status, created_at as "createdAt" from hits
      where organization_id = ${orgId} and id in (
        select id from hits where organization_id = ${orgId} and md5(entity) = any(array(select md5(form) from unnest(${forms}::text[]) form))
        union
        select id from (select id, rows from hits where organization_id = ${orgId} order by created_at desc, id desc limit ${searchedMax}) h
          where exists (select from unnest(${texts}::text[]) t where strpos(lower(h.rows), t) > 0))
      order by created_at desc, id desc limit ${limit}`;
}
