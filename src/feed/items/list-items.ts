import { z } from 'zod';
import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { updateDocumentExpiry } from '../model/expiry.ts';
import type { FeedList, ItemHighlights } from '../model/item.schema.ts';
import {
  filteredSnapshot,
  hasSearch,
  isTextOnly,
  toItemFilters,
  filterFields,
  readFilters,
  type FeedFilters,
} from './feed-filters.ts';
import { highlightItems } from './highlight-items.ts';
import { hasFilters } from './list-query/filters.sql.ts';
import { overrideDocuments } from './override-documents.ts';
import { enoughMatches, listOtherSearches, type CountPublicWords, type OtherSearch } from './search/correct-search.ts';
import { readSearchPage, type SearchPage } from './search/search.store.ts';
import { readOrgState, type OrgState } from './snapshot/org-state.store.ts';
import type { CachedPage } from '../../platform/http/responses/cached-pages.ts';
import type { FeedPages, Snapshot } from './snapshot/snapshot.ts';
import type { PageStarts } from './list-query/page-starts.ts';
import { readItemsPage } from './list-query/page.store.ts';
import { relevantItems, readRelevantPage } from './list-query/relevant-items.store.ts';
import { integerMeta } from '../../platform/lib/schema-parts.ts';
import { boundedString } from '../../platform/lib/text/bounded-text.ts';
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

type ItemsRequest = FeedFilters & {
  page: number;
  perPage: number;
  asOf: string | undefined;
  isHighlighted: boolean;
  unknown: string[];
};

/** Parses the query string. Throws a 400 for a search parameter with the wrong form. */
function readItemsQuery(query: ItemsQuery): ItemsRequest {
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

export type ListItemsDeps = {
  db: Db;
  clock: Clock;
  feedPages: FeedPages;
  pageStarts: PageStarts;
  countPublicWords: CountPublicWords;
};

/** Returns a page of the feed as the bytes of its response. Documents go from the database into the response unparsed. */
export async function listItems(
  deps: ListItemsDeps,
  { orgId }: Pick<Caller, 'orgId'>,
  query: ItemsQuery,
): Promise<CachedPage> {
  const { asOf, ...request } = readItemsQuery(query);
  const key = `items ${JSON.stringify(request)}`;
  return deps.feedPages.get({ orgId, key, asOf, now: deps.clock() }, (dated, token) =>
    inOrg(deps.db, orgId, async (tx) => {
      const snapshot = filteredSnapshot(request, dated.snapshot);
      const orgState = await readOrgState(tx, dated.snapshot);
      const source = { snapshot, orgState, request, now: new Date(dated.hour) };
      const found = await readPage(tx, deps, source);
      const other = found.isFrequent ? undefined : await readOtherPage(tx, deps, { ...source, total: found.total });
      const page = other?.page ?? found;
      const docs = page.docs.map(({ doc, nextExpiryAt }) =>
        nextExpiryAt && nextExpiryAt.getTime() <= dated.hour ? updateDocumentExpiry(doc, dated.hour) : doc,
      );
      const items = await overrideDocuments(tx, docs, orgState);
      const query = (other ?? request).search.fullText;
      const highlights = request.isHighlighted && query ? await highlightItems(tx, docs, query) : undefined;
      const rest = toResponseFields(request, { page, token, orgState, other, highlights });
      return Buffer.from(`{"items":[${items.join(',')}],${JSON.stringify(rest).slice(1)}`);
    }),
  );
}

/** The request without its snapshot token: equal requests have equal pages in one snapshot. */
type ListRequest = Omit<ItemsRequest, 'asOf'>;

/** `now` is the hour of the snapshot, so that all its pages rank items by the same age. */
type PageSource = { snapshot: Snapshot; orgState: OrgState; request: ListRequest; now: Date };

async function readPage(tx: Tx, { pageStarts: starts }: ListItemsDeps, source: PageSource): Promise<SearchPage> {
  const { snapshot, orgState, request, now } = source;
  const { search, perPage: limit } = request;
  const offset = Math.min((request.page - 1) * limit, Number.MAX_SAFE_INTEGER - 1_000);
  const filters = await toItemFilters(tx, request, source);
  const { requirement } = request;
  const hasScores = requirement !== undefined || orgState.profileVersion !== undefined;
  const isRelevantOnly = request.relevancyMode === 'relevant' && hasScores;
  if (
    isRelevantOnly &&
    requirement === undefined &&
    !hasSearch(search) &&
    !hasFilters({ ...filters, rootsOnly: search.rootsOnly })
  )
    return { ...(await readRelevantPage(tx, snapshot, { orgState, limit, offset })), isEstimated: false };
  const onlyIds = isRelevantOnly ? relevantItems(orgState, requirement) : undefined;
  if (onlyIds || hasSearch(search))
    return readSearchPage(tx, snapshot, { filters, search, onlyIds, limit, offset, now });
  const page = await readItemsPage(tx, snapshot, {
    filters: { ...filters, rootsOnly: search.rootsOnly },
    limit,
    offset,
    starts,
  });
  return { ...page, isEstimated: false };
}

/** `written` is the number of items that match the search as it is written. */
type OtherPage = OtherSearch & { page: SearchPage; written: number };

/**
 * Reads the page of another search, if `total`, the number of items that match the search as it is written, is small. Returns undefined if no further item matches
 * then either.
 */
async function readOtherPage(
  tx: Tx,
  deps: ListItemsDeps,
  source: PageSource & { total: number },
): Promise<OtherPage | undefined> {
  const { snapshot, request, now, total } = source;
  const { countPublicWords } = deps;
  if (total >= enoughMatches) return undefined;
  const written = { search: request.search, total, isTextOnly: isTextOnly(request) };
  for (const other of await listOtherSearches(tx, written, { snapshot, countPublicWords, now })) {
    const page = await readPage(tx, deps, { ...source, request: { ...request, search: other.search } });
    if (page.total > total && !(page.isFrequent && total > 0)) return { ...other, page, written: total };
  }
  return undefined;
}

const exportLinks = {
  stix: '/api/feed/export/stix',
  misp: '/api/feed/export/misp/manifest.json',
  rss: '/api/feed/export/rss',
};

/** `other` is what was searched for in place of a text that no item matches. */
type ResponseFacts = {
  page: SearchPage;
  token: string | undefined;
  orgState: OrgState;
  other: OtherPage | undefined;
  highlights: ItemHighlights | undefined;
};

function toResponseFields(
  request: ListRequest,
  { page: { total, isEstimated }, token, orgState, other, highlights }: ResponseFacts,
): Omit<FeedList, 'items'> {
  return {
    total,
    page: request.page,
    perPage: request.perPage,
    hasNext: request.page * request.perPage < total,
    validations: {
      filters: { applied: request.applied, unknown: request.unknown },
      warnings: [
        ...platformWarnings(request),
        ...relevanceWarnings(request, orgState),
        ...otherSearchWarnings(request, other),
      ],
      profile: orgState.profile,
    },
    outputs: {
      ...(token ? { asOf: token } : {}),
      ...(isEstimated ? { totalIsEstimated: true } : {}),
      sort: request.search.isRanked ? '-score,-addedToFeedAt,-id' : '-addedToFeedAt,-id',
      links: exportLinks,
      ...(highlights ? { highlights } : {}),
    },
  };
}

type Warning = NonNullable<FeedList['validations']>['warnings'][number];

function platformWarnings({ platform, applied }: ListRequest): Warning[] {
  if (platform !== null) return [];
  const message = `Unknown platform \`${applied['platform']}\`: no item matches it.`;
  return [{ code: 'unknown_platform', message, param: 'platform' }];
}

function otherSearchWarnings({ applied }: ListRequest, other: OtherPage | undefined): Warning[] {
  if (other === undefined) return [];
  const { code, text, written } = other;
  const q = [applied['q'], applied['published']].filter(Boolean).join(' ');
  const found = code === 'corrected_search' ? `These items match \`${text}\`.` : 'These items match some of its words.';
  const few = `${written === 1 ? '1 item matches' : `${written} items match`} all words of \`${q}\`. The others match some of them.`;
  return [{ code, message: written > 0 ? few : `No item matches \`${q}\`. ${found}`, param: 'q' }];
}

function relevanceWarnings({ relevancyMode, requirement }: ListRequest, orgState: OrgState): Warning[] {
  if (relevancyMode !== 'relevant') return [];
  const param = requirement === undefined ? 'relevancyMode' : 'requirement';
  if (orgState.rebuilding) {
    const message = 'The relevance profile changed. Until its scores are ready, `relevant` uses the previous profile.';
    return [{ code: 'relevance_rebuilding', message, param }];
  }
  if (orgState.profile === 'set' && orgState.profileVersion !== undefined) return [];
  const message =
    requirement === undefined
      ? 'No relevance profile is configured, so `relevant` returns all items.'
      : 'No relevance profile is configured, so no item meets a requirement.';
  return [{ code: 'no_profile', message, param }];
}
