import { sql, type RawBuilder } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { Sql } from '../items/list-query/query.sql.ts';
import { visiblePoolIds } from '../items/visible-pools.sql.ts';
import type { Indicator } from '../model/item.schema.ts';

type Status = Indicator['status'];

/** A canonical form of the requested value, and its term in `item_terms`. */
export type LookupForm = { form: string; term: string };

/** How many items give the value each status. An item counts once, with its strongest status. */
export type StatusCounts = Record<Status, number>;

const strongestFirst: Status[] = ['false_positive', 'active', 'expired', 'revoked'];
const rank = (status: Status): RawBuilder<number> => sql.lit(strongestFirst.indexOf(status) + 1);
const countByRank: Sql = sql.join(
  strongestFirst.map((status) => sql`count(*) filter (where rank = ${rank(status)}) as ${sql.ref(status)}`),
);

/**
 * The visible items that contain the forms, with the rank of the status at `hour` (epoch milliseconds) that they give it, overrides applied. The
 * status follows the rules of `applyOverride`, evaluated in SQL so that no document is read.
 */
const matchedItems = (forms: LookupForm[], hour: number): Sql => sql`
  select f.form, i.id, i.added_to_feed_at, case
      when coalesce(own.status, t.standing) = 'false_positive' then ${rank('false_positive')}
      when i.status = 'retracted' or o.status = 'retracted' or coalesce(own.status, t.standing) = 'revoked' then ${rank('revoked')}
      when own.status is not null then array_position(${strongestFirst}::text[], own.status)
      when t.ends_at <= ${new Date(hour)} then ${rank('expired')}
      else ${rank('active')} end as rank
    from unnest(${forms.map(({ form }) => form)}::text[], ${forms.map(({ term }) => term)}::text[]) as f (form, term)
      join item_terms t on t.kind = 'indicator' and t.value = f.term
      cross join lateral (
        select id, status, added_to_feed_at from items where id = t.item_id and pool_id in ${visiblePoolIds} limit 1) i
      left join feed_overrides o on o.organization_id = tocsin_org() and o.item_id = i.id
      left join lateral (
        select w ->> 'status' as status from json_array_elements(o.indicators::json) w where w ->> 'value' = f.form
        order by array_position(${strongestFirst}::text[], w ->> 'status') limit 1) own on true`;

/** Counts the visible items that contain a value in any of its forms, and returns the documents of the newest `limit` items. */
export async function readLookup(
  tx: Tx,
  { forms, hour, limit }: { forms: LookupForm[]; hour: number; limit: number },
): Promise<{ counts: StatusCounts; docs: string[] }> {
  const found = await queryRows<StatusCounts & { doc: string | null }>(tx)`
      with matched as materialized (
        select id, added_to_feed_at, min(rank) as rank from (${matchedItems(forms, hour)}) stated group by id, added_to_feed_at
      )
      select counts.*, newest.doc from (select ${countByRank} from matched) counts left join (
        select i.doc, page.added_to_feed_at, page.id from (select * from matched order by added_to_feed_at desc, id desc limit ${limit}) page
          join items i on i.id = page.id
      ) newest on true order by newest.added_to_feed_at desc, newest.id desc`;
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
