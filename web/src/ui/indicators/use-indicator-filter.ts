import { useState } from 'react';
import type { Indicator } from '../../api/feed.ts';

type Status = Indicator['status'];
export type IndicatorFilterState = { words: string; status?: Status | undefined; type?: string | undefined };

/** The order of the rows. */
export const statuses: readonly Status[] = ['active', 'expired', 'revoked', 'false_positive'];

export type IndicatorRow = Pick<Indicator, 'value' | 'normalizedValue' | 'status'> & {
  type: string;
  confidence?: number;
  /** A second line, such as what was corrected or who states it. */
  detail?: string | undefined;
};

const matches = (row: IndicatorRow, { words, status, type }: IndicatorFilterState): boolean =>
  (status === undefined || row.status === status) &&
  (type === undefined || row.type === type) &&
  (row.value.toLowerCase().includes(words) || row.normalizedValue.toLowerCase().includes(words));

/** Keeps what a list of indicators is filtered by. Returns the rows that match: active ones first, otherwise in their order. */
export function useIndicatorFilter(rows: readonly IndicatorRow[]) {
  const [filter, setFilter] = useState<IndicatorFilterState>({ words: '' });
  const words = filter.words.trim().toLowerCase();
  const found = rows
    .filter((row) => matches(row, { ...filter, words }))
    .toSorted((a, b) => statuses.indexOf(a.status) - statuses.indexOf(b.status));
  return { filter, setFilter, found };
}
