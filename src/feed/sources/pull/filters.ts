import type { Skipped, SourceRecord } from '../../model/source-record.ts';

type Split = { kept: SourceRecord[]; left: Skipped[]; present: Set<string> };

/**
 * Leaves out the records that a source's `include` and `exclude` (JSON lists of words) do not want: a record stays if it has one of the
 * included words, any if there are none, and none of the excluded ones; in title or text, in any case. What is left out still counts as present.
 */
export function splitByWords(records: SourceRecord[], source: { include: string; exclude: string }): Split {
  const include = wordsOf(source.include);
  const exclude = wordsOf(source.exclude);
  const present = new Set(records.map(({ recordId }) => recordId));
  if (include.length + exclude.length === 0) return { kept: records, left: [], present };
  const split: Split = { kept: [], left: [], present };
  for (const record of records) {
    const text = `${record.title}\n${record.storedText}`.toLowerCase();
    const wanted = include.length === 0 || include.some((word) => text.includes(word));
    if (wanted && !exclude.some((word) => text.includes(word))) split.kept.push(record);
    else split.left.push({ entry: record.recordId, reason: 'left out by include or exclude' });
  }
  return split;
}

const wordsOf = (json: string): string[] => (JSON.parse(json) as string[]).map((word) => word.toLowerCase());
