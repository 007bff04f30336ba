import type { Tx } from '../../../platform/db/db.ts';
import { listRecentItems } from '../items.store.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { correctText, countWords } from './correct-text.ts';
import type { Search } from './search-query.ts';

const titlesMax = 5_000;

/** Names that are not secret to any organization, such as those of public lists. */
export type ListPublicNames = () => Iterable<string>;

/**
 * Returns a search with its misspelled words corrected, or undefined if there is nothing to correct. Corrections are words from the titles of the
 * newest items that the organization sees, and public names, so that no word of another organization shows.
 */
export async function correctSearch(
  tx: Tx,
  snapshot: Snapshot,
  { search, listPublicNames }: { search: Search; listPublicNames: ListPublicNames },
): Promise<{ search: Search; text: string } | undefined> {
  if (!search.fullText) return undefined;
  const recent = await listRecentItems(tx, snapshot, { overridesSeq: undefined, limit: titlesMax });
  const known = countWords([...recent.map(({ title }) => title), ...listPublicNames()]);
  const text = correctText(search.fullText.text, known);
  return text === undefined
    ? undefined
    : { text, search: { ...search, fullText: { text, indicatorForms: [], runs: [] } } };
}
