import { sql } from 'kysely';
import { row, rows, type Tx } from '../../../platform/db/db.ts';
import { formsOf, hadWords, queryOf, withTerm, type Condition, type Words } from '../snapshot/conditions.sql.ts';
import { changedIds, isListed, orderedRows, withColumns } from '../snapshot/snapshot-rows.sql.ts';
import { toPageRows, type PageRow, type PageRows } from '../snapshot/page.store.ts';
import type { View } from '../snapshot/snapshot.ts';

type Sql = ReturnType<typeof sql>;

/**
 * A page of what is found by words alone, where so many items have them that the page is soon met along the list: they are counted and not
 * gathered. Undefined where they are fewer: with a hundred found for each row up to the page's end no more than a hundredth of the feed is passed.
 */
export async function readAlongList(
  tx: Tx,
  view: View,
  { words, limit, offset, foundPerRow = 100 }: { words: Words; limit: number; offset: number; foundPerRow?: number },
): Promise<PageRows | undefined> {
  const total = await countByWords(tx, view, words);
  if (total < (offset + limit) * foundPerRow) return undefined;
  const match: Condition = {
    now: sql`and (${nowHas(words)} or i.id in (${withTerm(view, formsOf(words))}))`,
    past: hadWords(words),
  };
  const page = sql`${orderedRows(view, {}, { limit: sql`${offset + limit}`, match })} listed limit ${limit} offset ${offset}`;
  const found = await rows(
    tx,
    sql<PageRow>`
      with page as (select * from ${page})
      select ${total}::bigint as total, item.* from (${withColumns(sql`page`, ['doc', 'next_expiry_at'])}) item
      order by item.added_to_feed_at desc, item.id desc`,
  );
  return toPageRows(found);
}

/** A subquery, so that it is looked up for the rows that are passed and for no other. */
const nowHas = (words: Words): Sql =>
  sql`coalesce((select w.words @@ ${queryOf(words)} from item_search w where w.item_id = i.id), false)`;

/** How many items of a view have the words: those that have them now, put back to the view by the few that changed since. */
async function countByWords(tx: Tx, view: View, words: Words): Promise<number> {
  const { now, past } = isListed(view);
  const named = withTerm(view, formsOf(words));
  const found = await row(
    tx,
    sql<{ n: number }>`
      select tocsin_count_words(${view.poolIds}::uuid[], ${queryOf(words)})
        - (select count(*) from items i where i.id in (${changedIds(view)}) and ${nowHas(words)})
        + (select count(*) from items i where ${now} and i.id = any(array(${named})) and not ${nowHas(words)})
        + (select count(*) from item_states s where ${past} ${hadWords(words)}) as n`,
  );
  return found!.n;
}
