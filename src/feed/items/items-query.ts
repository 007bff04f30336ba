import { z } from 'zod';
import { integerMeta } from '../../platform/lib/schema-parts.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { filterFields, readFilters, type FeedFilters } from './feed-filters.ts';
import { searchOrderFields } from './search-terms/search-query.ts';

/** A positive integer in decimal digits. */
const positiveInteger = (fallback: number, max: number | undefined) =>
  z
    .string()
    .refine((text) => /^\d+$/.test(text), { error: 'must be written in decimal digits', abort: true })
    .refine((text) => !/^0*$/.test(text), 'must be at least 1')
    .refine((text) => max === undefined || Number(text) <= max, `must be at most ${max}`)
    .optional()
    .meta({ ...integerMeta(1, max), default: fallback });

/** The query string of `GET /items`. Unknown parameters are kept, so that the response can list them. */
export const ItemsQuery = z.looseObject({
  page: positiveInteger(1, undefined),
  perPage: positiveInteger(20, 100),
  ...filterFields,
  ...searchOrderFields,
  asOf: boundedString({ min: 1, max: 12_000 })
    .optional()
    .describe(
      '`outputs.asOf` of an earlier page. This page then shows the same snapshot of the feed. Valid for at least one hour.',
    ),
});
export type ItemsQuery = z.infer<typeof ItemsQuery>;

const knownParameters = new Set(Object.keys(ItemsQuery.shape));
const unknownMax = 50;

export type ItemsRequest = FeedFilters & {
  page: number;
  perPage: number;
  asOf: string | undefined;
  isHighlighted: boolean;
  unknown: string[];
};

/** Parses the query string. Throws a 400 for a search parameter with the wrong form. */
export function readItemsQuery(query: ItemsQuery): ItemsRequest {
  return {
    ...readFilters(query),
    // Larger than any existing page, and still a number in JSON.
    page: Math.min(Number(query.page ?? 1), Number.MAX_VALUE),
    perPage: Number(query.perPage ?? 20),
    asOf: query.asOf,
    isHighlighted: query.highlight !== undefined,
    unknown: Object.keys(query)
      .filter((name) => !knownParameters.has(name))
      .toSorted()
      .slice(0, unknownMax),
  };
}
