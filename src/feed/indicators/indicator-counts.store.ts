import { sql } from 'kysely';
import { rows, type Tx } from '../../platform/db/db.ts';
import type { Indicator } from '../model/item.schema.ts';
import { isVisible } from '../items/items.store.ts';

/** A value that is looked up: its canonical form, and how `item_terms` holds that. */
export type Form = { form: string; term: string };

/** How many items say what of a value, each with its strongest word. */
export type Counts = Record<Indicator['status'], number>;

/** Strongest first. */
const ranked: Indicator['status'][] = ['false_positive', 'active', 'expired', 'revoked'];
const rank = (status: Indicator['status']) => sql.lit(ranked.indexOf(status) + 1);

/**
 * How the items that the organization sees and that name a value stand to it at `hour` (epoch milliseconds), with its own words, and the
 * documents of the newest. The same rules as `asSaid`; here none but those documents is read.
 */
export async function findNaming(
  tx: Tx,
  { forms, hour }: { forms: Form[]; hour: number },
  limit: number,
): Promise<{ counts: Counts; docs: string[] }> {
  const found = await rows(
    tx,
    sql<Counts & { doc: string | null }>`
      with named as materialized (
        select i.id, i.added_to_feed_at, min(case
          when coalesce(word.status, t.standing) = 'false_positive' then ${rank('false_positive')}
          when i.status = 'retracted' or said.status = 'retracted' or coalesce(word.status, t.standing) = 'revoked' then ${rank('revoked')}
          when word.status is not null then array_position(${ranked}::text[], word.status)
          when t.ends_at <= ${new Date(hour)} then ${rank('expired')}
          else ${rank('active')} end) as rank
        from unnest(${forms.map(({ form }) => form)}::text[], ${forms.map(({ term }) => term)}::text[]) as f (form, term)
          join item_terms t on t.kind = 'indicator' and t.value = f.term
          cross join lateral (
            select id, status, added_to_feed_at from items
            where id = t.item_id and pool_id in (select id from feed_pools where ${isVisible}) limit 1) i
          left join feed_overrides said on said.organization_id = tocsin_org() and said.item_id = i.id
          left join lateral (
            select w ->> 'status' as status from json_array_elements(said.indicators::json) w where w ->> 'value' = f.form
            order by array_position(${ranked}::text[], w ->> 'status') limit 1) word on true
        group by i.id, i.added_to_feed_at
      )
      select all_of.*, newest.doc from (
        select ${sql.join(ranked.map((status) => sql`count(*) filter (where rank = ${rank(status)}) as ${sql.ref(status)}`))} from named
      ) all_of left join (
        select i.doc, page.added_to_feed_at, page.id from (select * from named order by added_to_feed_at desc, id desc limit ${limit}) page
          join items i on i.id = page.id
      ) newest on true order by newest.added_to_feed_at desc, newest.id desc`,
  );
  const { doc: _first, ...counts } = found[0]!;
  return { counts, docs: found.flatMap(({ doc }) => doc ?? []) };
}
