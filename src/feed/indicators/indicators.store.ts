import { isIPv6 } from 'node:net';
import { sql, type RawBuilder } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import { type Sql, visiblePoolIds } from '../items/snapshot/query.sql.ts';
import type { Indicator } from '../model/item.schema.ts';
import { isCaseInsensitive } from '../model/values/normalize.ts';
import { buckets } from '../model/vocabulary.ts';
import { listObservables, type SeenItem } from '../model/values/observables.ts';
import { toTermValue } from '../model/terms.ts';
import { toInetRange, type Network } from '../model/values/networks.ts';

type Status = Indicator['status'];

/** A canonical form of the requested value, and its term in `item_terms`. */
export type LookupForm = { form: string; term: string };

/**
 * The number of items in which the value has each status. An item counts once, with its strongest status. In items that count as
 * `harmless_here`, the words of a report make the value a false positive, which says nothing about other items.
 */
export type StatusCounts = Record<Status | 'harmless_here', number>;

const strongestFirst: (keyof StatusCounts)[] = ['false_positive', 'active', 'expired', 'revoked', 'harmless_here'];
const rank = (status: keyof StatusCounts): RawBuilder<number> => sql.lit(strongestFirst.indexOf(status) + 1);
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
      when coalesce(own.status, s.standing) = 'harmless_here' then ${rank('harmless_here')}
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

/**
 * Sets the active indicators and observables of items to false positive if any visible item, or the organization's override of one, says so.
 * Look-ups and block lists follow the same rule. Changes the items in place.
 */
export async function markFalsePositives(tx: Tx, items: SeenItem[]): Promise<void> {
  const active = items.flatMap(({ iocs }) => buckets.flatMap((bucket) => iocs[bucket].filter(isActive)));
  const observables = items.map((item) => ({ item, active: listObservables(item).filter(isActive) }));
  const values = [...active, ...observables.flatMap((one) => one.active)].map(({ normalizedValue }) => normalizedValue);
  const harmless = await listFalsePositives(tx, [...new Set(values)]);
  for (const indicator of active) if (harmless.has(indicator.normalizedValue)) indicator.status = 'false_positive';
  for (const one of observables)
    one.item.observableStatuses = one.active.flatMap(({ type, normalizedValue: value }) =>
      harmless.has(value) ? [{ type, value, status: 'false_positive' as const }] : [],
    );
}

const isActive = ({ status }: Pick<Indicator, 'status'>): boolean => status === 'active';

/** Returns the values that any visible item, or the organization's override of one, calls a false positive. */
export async function listFalsePositives(tx: Tx, values: string[]): Promise<Set<string>> {
  if (values.length === 0) return new Set();
  const terms = values.map((value) => toTermValue('indicator', value));
  const rows = await queryRows<{ form: string }>(tx)`
      select f.form from unnest(${values}::text[], ${terms}::text[]) as f (form, term)
      where exists (
        select from item_terms t where t.kind = 'indicator' and t.value = f.term and t.standing = 'false_positive' and t.pool_id in ${visiblePoolIds})
      union
      select f.form from feed_overrides o cross join lateral json_array_elements(o.indicators::json) own (w)
        join unnest(${values}::text[], ${values.map(isCaseInsensitive)}::boolean[]) as f (form, is_case_insensitive)
          on ${isSameValue(sql`(own.w ->> 'value')`, 'f')}
      where o.organization_id = tocsin_org() and own.w ->> 'status' = 'false_positive'`;
  return new Set(rows.map(({ form }) => form));
}

const schemes = ['http', 'https', 'ftp', 'tcp', 'udp'];
const urlsMax = 1_000;

/**
 * Returns the documents of the newest `limit` visible items that contain URLs of a host, and the URLs. At most 1,000 URLs are examined. `host`
 * is a domain or an address in canonical form.
 */
export async function readHostUrls(tx: Tx, host: string, limit: number): Promise<{ docs: string[]; urls: string[] }> {
  const starts = schemes.map((scheme) => `${scheme}://${isIPv6(host) ? `[${host}]` : host}`);
  // A host ends before `/` or `:`, which are next to the digits in byte order.
  const rows = await queryRows<{ doc: string; urls: string[] }>(tx)`
      with found as materialized (
        select t.item_id, t.value from unnest(${starts}::text[]) as r (start) join item_terms t
          on t.kind = 'indicator' and t.value like '%://%' and t.value collate "C" >= r.start and t.value collate "C" < r.start || ';'
        where t.pool_id in ${visiblePoolIds} and substr(t.value, length(r.start) + 1, 1) in ('', '/', ':')
        limit ${urlsMax}
      )
      select i.doc, f.urls from (select item_id, array_agg(value) as urls from found group by item_id) f join items i on i.id = f.item_id
      where i.pool_id in ${visiblePoolIds} order by i.added_to_feed_at desc, i.id desc limit ${limit}`;
  return { docs: rows.map(({ doc }) => doc), urls: rows.flatMap(({ urls }) => urls) };
}

/**
 * Returns the distinct addresses and narrower networks inside a network that visible items contain, in their order, at most `limit`. The
 * values are read by skipping from one to the next in the index, so the cost does not depend on how many there are, or how many items contain
 * them.
 */
export async function listNetworkValues(tx: Tx, network: Network, limit: number): Promise<string[]> {
  const { first, last } = toInetRange(network);
  // Comparisons instead of `<<`, which row-level security keeps from using the index.
  const next = (after: Sql): Sql => sql`(
    select n.address, n.value from ${visiblePoolIds} p cross join lateral (
      select t.address, t.value from item_terms t
      where t.pool_id = p.id and t.address > ${after} and t.address <= ${last}::inet order by t.address limit 1) n
    order by n.address limit 1)`;
  const found = await queryRows<{ value: string }>(tx)`
    with recursive found as (
      ${next(sql`${first}::inet`)}
      union all
      select following.* from found cross join lateral ${next(sql`found.address`)} following
    )
    select value from found limit ${limit}`;
  return found.map(({ value }) => value);
}

/**
 * The condition that the value of an override is a requested form. `requested` is the table with its columns `form` and `is_case_insensitive`.
 * Both sides of the first comparison can be hashed.
 */
const isSameValue = (overrideValue: Sql, requested: string): Sql => {
  const [form, isCaseInsensitive] = [sql.ref(`${requested}.form`), sql.ref(`${requested}.is_case_insensitive`)];
  return sql`lower(${overrideValue}) = lower(${form}) and (${overrideValue} = ${form} or ${isCaseInsensitive})`;
};
