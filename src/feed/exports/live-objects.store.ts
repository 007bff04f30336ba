import { queryRows, type Tx } from '../../platform/db/db.ts';
import { sql } from 'kysely';
import type { Condition, Sql } from '../items/list-query/query.sql.ts';
import { visiblePoolIds } from '../items/visible-pools.sql.ts';
import type { Term } from '../model/terms.ts';
import type { VersionKey } from './item-versions.store.ts';

/** How many items with one value are read, and how many items in all. */
const itemsPerTerm = 100;
const itemsMax = 200;

/** Returns live items that came as STIX and have any of the terms, those with the most of them first. */
export function listItemsWithTerms(
  tx: Tx,
  terms: Pick<Term, 'kind' | 'value'>[],
  isMember: ((itemId: Sql) => Condition) | undefined,
): Promise<VersionKey[]> {
  return queryRows<VersionKey>(tx)`
    select found.id, found.version
    from unnest(${terms.map(({ kind }) => kind)}::text[], ${terms.map(({ value }) => value)}::text[]) as n (kind, value)
    cross join lateral (
      select i.id, i.version from item_terms t join items i on i.id = t.item_id
      where t.kind = n.kind and t.value = n.value and t.pool_id = any(array(${visiblePoolIds})) and i.status <> 'retracted'
        and exists (select from item_versions v where v.item_id = i.id and v.objects is not null)
        and ${isMember ? isMember(sql`i.id`) : sql`true`}
      limit ${itemsPerTerm}
    ) found
    group by found.id, found.version order by count(*) desc, found.id limit ${itemsMax}`;
}
