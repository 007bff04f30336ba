import { z } from 'zod';
import { integerMeta } from '../../platform/lib/integers.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { findPlatform, type Platform } from '../model/platforms.ts';
import { readSearch, searchFields, type Search } from './search/search-query.ts';
import { itemStatuses, severities, type ItemStatus, type Severity } from '../model/vocabulary.ts';

/** A positive integer in decimal digits. */
const positiveInteger = (fallback: number, max: number | undefined) =>
  z
    .string()
    .refine((text) => /^\d+$/.test(text), 'must be written in decimal digits')
    .refine((text) => !/^0*$/.test(text), 'must be at least 1')
    .refine((text) => max === undefined || Number(text) <= max, `must be at most ${max}`)
    .optional()
    .meta({ ...integerMeta(1, max), default: fallback });

/** The query string of `GET /items`. Unknown parameters are kept, so that the response can list them. */
export const ItemsQuery = z.looseObject({
  page: positiveInteger(1, undefined),
  perPage: positiveInteger(20, 100),
  severity: z.enum(severities).optional(),
  platform: boundedString({ max: 200 })
    .optional()
    .describe('Case-insensitive. Aliases such as `win` or `m365` are accepted.'),
  status: z.enum(itemStatuses).optional(),
  source: boundedString({ max: 500 }).optional().describe('Publisher or source name, case-insensitive.'),
  relevancyMode: z.enum(['relevant', 'all']).optional(),
  ...searchFields,
  asOf: boundedString({ min: 1, max: 12_000 })
    .optional()
    .describe(
      '`outputs.asOf` of an earlier page. This page then shows the same snapshot of the feed. Valid for at least one hour.',
    ),
});
export type ItemsQuery = z.infer<typeof ItemsQuery>;

const knownParameters = new Set(Object.keys(ItemsQuery.shape));
const unknownMax = 50;

export type ItemsRequest = {
  page: number;
  perPage: number;
  severity: Severity | undefined;
  status: ItemStatus | undefined;
  /** Undefined if absent, null if unknown. */
  platform: Platform | null | undefined;
  source: string | undefined;
  relevancyMode: 'relevant' | 'all';
  asOf: string | undefined;
  search: Search;
  isHighlighted: boolean;
  applied: Record<string, string>;
  unknown: string[];
};

/** Parses the query string. Throws a 400 for a search parameter with the wrong form. */
export function readItemsQuery(query: ItemsQuery): ItemsRequest {
  const platformText = query.platform?.trim() ? query.platform : undefined;
  const source = query.source?.trim() ? query.source : undefined;
  const platform = platformText === undefined ? undefined : (findPlatform(platformText) ?? null);
  const search = readSearch(query);
  const applied: Record<string, string> = {
    ...(query.severity ? { severity: query.severity } : {}),
    ...(platformText === undefined ? {} : { platform: platform ?? platformText }),
    ...(query.status ? { status: query.status } : {}),
    ...(source === undefined ? {} : { source }),
    ...(query.relevancyMode ? { relevancyMode: query.relevancyMode } : {}),
    ...search.applied,
  };
  return {
    // Larger than any existing page, and still a number in JSON.
    page: Math.min(Number(query.page ?? 1), Number.MAX_VALUE),
    perPage: Number(query.perPage ?? 20),
    severity: query.severity,
    status: query.status,
    platform,
    source,
    relevancyMode: query.relevancyMode ?? 'all',
    asOf: query.asOf,
    search,
    isHighlighted: query.highlight !== undefined,
    applied,
    unknown: Object.keys(query)
      .filter((name) => !knownParameters.has(name))
      .toSorted()
      .slice(0, unknownMax),
  };
}
