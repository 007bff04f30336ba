import type { Tx } from '../../../platform/db/db.ts';
import { batches } from './batches.ts';
import { insertVersionsStatement, upsertItemsStatement, type ItemWrite } from './item-columns.ts';
import { writeSearchText } from './write-search.store.ts';
import { writeTerms, type RemovedTerm } from './write-terms.store.ts';

/**
 * Writes items with their versions, terms and search texts, in statements of bounded size. Updates items whose id exists.
 * Returns the terms that items no longer have.
 */
export async function writeItems(tx: Tx, writes: ItemWrite[]): Promise<RemovedTerm[]> {
  const removed: RemovedTerm[] = [];
  for (const batch of batches(writes)) {
    await upsertItemsStatement(batch).execute(tx);
    await insertVersionsStatement(batch).execute(tx);
    removed.push(...(await writeTerms(tx, batch)));
    await writeSearchText(tx, batch);
  }
  return removed;
}
