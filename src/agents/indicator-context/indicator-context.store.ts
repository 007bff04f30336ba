import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { IndicatorContext } from './indicator-context.schema.ts';

type Dated<T, K extends keyof T> = Omit<T, K> & Record<K, Date>;
export type SightingRow = Dated<IndicatorContext['sightings'][number], 'foundAt'>;
export type MentionRow = Dated<NonNullable<IndicatorContext['hits']>[number], 'createdAt'>;

/** Lists the sightings of a value in any of its forms, as an indicator or as a value of a log row, newest first. */
export function listSightings(tx: Tx, orgId: OrgId, forms: string[], limit: number): Promise<SightingRow[]> {
  return queryRows<SightingRow>(tx)`
      select item_id as "itemId", connection_id as "connectionId", dataset, value, match, observed, event, found_at as "foundAt" from feed_exposures
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
