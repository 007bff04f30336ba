import { z } from 'zod';
import { text } from '../../platform/lib/text/bounded-text.ts';
import { findPlatform, type Platform } from '../model/platforms.ts';
import { readSearch, searchFields, type Search } from './search/search-query.ts';
import { itemStatuses, severities, type ItemStatus, type Severity } from '../model/vocabulary.ts';

/** Decimal digits and nothing else; described as the integer that they are. */
const digits = (fallback: number, max: number | undefined) =>
  z
    .string()
    .refine((text) => /^\d+$/.test(text), 'must be written in decimal digits')
    .refine((text) => !/^0*$/.test(text), 'must be at least 1')
    .refine((text) => max === undefined || Number(text) <= max, `must be at most ${max}`)
    .optional()
    .meta({ type: 'integer', minimum: 1, ...(max === undefined ? {} : { maximum: max }), default: fallback });

/** The query of GET /items as it arrives. Names that are not known stay, so that the answer can name them. */
export const ItemsQuery = z.looseObject({
  page: digits(1, undefined),
  perPage: digits(20, 100),
  severity: z.enum(severities).optional(),
  platform: text({ max: 200 }).optional().describe('Any case; aliases such as `win` or `m365` are known.'),
  status: z.enum(itemStatuses).optional(),
  source: text({ max: 500 }).optional().describe('Publisher or source name, in any case.'),
  relevancyMode: z.enum(['relevant', 'all']).optional(),
  ...searchFields,
  asOf: text({ min: 1, max: 12_000 })
    .optional()
    .describe('`outputs.asOf` of an earlier page: this one is then of the same moment. Good for at least an hour.'),
});
export type ItemsQuery = z.infer<typeof ItemsQuery>;

const known = new Set(Object.keys(ItemsQuery.shape));
const unknownMax = 50;

export type ItemsRequest = {
  page: number;
  perPage: number;
  severity: Severity | undefined;
  status: ItemStatus | undefined;
  /** Undefined: not given; null: given and unknown. */
  platform: Platform | null | undefined;
  source: string | undefined;
  relevancyMode: 'relevant' | 'all';
  asOf: string | undefined;
  search: Search;
  applied: Record<string, string>;
  unknown: string[];
};

/** Reads the query of a list. Throws a 400 for a parameter that the schema let pass and that is not usable. */
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
    // Larger than any page there is, and still a number in JSON.
    page: Math.min(Number(query.page ?? 1), Number.MAX_VALUE),
    perPage: Number(query.perPage ?? 20),
    severity: query.severity,
    status: query.status,
    platform,
    source,
    relevancyMode: query.relevancyMode ?? 'all',
    asOf: query.asOf,
    search,
    applied,
    unknown: Object.keys(query)
      .filter((name) => !known.has(name))
      .toSorted()
      .slice(0, unknownMax),
  };
}
