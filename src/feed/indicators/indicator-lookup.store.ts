import { sql, type RawBuilder } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { Sql } from '../items/list-query/query.sql.ts';
import { visiblePoolIds } from '../items/visible-pools.sql.ts';
import type { Indicator } from '../model/item.schema.ts';
import { isCaseInsensitive } from '../model/values/comparison-form.ts';
import { isSameValue } from './same-value.sql.ts';

type Status = Indicator['status'];

/** A canonical form of the requested value, and its term in `item_terms`. */
export type LookupForm = { form: string; term: string };

/** The number of items in which the value has each status. An item counts once, with its strongest status. */
export type StatusCounts = Record<Status, number>;

const strongestFirst: Status[] = ['false_positive', 'active', 'expired', 'revoked'];
const rank = (status: Status): RawBuilder<number> => sql.lit(strongestFirst.indexOf(status) + 1);
const countByRank: Sql = sql.join(
  strongestFirst.map((status) => sql`count(*) filter (where rank = ${rank(status)}) as ${sql.ref(status)}`),
);

/**
 * The terms of an item contain the statuses of its values, except for retractions by a person and the organization's overrides. If more than
 * `readEachMax` terms match, only the items with such an exception are read, unless there are more than `exceptionsMax` of them.
 */
const readEachMax = 1_000;
const exceptionsMax = 100_000;

/**
 * The visible items that contain the forms, with the rank of the status at `hour` (epoch milliseconds) that they give it, overrides applied. The
 * status follows the rules of `applyOverride`, evaluated in SQL so that no document is read.
 */
const matchedItems = (forms: LookupForm[], hour: number): Sql => sql`
  with statements as materialized (
    select f.form, f.is_case_insensitive, t.item_id, t.standing, t.ends_at
    from unnest(${forms.map(({ form }) => form)}::text[], ${forms.map(({ term }) => term)}::text[],
        ${forms.map(({ form }) => isCaseInsensitive(form))}::boolean[]) as f (form, term, is_case_insensitive)
      join item_terms t on t.kind = 'indicator' and t.value = f.term and t.pool_id = any(array(${visiblePoolIds}))
  ),
  -- The limit keeps the planner's estimate low enough to hash the ids.
  exceptions as materialized (
    (select id from items where held_back is not null
    union all
    select item_id from feed_overrides where organization_id = tocsin_org() and (status = 'retracted' or indicators is not null))
    limit ${sql.lit(exceptionsMax + 1)}
  ),
  size as (
    select (select count(*) from statements) <= ${readEachMax} or (select count(*) from exceptions) > ${exceptionsMax} as is_each_read
  )
  select s.form, s.item_id as id, case
      when coalesce(own.status, s.standing) = 'false_positive' then ${rank('false_positive')}
      when own.is_retracted or coalesce(own.status, s.standing) = 'revoked' then ${rank('revoked')}
      when own.status is not null then array_position(${strongestFirst}::text[], own.status)
      when s.ends_at <= ${new Date(hour)} then ${rank('expired')}
      else ${rank('active')} end as rank
    from (select *, (select is_each_read from size) or item_id in (select id from exceptions) as is_read from statements) s
      left join lateral (
        select i.status = 'retracted' or coalesce(o.status = 'retracted', false) as is_retracted, (
            select w ->> 'status' from json_array_elements(o.indicators::json) w where ${isSameValue(sql`(w ->> 'value')`, 's')}
            order by array_position(${strongestFirst}::text[], w ->> 'status') limit 1) as status
          from items i left join feed_overrides o on o.organization_id = tocsin_org() and o.item_id = i.id
          where s.is_read and i.id = s.item_id limit 1) own on true`;

/**
 * Counts the visible items that contain a value in any of its forms, and returns the documents of the newest `limit` items. Ids are in the order
 * in which items are added.
 */
export async function readLookup(
  tx: Tx,
  { forms, hour, limit }: { forms: LookupForm[]; hour: number; limit: number },
): Promise<{ counts: StatusCounts; docs: string[] }> {
  const found = await queryRows<StatusCounts & { doc: string | null }>(tx)`
      with matched as materialized (
        select id, min(rank) as rank from (${matchedItems(forms, hour)}) stated group by id
      )
      select counts.*, newest.doc from (select ${countByRank} from matched) counts left join (
        select i.id, i.doc from (select id from matched order by id desc limit ${limit}) page join items i on i.id = page.id
      ) newest on true order by newest.id desc`;
  const { doc: _first, ...counts } = found[0]!;
  return { counts, docs: found.flatMap(({ doc }) => doc ?? []) };
}

/** Counts the visible items that contain each value. Values that no item contains are absent. */
export async function readStatusCounts(tx: Tx, forms: LookupForm[], hour: number): Promise<Map<string, StatusCounts>> {
  if (forms.length === 0) return new Map();
  const found = await queryRows<StatusCounts & { form: string }>(tx)`
      select form, ${countByRank} from (${matchedItems(forms, hour)}) stated group by form`;
  return new Map(found.map(({ form, ...counts }) => [form, counts]));
}
