import type { SkippedEntry, SourceRecord } from '../../model/source-record.ts';

/** `presentIds` are the ids of all records, including the filtered ones: a filtered record is not missing from the source. */
type FilteredRecords = { kept: SourceRecord[]; skipped: SkippedEntry[]; presentIds: Set<string> };

/**
 * Applies a source's `include` and `exclude` lists, which are JSON arrays of words. Keeps a record if its title or text contains an included
 * word, or if the list is empty, and no excluded word. Case is ignored.
 */
export function filterRecords(records: SourceRecord[], source: { include: string; exclude: string }): FilteredRecords {
  const include = parseWords(source.include);
  const exclude = parseWords(source.exclude);
  const presentIds = new Set(records.map(({ recordId }) => recordId));
  if (include.length + exclude.length === 0) return { kept: records, skipped: [], presentIds };
  const filtered: FilteredRecords = { kept: [], skipped: [], presentIds };
  for (const record of records) {
    const text = `${record.title}\n${record.storedText}`.toLowerCase();
    const isIncluded = include.length === 0 || include.some((word) => text.includes(word));
    if (isIncluded && !exclude.some((word) => text.includes(word))) filtered.kept.push(record);
    else filtered.skipped.push({ entry: record.recordId, reason: 'excluded by include or exclude' });
  }
  return filtered;
}

const parseWords = (json: string): string[] => (JSON.parse(json) as string[]).map((word) => word.toLowerCase());
