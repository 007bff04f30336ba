import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { updateDocumentExpiry } from '../model/expiry.ts';
import type { FeedList, ItemHighlights } from '../model/item.schema.ts';
import { filteredSnapshot, hasSearch, isTextOnly, toItemFilters } from './feed-filters.ts';
import { highlightItems } from './highlight-items.ts';
import { hasFilters } from './list-query/filters.sql.ts';
import { readItemsQuery, type ItemsQuery, type ItemsRequest } from './items-query.ts';
import { overrideDocuments } from './override-documents.ts';
import { correctSearch, type CountPublicWords } from './search/correct-search.ts';
import type { Search } from './search-terms/search-query.ts';
import { readSearchPage, type SearchPage } from './search/search.store.ts';
import { readOrgState, type OrgState } from './snapshot/org-state.store.ts';
import type { CachedPage, FeedPages } from './page-cache.ts';
import type { PageStarts } from './list-query/page-starts.ts';
import { readItemsPage } from './list-query/page.store.ts';
import { relevantItems, readRelevantPage } from './list-query/relevant-items.store.ts';
import type { Snapshot } from './snapshot/snapshot.ts';

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
      const mayBeMisspelled = found.total === 0 && !found.isFrequent;
      const corrected = mayBeMisspelled ? await readCorrectedPage(tx, deps, source) : undefined;
      const page = corrected?.page ?? found;
      const docs = page.docs.map(({ doc, nextExpiryAt }) =>
        nextExpiryAt && nextExpiryAt.getTime() <= dated.hour ? updateDocumentExpiry(doc, dated.hour) : doc,
      );
      const items = await overrideDocuments(tx, docs, orgState);
      const query = (corrected ?? request).search.fullText;
      const highlights = request.isHighlighted && query ? await highlightItems(tx, docs, query) : undefined;
      const rest = toResponseFields(request, { page, token, orgState, correction: corrected?.text, highlights });
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
  const isRelevantOnly = request.relevancyMode === 'relevant' && orgState.profileVersion !== undefined;
  if (isRelevantOnly && !hasSearch(search) && !hasFilters({ ...filters, rootsOnly: search.rootsOnly }))
    return { ...(await readRelevantPage(tx, snapshot, { orgState, limit, offset })), isEstimated: false };
  const onlyIds = isRelevantOnly ? relevantItems(orgState) : undefined;
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

type CorrectedPage = { page: SearchPage; search: Search; text: string };

/** Reads the page with the text corrected if no item matches the text as it is written. Returns undefined if no item matches then either. */
async function readCorrectedPage(tx: Tx, deps: ListItemsDeps, source: PageSource): Promise<CorrectedPage | undefined> {
  const { snapshot, request, now } = source;
  const { countPublicWords } = deps;
  const written = { search: request.search, isUnmatched: isTextOnly(request) };
  const corrected = await correctSearch(tx, written, { snapshot, countPublicWords, now });
  if (!corrected) return undefined;
  const page = await readPage(tx, deps, { ...source, request: { ...request, search: corrected.search } });
  return page.total > 0 ? { page, ...corrected } : undefined;
}

const exportLinks = {
  stix: '/api/feed/export/stix',
  misp: '/api/feed/export/misp/manifest.json',
  rss: '/api/feed/export/rss',
};

/** `correction` is the text that was searched for in place of a misspelled one. */
type ResponseFacts = {
  page: SearchPage;
  token: string | undefined;
  orgState: OrgState;
  correction: string | undefined;
  highlights: ItemHighlights | undefined;
};

function toResponseFields(
  request: ListRequest,
  { page: { total, isEstimated }, token, orgState, correction, highlights }: ResponseFacts,
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
        ...correctionWarnings(request, correction),
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

function correctionWarnings({ applied }: ListRequest, correction: string | undefined): Warning[] {
  if (correction === undefined) return [];
  const message = `No item matches \`${applied['q']}\`. These items match \`${correction}\`.`;
  return [{ code: 'corrected_search', message, param: 'q' }];
}

function relevanceWarnings({ relevancyMode }: ListRequest, orgState: OrgState): Warning[] {
  if (relevancyMode !== 'relevant') return [];
  const param = 'relevancyMode';
  if (orgState.rebuilding) {
    const message = 'The relevance profile changed. Until its scores are ready, `relevant` uses the previous profile.';
    return [{ code: 'relevance_rebuilding', message, param }];
  }
  if (orgState.profile === 'set' && orgState.profileVersion !== undefined) return [];
  const message = 'No relevance profile is configured, so `relevant` returns all items.';
  return [{ code: 'no_profile', message, param }];
}
