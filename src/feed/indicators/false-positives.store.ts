import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import { visiblePoolIds } from '../items/visible-pools.sql.ts';
import { buckets } from '../model/vocabulary.ts';
import type { Indicator } from '../model/item.schema.ts';
import { isCaseInsensitive } from '../model/values/comparison-form.ts';
import { listObservables, type SeenItem } from '../model/values/observables.ts';
import { toTermValue } from '../model/terms.ts';
import { isSameValue } from './same-value.sql.ts';

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
