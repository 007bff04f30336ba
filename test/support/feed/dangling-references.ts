import { sql } from 'kysely';
import { acrossOrgs, queryRow, type Db } from '../../../src/platform/db/db.ts';

const ofItem = { organization_id: 'organizations', item_id: 'items', pool_id: 'feed_pools' };
const references: Record<string, Record<string, string>> = {
  items: {
    organization_id: 'organizations',
    pool_id: 'feed_pools',
    source_id: 'feed_sources',
    duplicate_of: 'items',
  },
  item_versions: ofItem,
  item_terms: ofItem,
  item_search: ofItem,
  item_search_sample: ofItem,
  item_states: ofItem,
  item_links: { pool_id: 'feed_pools', a: 'items', b: 'items' },
  item_arrivals: { item_id: 'items', pool_id: 'feed_pools' },
  cve_predictions: { pool_id: 'feed_pools' },
  feed_relevance: { organization_id: 'organizations', item_id: 'items' },
};

/** Returns the columns of the tables without foreign keys (ADR 20) that refer to rows that do not exist, as `table.column`. */
export async function listDanglingReferences(db: Db): Promise<string[]> {
  const dangling: string[] = [];
  for (const [table, columns] of Object.entries(references))
    for (const [column, target] of Object.entries(columns)) {
      const key = sql.ref(`source.${column}`);
      const found = await acrossOrgs(
        db,
        (tx) =>
          queryRow(tx)`
          select from ${sql.table(table)} source
          where ${key} is not null and not exists (select from ${sql.table(target)} target where target.id = ${key}) limit 1`,
      );
      if (found) dangling.push(`${table}.${column}`);
    }
  return dangling;
}

/** Returns whether an item has a term more than once, which no index prevents (ADR 20). */
export async function hasRepeatedTerm(db: Db): Promise<boolean> {
  const found = await acrossOrgs(
    db,
    (tx) => queryRow(tx)`select from item_terms group by item_id, kind, value having count(*) > 1 limit 1`,
  );
  return found !== undefined;
}
