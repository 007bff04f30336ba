import type { Indicator } from '../model/item.schema.ts';
import type { LookupMatch } from '../model/vocabulary.ts';
import type { CoveringValue } from './covering-values.ts';
import type { StatusCounts } from './indicator-lookup.store.ts';
import type { IndicatorLookup } from './indicators.schema.ts';

/** An active indicator that covers a value, and the number of items in which it has each status. */
export type CoveringStatus = CoveringValue & { counts: StatusCounts };
type Summary = Pick<IndicatorLookup, 'status' | 'why' | 'total'>;

export const sumCounts = (counts: StatusCounts): number => Object.values(counts).reduce((sum, count) => sum + count, 0);

const inItems = (count: number, total: number): string => `in ${count} of ${total} ${total === 1 ? 'item' : 'items'}`;

/**
 * Summarizes the status of a value over all items that contain it. The strongest status wins: false positive, then active, expired and
 * revoked.
 */
export function summarizeStatus(counts: StatusCounts): Summary {
  const total = sumCounts(counts);
  const summary = (status: Indicator['status'], reason: string): Summary => ({
    status,
    why: `${reason} ${inItems(counts[status], total)}`,
    total,
  });
  if (total === 0) return { status: 'unknown', why: 'no item contains it', total };
  if (counts.false_positive > 0) return summary('false_positive', 'marked as a false positive');
  if (counts.active > 0) return summary('active', 'active');
  if (counts.expired > 0) return summary('expired', 'not active in any item, expired');
  return summary('revoked', 'revoked');
}

const coveringWords: Record<LookupMatch, string> = {
  exact: 'the value',
  network: 'its network',
  url_host: 'its host',
  mail_host: 'its host',
  parent_domain: 'the domain above it',
};

/** Like `summarizeStatus`, but an active indicator that covers the value makes it active, unless the value itself is a false positive. */
export function summarizeMatches(
  counts: StatusCounts,
  covering: CoveringStatus | undefined,
): Summary & Pick<IndicatorLookup, 'match'> {
  const own = summarizeStatus(counts);
  if (!covering || own.status === 'active' || own.status === 'false_positive')
    return own.total === 0 ? own : { ...own, match: 'exact' };
  const { form, match, counts: found } = covering;
  const why = `${coveringWords[match]} ${form} is active ${inItems(found.active, sumCounts(found))}`;
  return { ...own, status: 'active', why: own.total === 0 ? why : `${why}; the value itself is ${own.why}`, match };
}
