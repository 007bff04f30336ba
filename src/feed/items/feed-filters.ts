import { z } from 'zod';
import type { Tx } from '../../platform/db/db.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
import { findPlatform, type Platform } from '../model/platforms.ts';
import { itemStatuses, severities, type ItemStatus, type Severity } from '../model/vocabulary.ts';
import type { ItemFilters, SourceFilter } from './list-query/filters.sql.ts';
import { listSourceNames } from './items.store.ts';
import { readPeriod, readQueryFields } from './search-terms/query-fields.ts';
import { readSearch, searchFields, type Search } from './search-terms/search-query.ts';
import { isTermValue } from './search-terms/term-filters.ts';
import type { OrgState } from './snapshot/org-state.store.ts';
import { toSnapshot, type Snapshot } from './snapshot/snapshot.ts';

/** The filters of the feed. Every list, count and export of items accepts all of them. */
export const filterFields = {
  severity: z.enum(severities).optional(),
  platform: boundedString({ max: 200 })
    .optional()
    .describe('Case-insensitive. Aliases such as `win` or `m365` are accepted.'),
  status: z.enum(itemStatuses).optional(),
  source: boundedString({ max: 500 }).optional().describe('Publisher or source name, case-insensitive.'),
  relevancyMode: z.enum(['relevant', 'all']).optional(),
  requirement: boundedString({ max: 200 })
    .optional()
    .describe('Items that meet the requirement of the relevance profile with this name, in any case.'),
  ...searchFields,
};
const FilterQuery = z.object(filterFields);
export type FilterQuery = z.infer<typeof FilterQuery>;

export type FeedFilters = {
  severity: Severity | undefined;
  status: ItemStatus | undefined;
  /** Undefined if absent, null if unknown. */
  platform: Platform | null | undefined;
  source: string | undefined;
  /** `relevant` with a requirement, which is folded. */
  relevancyMode: 'relevant' | 'all';
  requirement: string | undefined;
  search: Search;
  /** The filters as they were understood, by parameter. */
  applied: Record<string, string>;
};

/** Returns a query with the parameters that `field:value` sets in its text. One that is set already is kept. */
export function readFields<Query extends FilterQuery>(query: Query): Query {
  if (!query.q?.includes(':')) return query;
  const { text, parameters } = readQueryFields(query.q, (name, value) => {
    if (query[name as keyof FilterQuery]?.trim()) return false;
    if (name === 'severity') return severities.some((one) => one === value);
    if (name === 'status') return itemStatuses.some((one) => one === value);
    return name === 'platform' ? findPlatform(value) !== undefined : isTermValue(name, value);
  });
  return { ...query, ...parameters, q: text };
}

/** Reads the filters of a query string. Throws a 400 for an id with the wrong form. */
export function readFilters(given: FilterQuery & { searchOrder?: 'relevance' | 'newest' | undefined }): FeedFilters {
  const query = readFields(given);
  const platformText = query.platform?.trim() ? query.platform : undefined;
  const source = query.source?.trim() ? query.source : undefined;
  const requirement = query.requirement?.trim() ? foldSource(query.requirement.trim()) : undefined;
  const platform = platformText === undefined ? undefined : (findPlatform(platformText) ?? null);
  const search = readSearch(query);
  return {
    severity: query.severity,
    status: query.status,
    platform,
    source,
    relevancyMode: requirement === undefined ? (query.relevancyMode ?? 'all') : 'relevant',
    requirement,
    search,
    applied: {
      ...(query.severity ? { severity: query.severity } : {}),
      ...(platformText === undefined ? {} : { platform: platform ?? platformText }),
      ...(query.status ? { status: query.status } : {}),
      ...(source === undefined ? {} : { source }),
      ...(query.relevancyMode ? { relevancyMode: query.relevancyMode } : {}),
      ...(requirement === undefined ? {} : { requirement }),
      ...search.applied,
    },
  };
}

/** Returns whether a search restricts a list by more than the columns of its items. */
export const hasSearch = ({ terms, rootTerms, fullText, period, updatedSince }: Search): boolean =>
  terms.length > 0 || rootTerms.length > 0 || [fullText, period, updatedSince].some((value) => value !== undefined);

/** Returns whether filters leave out any item, apart from `relevancyMode`. */
export const isFiltered = ({ severity, status, platform, source, search }: FeedFilters): boolean =>
  hasSearch(search) || search.rootsOnly || [severity, status, platform, source].some((value) => value !== undefined);

/** Returns whether filters leave out only items that do not match a text. */
export const isTextOnly = ({ search, relevancyMode, ...filters }: FeedFilters): boolean =>
  relevancyMode === 'all' && !isFiltered({ ...filters, relevancyMode, search: { ...search, fullText: undefined } });

/** Returns the snapshot in which a filtered list is read: an empty one for an unknown platform, which no item has. */
export const filteredSnapshot = ({ platform }: FeedFilters, snapshot: Snapshot): Snapshot =>
  platform === null ? toSnapshot([]) : snapshot;

/** `now` is that of the snapshot, so that all pages of a list mean the same days. */
export type FilterContext = { snapshot: Snapshot; orgState: Pick<OrgState, 'overridesSeq'>; now: Date };

/** Returns the filters by the columns of an item, without `duplicates`, which is part of the search. */
export async function toItemFilters(
  tx: Tx,
  { severity, status, platform, source, search }: FeedFilters,
  { snapshot, orgState, now }: FilterContext,
): Promise<ItemFilters> {
  return {
    ...(search.period === undefined ? {} : { published: readPeriod(search.period, now) }),
    ...(severity ? { severity } : {}),
    ...(status ? { status } : {}),
    ...(orgState.overridesSeq === undefined ? {} : { overridesSeq: orgState.overridesSeq }),
    ...(platform ? { platform } : {}),
    ...(source === undefined ? {} : { sources: await matchSources(tx, source, snapshot) }),
  };
}

/** Folds case like the filter `source`. In this process and not in the database, where the result depends on the locale of the cluster. */
export const foldSource = (text: string): string => text.normalize('NFC').toLowerCase();

async function matchSources(tx: Tx, source: string, snapshot: Snapshot): Promise<SourceFilter> {
  const wanted = foldSource(source);
  const found = await listSourceNames(tx, snapshot);
  const matching = (texts: string[]): string[] => [...new Set(texts.filter((text) => foldSource(text) === wanted))];
  return {
    publishers: matching(found.map(({ publisher }) => publisher)),
    names: matching(found.map(({ source_name }) => source_name)),
  };
}
