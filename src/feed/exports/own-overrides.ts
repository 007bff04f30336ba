import { sql } from 'kysely';
import { rows, type Tx } from '../../platform/db/db.ts';
import { asSaid, toSaid, type Said } from '../items/overrides/apply-overrides.ts';
import type { FeedItem } from '../model/item.schema.ts';

/** What an organization says of an item for itself, as far as exports show it, from a time on. */
export type OwnWord = Said & { at: Date };

type WordRow = Parameters<typeof toSaid>[0] & { item_id: string; at: Date };

/** All that the organization of the transaction ever said of these items, by item, the newest last: that one holds. */
export async function listOwnWords(tx: Tx, ids: string[]): Promise<Map<string, OwnWord[]>> {
  const found = await rows(
    tx,
    sql<WordRow>`
      select item_id, at, severity, status, indicators from feed_marks
      where organization_id = tocsin_org() and item_id = any(${ids}::uuid[]) order by at`,
  );
  const byItem = Map.groupBy(found, ({ item_id }) => item_id);
  return new Map([...byItem].map(([id, words]) => [id, words.map((word) => ({ at: word.at, ...toSaid(word) }))]));
}

/** The item as a word says it, changed when that was said. */
export function asWorded(item: FeedItem, word: OwnWord | undefined): FeedItem {
  if (!word) return item;
  const at = word.at.toISOString();
  return { ...asSaid(item, word), lastUpdated: at > item.lastUpdated ? at : item.lastUpdated };
}
