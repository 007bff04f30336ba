import type { Tx } from '../../../platform/db/db.ts';
import { listRecentItems } from '../items.store.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { correctText, countWords, type WordCounts } from './text/correct-text.ts';
import type { Search } from './search-query.ts';
import { readSearchPage, textOnly } from './search.store.ts';

const titlesMax = 2_000;

/** Returns the words of names that are not secret to any organization, such as those of public lists. */
export type CountPublicWords = () => WordCounts;

export type CorrectionContext = { snapshot: Snapshot; countPublicWords: CountPublicWords; now: Date };

/** `isUnmatched`: it is already known that no item matches the text. */
type WrittenSearch = { search: Search; isUnmatched: boolean };

/**
 * Returns a search with its misspelled words corrected, or undefined if an item matches the text as written or there is nothing to correct.
 * Corrections are public names and words from the titles of the newest items that the organization sees, so that it never sees a word of
 * another organization.
 */
export async function correctSearch(
  tx: Tx,
  { search, isUnmatched }: WrittenSearch,
  { snapshot, countPublicWords, now }: CorrectionContext,
): Promise<{ search: Search; text: string } | undefined> {
  if (!search.fullText) return undefined;
  if (!isUnmatched) {
    const asWritten = textOnly({ filters: {}, search });
    const written = await readSearchPage(tx, snapshot, { ...asWritten, limit: 1, offset: 0, now });
    if (written.total > 0) return undefined;
  }
  const recent = await listRecentItems(tx, snapshot, { overridesSeq: undefined, limit: titlesMax });
  const known = countWords(
    recent.map(({ title }) => title),
    countPublicWords(),
  );
  const text = correctText(search.fullText.text, known);
  return text === undefined
    ? undefined
    : { text, search: { ...search, fullText: { text, indicatorForms: [], runs: [] } } };
}
